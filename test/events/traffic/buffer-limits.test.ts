// What the buffer of traffic events does when the store is too slow, or down: bounded memory, counted drops, retries.

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { unpackEvents } from '../../../src/events/batch.ts';
import { event, expectExact, until } from './buffer-support.ts';
import { buffered, clock } from './support.ts';

test('20,000 events a second into a store that is too slow: memory is bounded, every drop is counted and told', async () => {
  const maxBytes = 1024 * 1024;
  const { schedule, pass } = clock();
  const asked: (() => void)[] = [];
  const slow = () => new Promise<void>((resolve) => asked.push(resolve));
  const { buffer, counters, taken, idsTo } = buffered(slow, { schedule, maxBytes });
  const text = event('x', 400).replace('ev_x', 'ev_');
  let most = 0;
  for (let tenth = 0, n = 0; tenth < 20; tenth++) {
    for (let i = 0; i < 2000; i++) buffer.add('ed_1', text.replace('ev_', `ev_${n++}`));
    most = Math.max(most, counters.waiting.bytes);
    pass(100);
    await turn();
    if (tenth % 4 === 3) asked.shift()?.(); // Five batches in two seconds: less than 5,000 events a second.
    await turn();
    expectExact(counters);
  }
  expect(counters.accepted).toBe(40_000);
  expect(counters.dropped.buffer).toBeGreaterThan(10_000);
  expect(most).toBeLessThanOrEqual(maxBytes);
  expect(most).toBeGreaterThan(maxBytes / 2);

  const flushed = buffer.flush();
  while (counters.waiting.events > 0) {
    asked.shift()?.();
    await turn();
  }
  await flushed;
  const ids = (await idsTo('ed_1')).map((id) => Number(id.slice(3)));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  expect(ids.length).toBe(counters.appended);
  expect(ids.length + counters.dropped.buffer).toBe(40_000);

  // What the store does not know of yet goes with the next batch.
  buffer.add('ed_1', event('last'));
  const last = buffer.flush();
  await until(() => asked.length > 0);
  asked.shift()?.();
  await last;
  expect(taken.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(counters.dropped.buffer);
});

test('a store that is away for a while loses nothing that there is room for, and is not overrun', async () => {
  const { schedule, pass } = clock();
  let isAway = true;
  let attempts = 0;
  const { buffer, counters, taken, failures } = buffered(
    async () => {
      attempts++;
      if (isAway) throw new Error('away');
    },
    { schedule, random: () => 0.5 },
  );
  for (let second = 0; second < 10; second++) {
    for (let line = 0; line < 200; line++) buffer.add(`ed_${line}`, event(`${second}_${line}`));
    pass(1000);
    for (let n = 0; n < 20; n++) await turn();
  }
  expect(attempts).toBeLessThan(100); // For 200 destinations, over 10 s.
  expect(failures.length).toBe(1);
  isAway = false;
  while (counters.waiting.events > 0) {
    pass(100);
    await turn();
  }
  expect(counters).toMatchObject({ accepted: 2000, appended: 2000, dropped: { buffer: 0, closed: 0 } });
  const ids = await Promise.all(taken.filter(({ to }) => to === 'ed_7').map(({ body }) => unpackEvents(body)));
  expect(ids.flat().map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, second) => `ev_${second}_7`));
});

test('one destination leaves room for others', () => {
  const { schedule } = clock();
  const { buffer, counters } = buffered(() => new Promise<void>(() => {}), { schedule, maxBytes: 1_000_000 });
  const text = event('x', 1000);
  for (let n = 0; n < 2000; n++) buffer.add('ed_noisy', text);
  const { events } = counters.waiting;
  expect(events * text.length).toBeGreaterThan(750_000);
  expect(events * text.length).toBeLessThanOrEqual(800_000);
  for (let n = 0; n < 100; n++) buffer.add(`ed_${n}`, text);
  expect(counters.waiting.events).toBe(events + 100);
  buffer.close();
});

test('flush stores what there is at once, also what waits for another attempt, and gives up after 5 s', async () => {
  const { schedule, pass } = clock();
  let failure: Error | undefined = new Error('away');
  const { buffer, counters } = buffered(
    async () => {
      if (failure) throw failure;
    },
    { schedule },
  );
  await buffer.flush();
  buffer.add('ed_1', event(1));
  pass(1000);
  await until(() => counters.failures === 1);
  failure = undefined;
  buffer.add('ed_2', event(2));
  await buffer.flush();
  expect(counters).toMatchObject({ appended: 2, waiting: { events: 0, bytes: 0 } });

  failure = new Error('away again');
  buffer.add('ed_1', event(3));
  let isOver = false;
  const flushed = buffer.flush().then(() => {
    isOver = true;
  });
  await until(() => counters.failures === 2);
  await turn();
  expect(isOver).toBe(false);
  pass(5000);
  await flushed;

  buffer.close();
  buffer.add('ed_1', event(4));
  await until(() => counters.waiting.events === 0);
  expect(counters).toMatchObject({
    accepted: 4,
    appended: 2,
    dropped: { buffer: 0, closed: 2 },
    waiting: { bytes: 0 },
  });
});
