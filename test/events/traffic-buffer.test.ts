import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unpackEvents } from '../../src/events/batch.ts';
import { writeEvent } from '../../src/events/event.ts';
import type { TrafficCounters } from '../../src/events/traffic/counters.ts';
import { accountId, buffered, clock, hurried } from './traffic-support.ts';

/** An event of a length; it takes about as much when it is packed. */
function event(id: number | string, length = 100): string {
  const filler = randomBytes(Math.max(0, (length * 3) / 4)).toString('base64url');
  return writeEvent({
    ...{ id: `ev_${id}`, type: 'tcp_connection_closed.v0', at: 0, accountId, principal: null },
    object: { filler },
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

function expectExact({ accepted, appended, dropped, waiting }: TrafficCounters) {
  expect(accepted).toBe(appended + dropped.buffer + dropped.closed + waiting.events);
}

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
