// Shortened; `npm run soak -- acme` has more nonces refused, and external accounts.

import { describe, expect, test } from 'vitest';
import { labIsMissing } from './pebble-lab.ts';
import { obtainAll } from './scenarios/pebble.ts';

describe.skipIf(labIsMissing)(`with Pebble and Unbound${labIsMissing ? ` (${labIsMissing})` : ''}`, () => {
  test('each challenge brings a certificate that visitors trust, and a renewal brings another', async () => {
    const { orders, failed } = await obtainAll({ nonceRejection: 5, authorizationReuse: 0, hasFastClock: true });
    expect({ orders, failed }).toEqual({ orders: 6, failed: 1 });
  });
});
