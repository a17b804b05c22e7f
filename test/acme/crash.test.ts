// The gateway dies while it obtains certificates; shortened. `npm run soak -- long` has all of these points, and `npm run soak -- acme` kills it at every request to the authority.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer } from '../support/gateway/gateway.ts';
import { shortened } from '../support/shortened.ts';
import { type CrashLab, startCrashLab } from './scenarios/crash-lab.ts';
import { type CrashPoint, crashAt } from './scenarios/crashes.ts';

const points: CrashPoint[] = [
  { state: 'FINALIZING', at: 'finalize', moment: 'answered' },
  { state: 'ORDERING', at: 'newOrder', moment: 'answered' },
  { state: 'VALIDATING', at: 'challenge', moment: 'answered' },
];

describe.runIf(onServer)('a gateway that is killed', () => {
  let lab: CrashLab;
  beforeAll(async () => {
    lab = await startCrashLab();
  });
  afterAll(() => lab?.stop());

  test.each(shortened(points))(
    'in $state, when the authority has $moment $at, goes on with the same order, and with that of the renewal, too',
    { timeout: 180_000 },
    async (point) => {
      const { first, renewal } = await crashAt(lab, point);
      expect(first?.orders).toBe(1);
      expect(renewal?.orders).toBe(1);
    },
  );
});
