import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateLimiter } from '../../src/edge/rate-limit.ts';

const MINUTE = 60_000;

/** A limiter with a clock of its own. */
function limiter(capacity: number, windowMs = MINUTE, maxKeys?: number) {
  let now = 0;
  const limits = new RateLimiter({ capacity, windowMs, maxKeys }, () => now);
  return {
    limits,
    take: (key = 'a') => limits.take(key),
    pass(ms: number) {
      now += ms;
    },
  };
}

test('so many are let in, and the next is told when a place is free; to the millisecond', () => {
  const { take, pass } = limiter(3);
  pass(12_345);
  expect([take(), take(), take()]).toEqual([0, 0, 0]);
  // The piece from 10 s to 20 s is out of the window at 80 s.
  expect(take()).toBe(80_000 - 12_345);
  pass(80_000 - 12_345 - 1);
  expect(take()).toBe(1);
  pass(1);
  expect([take(), take(), take()]).toEqual([0, 0, 0]);
  expect(take()).toBeGreaterThan(0);
});

test('keys do not see each other', () => {
  const { take } = limiter(1);
  expect([take('a'), take('b'), take('a') > 0, take('b') > 0]).toEqual([0, 0, true, true]);
});

test('of more keys than are kept, the one that was used longest ago is forgotten', () => {
  const { limits, take } = limiter(1, MINUTE, 2);
  for (const key of ['a', 'b', 'a', 'c']) take(key);
  expect(limits.size).toBe(2);
  expect(take('a')).toBeGreaterThan(0);
  expect(take('b')).toBe(0);
});

test('long keys are told apart', () => {
  const { take } = limiter(1);
  const long = 'x'.repeat(10_000);
  expect([take(`${long}a`), take(`${long}b`), take(`${long}a`) > 0]).toEqual([0, 0, true]);
});

test('at random: never more than the capacity in a window, and never a refusal that a piece more would not explain', () => {
  const windows = fc.constantFrom(10_000, MINUTE, 90_000, 600_000, 3_600_000, 24 * 3_600_000);
  const pauses = fc.array(fc.record({ share: fc.double({ min: 0, max: 0.4, noNaN: true }), takes: fc.nat(5) }));
  fc.assert(
    fc.property(windows, fc.integer({ min: 1, max: 6 }), pauses, (windowMs, capacity, steps) => {
      const piece = windowMs / Math.min(windowMs / 10_000, 60);
      let now = 0;
      const limits = new RateLimiter({ capacity, windowMs }, () => now);
      const letIn: number[] = [];
      const since = (start: number) => letIn.filter((at) => at > start).length;
      for (const { share, takes } of steps) {
        now += Math.floor(share * share * windowMs * 2);
        for (let i = 0; i < takes; i++) {
          const wait = limits.take('key');
          if (wait === 0) {
            letIn.push(now);
            expect(since(now - windowMs)).toBeLessThanOrEqual(capacity);
          } else {
            expect(since(now - windowMs - piece - 1)).toBeGreaterThanOrEqual(capacity);
            expect(wait).toBeGreaterThan(0);
            expect(wait).toBeLessThanOrEqual(windowMs + piece);
          }
        }
      }
    }),
    { seed: 20261121, numRuns: 500 },
  );
});

test('what is counted piece by piece is what a list of all times would say', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom(0, 1, 5_000, 9_999, 10_000, 25_000, 69_999, 70_001), fc.nat(2)));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (capacity, pauses) => {
      const { take, pass } = limiter(capacity);
      let now = 0;
      const letIn: number[] = [];
      for (const [pause, key] of pauses) {
        pass(pause);
        now += pause;
        if (key !== 0) continue; // Time passes.
        const piece = (at: number) => Math.floor(at / 10_000);
        const counted = letIn.filter((at) => piece(at) >= piece(now) - 6);
        const wait = take();
        if (counted.length < capacity) letIn.push(now);
        expect(wait).toBe(counted.length < capacity ? 0 : (piece(counted[0] as number) + 7) * 10_000 - now);
      }
    }),
    { seed: 20261121, numRuns: 500 },
  );
});
