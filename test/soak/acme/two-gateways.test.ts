// `npm run soak -- acme`: DOMAINS (200) domains at once on two gateways.

import { describe, expect, test } from 'vitest';
import { manyDomains } from '../../acme/scenarios/two-gateways.ts';
import { onServer } from '../../support/gateway/gateway.ts';

const DOMAINS = Number(process.env.DOMAINS || 200);
const TIMEOUT_MS = 600_000;
/** For each domain, on two cores that others use, too. */
const MAX_MS = 500;

describe.runIf(onServer)('two gateways with one database', () => {
  test.each([{ reusesAuthorizations: false }, { reusesAuthorizations: true }])(
    `order each of ${DOMAINS} domains once; authorizations are reused: $reusesAuthorizations`,
    { timeout: 3 * TIMEOUT_MS },
    async ({ reusesAuthorizations }) => {
      const { issuedMs, renewedMs } = await manyDomains({
        ...{ count: DOMAINS, reusesAuthorizations, timeoutMs: TIMEOUT_MS },
      });
      process.stdout.write(`${DOMAINS} domains: issued within ${issuedMs} ms, renewed within ${renewedMs} ms\n`);
      expect.soft(issuedMs / DOMAINS).toBeLessThan(MAX_MS);
      expect.soft(renewedMs / DOMAINS).toBeLessThan(MAX_MS);
    },
  );
});
