import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoff } from '../../../src/events/delivery/backoff.ts';

const MINUTE = 60_000;
const SEED = Number(process.env.PROPERTY_SEED ?? 20261121);
const attempts = fc.nat({ max: 5000 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const check = <T>(...[arbitrary, predicate]: [fc.Arbitrary<T>, (value: T) => void]) =>
  fc.assert(fc.property(arbitrary, predicate), { seed: SEED });

test('a queue waits a random time of up to a second, doubled with every failure up to 15 minutes', () => {
  check(fc.tuple(attempts, random), ([failed, share]) => {
    const most = Math.min(15 * MINUTE, 1000 * 2 ** failed);
    const ms = backoff({ kind: 'retry', retryAfter: undefined }, failed, () => share);
    expect(ms).toBe(Math.round(share * most));
  });
  expect(
    [0, 1, 2, 9, 10].map((failed) => backoff({ kind: 'retry', retryAfter: undefined }, failed, () => 0.5)),
  ).toEqual([500, 1000, 2000, 256_000, 450_000]);
});

test('a failure that only the customer can mend is retried quickly a few times, and then every 5 to 15 minutes', () => {
  check(fc.tuple(attempts, random), ([failed, share]) => {
    const ms = backoff({ kind: 'config', retryAfter: undefined }, failed, () => share);
    if (failed < 3) expect(ms).toBeLessThanOrEqual(1000 * 2 ** failed);
    else expect(ms >= 5 * MINUTE && ms <= 15 * MINUTE).toBe(true);
  });
});

test('a queue waits at least as long as the provider asks, but at most 15 minutes', () => {
  const kind = fc.constantFrom('retry' as const, 'config' as const);
  const retryAfter = fc.integer({ min: -1000, max: 100 * MINUTE });
  check(fc.tuple(kind, retryAfter, attempts, random), ([of, asked, failed, share]) => {
    const ms = backoff({ kind: of, retryAfter: asked }, failed, () => share);
    expect(ms).toBeGreaterThanOrEqual(Math.min(asked, 15 * MINUTE));
    expect(ms).toBeLessThanOrEqual(15 * MINUTE);
  });
});
