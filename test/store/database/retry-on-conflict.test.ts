// Transactions that are in each other's way are tried again, and not all at the same moment.

import { expect, test } from 'vitest';
import { retryOnConflict } from '../../../src/store/database/retry-on-conflict.ts';
import { Prisma } from '../../../src/store/generated/prisma/client.ts';

const conflict = (code = 'P2034') =>
  new Prisma.PrismaClientKnownRequestError('given up for another one', { code, clientVersion: '' });

/** Fails so often. */
function failing(times: number, error: Error) {
  const tries = { count: 0 };
  const work = async () => {
    if (tries.count++ < times) throw error;
    return 'done';
  };
  return { tries, work };
}

test('a conflict is tried again after pauses that may double each time, up to 250 ms, and are random', async () => {
  const longest = [5, 10, 20, 40, 80, 160, 250, 250, 250];
  const runs = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const pauses: number[] = [];
      expect(await retryOnConflict(failing(9, conflict()).work, async (ms) => pauses.push(ms))).toBe('done');
      return pauses;
    }),
  );
  for (const pauses of runs) {
    expect(pauses).toHaveLength(longest.length);
    for (const [i, ms] of pauses.entries()) expect(ms).toBeLessThanOrEqual(longest[i] ?? 0);
  }
  expect(new Set(runs.map(([first]) => first)).size).toBe(runs.length);
});

test('after ten attempts it is the conflict that is thrown; any other mistake at once', async () => {
  const never = failing(99, conflict('P2002'));
  await expect(retryOnConflict(never.work, async () => {})).rejects.toThrow('given up');
  expect(never.tries.count).toBe(10);
  const wrong = failing(99, new Error('a bug'));
  await expect(retryOnConflict(wrong.work, async () => {})).rejects.toThrow('a bug');
  expect(wrong.tries.count).toBe(1);
});
