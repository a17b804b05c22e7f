// `npm run soak -- acme`: the whole gateway with an authority and a resolver that others have written.

import { describe, expect, test } from 'vitest';
import { labIsMissing } from '../../acme/pebble-lab.ts';
import { obtainAll } from '../../acme/scenarios/pebble.ts';

const TIMEOUT_MS = 300_000;

describe.skipIf(labIsMissing)(`with Pebble and Unbound${labIsMissing ? ` (${labIsMissing})` : ''}`, () => {
  test.each([
    [5, 0, 'its own', false],
    [5, 100, 'its own', false],
    [30, 0, 'its own', false],
    [30, 100, 'its own', false],
    [5, 0, 'an external', true],
  ] as const)(
    'each challenge brings a certificate while %i %% of nonces are refused and %i %% of proofs are reused, with %s account',
    { timeout: TIMEOUT_MS },
    async (nonceRejection, authorizationReuse, account, isBound) => {
      const { ms, orders, failed } = await obtainAll({ nonceRejection, authorizationReuse, isBound });
      process.stdout.write(
        `Pebble, ${nonceRejection} % of nonces refused, ${authorizationReuse} % of proofs reused, ${account} account: ${orders} orders, ${failed} of them failed, within ${(ms / 1000).toFixed(1)} s\n`,
      );
      // The one that fails is of the name that cannot be visited over HTTP.
      expect({ orders, failed }).toEqual({ orders: 6, failed: 1 });
    },
  );
});
