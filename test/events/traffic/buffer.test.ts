// How the buffer of traffic events forms batches, and keeps the order of each destination.

import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unpackEvents } from '../../../src/events/batch.ts';
import { event, expectExact, until } from './buffer-support.ts';
import { buffered, clock, hurried } from './support.ts';

test('events are stored every second, in batches of 500 or of 256 KiB, and sooner when there are sixteen of these', async () => {
  const { schedule, pass } = clock();
  let appends = 0;
  const count = async () => void appends++;
  const { buffer, taken, counters } = buffered(count, { schedule });
  for (let n = 0; n < 1001; n++) buffer.add('ed_1', event(n));
  pass(999);
  await turn();
  expect(counters.waiting.events).toBe(1001);
  pass(1);
  await until(() => counters.waiting.events === 0);
  expect(taken.map(({ count }) => count)).toEqual([500, 500, 1]);
  expect(appends).toBe(1);

  for (let n = 0; n < 5; n++) buffer.add('ed_1', event(n, 100_000));
  buffer.add('ed_1', event('huge', 1_000_000));
  pass(1000);
  await until(() => counters.waiting.events === 0);
  expect(taken.slice(3).map(({ count }) => count)).toEqual([3, 3]);

  for (let n = 0; n < 8000; n++) buffer.add('ed_1', event(n));
  await until(() => counters.waiting.events === 0);
  expect(taken.slice(5).map(({ count }) => count)).toEqual(Array(16).fill(500));
  expect(appends).toBe(3);
  expect(counters).toMatchObject({ accepted: 9007, appended: 9007, waiting: { events: 0, bytes: 0 } });
});

test('a batch that is left when others are stored keeps its place', async () => {
  const { schedule, pass } = clock();
  const asked: (() => void)[] = [];
  const slow = () => new Promise<void>((resolve) => asked.push(resolve));
  const { buffer, counters, idsTo } = buffered(slow, { schedule });
  let n = 0;
  const add = (events: number) => {
    for (const end = n + events; n < end; n++) buffer.add('ed_1', event(n, 10));
  };
  add(8000);
  await until(() => asked.length === 1);
  add(500);
  asked.shift()?.();
  await until(() => counters.waiting.events === 500);
  add(8000);
  await until(() => asked.length === 1);
  while (counters.waiting.events > 0) {
    pass(1000);
    asked.shift()?.();
    await turn();
  }
  expect(await idsTo('ed_1')).toEqual(Array.from({ length: n }, (_, i) => `ev_${i}`));
});

test('what is stored is what was added, of any length and in any writing', async () => {
  const text = fc.record({
    unit: fc.constantFrom('a', 'é', '世', '🌍', '\ud800'),
    length: fc.constantFrom(0, 1, 700, 90_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 30 }), async (shapes) => {
      const { buffer, taken } = buffered();
      const texts = shapes.map(({ unit, length }, n) =>
        event(n, 10).replace(/}$/, `,"more":"${unit.repeat(length)}"}`),
      );
      for (const [n, one] of texts.entries()) buffer.add(`ed_${n % 2}`, one);
      await buffer.flush();
      for (const to of ['ed_0', 'ed_1']) {
        const own = taken.filter((batch) => batch.to === to).map(({ body }) => unpackEvents(body));
        const stored = (await Promise.all(own)).flat().map((one) => one.text);
        const wanted = texts.filter((_, n) => `ed_${n % 2}` === to);
        expect(stored).toEqual(wanted.map((one) => one.toWellFormed()));
      }
    }),
    { numRuns: 30 },
  );
});

test('events of a destination stay in their order, each once, whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 700 }), { maxLength: 8 }),
      async (fates, portions) => {
        const left = [...fates];
        const failing = async () => {
          await turn();
          if (left.shift()) throw new Error('away');
        };
        const { buffer, counters, idsTo, failures } = buffered(failing, { schedule: hurried });
        const added: Record<string, string[]> = { ed_0: [], ed_1: [] };
        for (const [index, portion] of portions.entries()) {
          const to = `ed_${index % 2}`;
          for (let n = 0; n < portion; n++) {
            const id = `${index}_${n}`;
            added[to]?.push(`ev_${id}`);
            buffer.add(to, event(id, 10));
          }
          await turn();
          expectExact(counters);
        }
        await until(() => counters.waiting.events === 0);
        for (const [to, ids] of Object.entries(added)) expect(await idsTo(to)).toEqual(ids);
        expect(counters.waiting).toEqual({ events: 0, bytes: 0 });
        expect(counters.failures).toBe(fates.slice(0, fates.length - left.length).filter(Boolean).length);
        expect(failures.length).toBeLessThanOrEqual(counters.failures);
        expectExact(counters);
      },
    ),
    { numRuns: 30 },
  );
});

test('a few are stored at the same time, and one of each destination', async () => {
  const { schedule, pass } = clock();
  const [underWay, asked] = [new Set<string>(), [] as (() => void)[]];
  let most = 0;
  const { buffer, counters } = buffered(
    async (to) => {
      expect(underWay).not.toContain(to);
      underWay.add(to);
      most = Math.max(most, underWay.size);
      await new Promise<void>((resolve) => asked.push(resolve));
      underWay.delete(to);
    },
    { schedule },
  );
  for (let n = 0; n < 3000; n++) buffer.add(`ed_${n % 3}`, event(n));
  for (let n = 0; n < 20; n++) buffer.add(`ed_more_${n}`, event(n));
  pass(1000);
  while (counters.waiting.events > 0) {
    asked.shift()?.();
    await turn();
  }
  expect(most).toBe(4);
});
