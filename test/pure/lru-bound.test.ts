import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';
import { boundedTo } from '../../src/runtime/lru-bound.ts';

test('a bounded cache gives up what was not used for longest, and keeps to the times of its entries', () => {
  let now = 1;
  const cache = new LRUCache<string, number>({ ...boundedTo(3), ttlResolution: 0, perf: { now: () => now } });
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index, { ttl: 100 });
  expect(cache.get('a')).toBe(0);
  cache.set('d', 3, { ttl: 10 });
  expect([...cache.keys()]).toEqual(['d', 'a', 'c']);
  now += 50;
  expect([cache.get('a'), cache.get('d')]).toEqual([0, undefined]);
  for (let i = 0; i < 1000; i++) cache.set(`${i}`, i, { ttl: 100 });
  expect(cache.size).toBe(3);
});
