// `npm run soak -- workers`: how connections that come at once and stay spread over two workers, round after round.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer } from '../../support/gateway/place.ts';
import { openAtOnce, SHARE_MIN, sharesOf } from '../../workers/kept.ts';
import { type ProcessGroup, startProcessGroup } from '../../workers/support.ts';
import { say } from './load.ts';

const ROUNDS = Number(process.env.WORKERS_SPREAD_ROUNDS || 20);
const LONG = { timeout: 300_000 };

describe.skipIf(onServer || process.platform !== 'linux')('connections that come at once and stay', () => {
  let group: ProcessGroup;
  beforeAll(async () => {
    group = await startProcessGroup();
  }, 120_000);
  afterAll(() => group?.close(), 60_000);

  test.each([
    ['http', 64],
    ['http', 400],
    ['https', 64],
    ['https', 400],
  ] as const)('at %s, %i of them: each of two workers has 40 to 60 percent', LONG, async (protocol, count) => {
    const listener = group.gateway[protocol];
    const second: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const kept = openAtOnce(listener, count, protocol === 'https' ? group.ca : undefined);
      const [, share = 0] = await sharesOf(group, listener, count);
      second.push(share);
      kept.end();
      await sharesOf(group, listener, 0);
    }
    say(`${protocol}, ${count} at once, share of the second worker: ${second.map((one) => one.toFixed(2)).join(' ')}`);
    expect(Math.min(...second)).toBeGreaterThanOrEqual(SHARE_MIN);
    expect(Math.max(...second)).toBeLessThanOrEqual(1 - SHARE_MIN);
  });
});
