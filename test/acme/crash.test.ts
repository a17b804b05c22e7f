// The gateway dies while it obtains certificates. `npm run soak -- acme` kills it at every request to the authority, and `npm test` has
// another process go on in test/acme/domains.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer } from '../support/gateway/gateway.ts';
import { type CrashLab, startCrashLab } from './scenarios/crash-lab.ts';
import { type CrashPoint, crashAt } from './scenarios/crashes.ts';

const finalizing: CrashPoint = { state: 'FINALIZING', at: 'finalize', moment: 'answered' };
const points: CrashPoint[] = [
  finalizing,
  { state: 'ORDERING', at: 'newOrder', moment: 'answered' },
  { state: 'VALIDATING', at: 'challenge', moment: 'answered' },
];
const runs = [{ point: finalizing, isRenewed: false }, ...points.map((point) => ({ point, isRenewed: true }))];

describe.runIf(onServer)('a gateway that is killed', () => {
  let lab: CrashLab;
  beforeAll(async () => {
    lab = await startCrashLab();
  });
  afterAll(() => lab?.stop());

  test.each(runs)(
    'in $point.state, when the authority has $point.moment $point.at, goes on with the same order; and with that of the renewal: $isRenewed',
    { timeout: 180_000 },
    async ({ point, isRenewed }) => {
      const { first, renewal } = await crashAt(lab, point, isRenewed);
      expect(first?.orders).toBe(1);
      expect(renewal?.orders).toBe(isRenewed ? 1 : undefined);
    },
  );
});
