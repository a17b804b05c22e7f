// Shortened; `npm run soak -- acme` has 200 domains.

import { describe, expect, test } from 'vitest';
import { onServer } from '../support/gateway/gateway.ts';
import { shortened } from '../support/shortened.ts';
import { manyDomains } from './scenarios/two-gateways.ts';

describe.runIf(onServer)('two gateways with one database', () => {
  test.each(shortened([{ reusesAuthorizations: true }, { reusesAuthorizations: false }]))(
    'order each of 6 domains once, and renew it once; authorizations are reused: $reusesAuthorizations',
    { timeout: 120_000 },
    async ({ reusesAuthorizations }) => {
      const { issuedMs } = await manyDomains({ count: 6, reusesAuthorizations, timeoutMs: 50_000 });
      expect(issuedMs).toBeGreaterThan(0);
    },
  );
});
