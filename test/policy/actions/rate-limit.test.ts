import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateLimiter } from '../../../src/policy/rate-limiter.ts';

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
  expect(take()).toBe(MINUTE);
  pass(MINUTE - 1);
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

test('at random: a place is free when a list of all times says so, and a refusal says when that is', () => {
  const windows = fc.constantFrom(10_000, MINUTE, 90_000, 3_600_000, 24 * 3_600_000);
  const steps = fc.array(fc.record({ share: fc.double({ min: 0, max: 0.7, noNaN: true }), takes: fc.nat(5) }));
  fc.assert(
    fc.property(windows, fc.integer({ min: 1, max: 6 }), steps, (windowMs, capacity, all) => {
      let now = 0.5;
      const limits = new RateLimiter({ capacity, windowMs }, () => now);
      const letIn: number[] = [];
      for (const { share, takes } of all) {
        now += share * share * windowMs * 2;
        for (let i = 0; i < takes; i++) {
          const counted = letIn.filter((at) => now - at < windowMs);
          const wait = limits.take('key');
          const free = Math.max(1, Math.ceil(windowMs - (now - (counted[0] ?? 0))));
          expect(wait).toBe(counted.length < capacity ? 0 : free);
          expect(wait).toBeLessThanOrEqual(windowMs);
          if (wait === 0) letIn.push(now);
        }
      }
    }),
    { seed: 20261121, numRuns: 500 },
  );
});

test('who waits as long as he is told is let in', () => {
  const { take, pass } = limiter(1_500, 24 * 3_600_000);
  for (let i = 0; i < 20_000; i++) {
    const wait = take();
    pass(wait);
    if (wait > 0) expect(take()).toBe(0);
    pass((i * 7_919) % 30_000);
  }
});

test.each([
  ['few keys', 1, 1_000],
  ['thousands of keys', 8_000, 50],
])('of a large capacity with %s, no window has more, and nobody waits longer than the window', (_, keys, times) => {
  const [capacity, windowMs] = [2_500, 24 * 3_600_000];
  const { limits, take, pass } = limiter(capacity, windowMs);
  for (let i = 0; i < keys - 1; i++) take(`other ${i}`);
  let now = 0;
  const letIn: number[] = [];
  for (let i = 0; i < 8_000; i++) {
    const step = (i * 7_919) % 29_989;
    pass(step);
    now += step;
    const wait = take();
    const inLast = (ms: number) => letIn.filter((at) => at > now - ms).length;
    expect(wait).toBeLessThanOrEqual(windowMs);
    if (wait === 0) {
      letIn.push(now);
      if (i % 100 === 0) expect(inLast(windowMs)).toBeLessThanOrEqual(capacity);
    } else if (i % 100 === 0) expect(inLast(windowMs + windowMs / times)).toBeGreaterThanOrEqual(capacity);
  }
  expect(letIn.length).toBeGreaterThan(capacity);
  expect(limits.size).toBe(keys);
});

test('what a key takes has a bound, whatever its capacity', () => {
  const before = process.memoryUsage();
  const { take, pass } = limiter(2_000_000_000);
  for (let i = 0; i < 300_000; i++) {
    take();
    pass(0.01);
  }
  const grown = process.memoryUsage().heapUsed - before.heapUsed;
  expect(take()).toBe(0);
  expect(grown).toBeLessThan(64 * 1024 * 1024);
});
