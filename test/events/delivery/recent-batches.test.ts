// Batches that are delivered by the process that stored them, out of the memory in which they were collected.

import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { readWritten } from '../../../src/events/event.ts';
import { RecentBatches } from '../../../src/events/recent-batches.ts';
import { EventBuffer } from '../../../src/events/traffic/buffer.ts';
import { trafficCounters } from '../../../src/events/traffic/counters.ts';
import { destinationQueueStore } from '../../../src/store/events/destination-queues.ts';
import { trafficStore } from '../../../src/store/events/traffic-store.ts';
import type { QueueDatabase } from '../../store/queues/queue-database.ts';
import { event } from '../traffic/buffer-support.ts';
import { delivererTest, type ExpectQueue, type StartDeliverer, until } from './deliverer-support.ts';
import { failing } from './test-sink.ts';

let db: QueueDatabase;
let start: StartDeliverer;
let expectQueue: ExpectQueue;
beforeEach(async () => {
  ({ db, start, expectQueue } = await delivererTest());
});

/** What a process has that both stores and delivers. */
function collecting() {
  const recent = new RecentBatches();
  const store = trafficStore({ ...db.parts, recent });
  const onFailure = (error: unknown) => expect.fail(String(error));
  const counters = trafficCounters();
  const buffer = new EventBuffer({ store, recent, counters, maxBytes: 2 ** 26, onFailure, random: Math.random });
  return { recent, buffer, queues: destinationQueueStore({ ...db.parts, recent }) };
}

test('what was stored arrives whole, while its memory is used again, whatever fails in between', async () => {
  const { buffer, queues } = collecting();
  const { sinkOf, deliverer } = start({ queues });
  const ids = await Promise.all([db.destination(), db.destination()]);
  const arrived = new Map(ids.map((id) => [id, [] as string[]]));
  for (const id of ids) {
    const sink = sinkOf(id);
    sink.limits.records = 40;
    let asked = 0;
    sink.answer = async (events, signal) => {
      const before = events.map(({ bytes }) => bytes.toString());
      await pause(1);
      asked++;
      if (asked % 5 === 0) return failing('retry')(events, signal);
      expect(events.map(({ bytes }) => bytes.toString())).toEqual(before);
      arrived.get(id)?.push(...before);
      return [];
    };
  }
  const added = new Map(ids.map((id) => [id, [] as string[]]));
  for (let round = 0; round < 30; round++) {
    for (const id of ids)
      for (let n = 0; n < 10; n++) {
        const text = event(`${round}_${n}`, round % 3 === 0 ? 30_000 : 100);
        added.get(id)?.push(text);
        buffer.add(id, text);
      }
    await buffer.flush();
    deliverer.wake();
  }
  for (const id of ids) await until(() => expectQueue(id, { delivered: 300n }));
  expect(arrived).toEqual(added);
  buffer.close();
});

test('a batch that was not taken from memory is read from the database', async () => {
  const { recent, buffer, queues } = collecting();
  const id = await db.destination();
  const texts = [1, 2, 3].map((n) => event(n));
  for (const text of texts) {
    buffer.add(id, text);
    await buffer.flush();
    if (text === texts[0]) recent.clear();
  }
  const queue = await queues.claim(60_000);
  if (!queue) throw new Error('nothing waits');
  const [first, second, third] = await queues.read(queue, { batches: 64, bytes: 1_000_000 });
  expect(readWritten(Buffer.from(first?.body ?? []).toString()).text).toBe(texts[0]);
  expect([second, third].map((batch) => batch?.recent?.lines.toString())).toEqual(texts.slice(1));
  // Nobody but their reader has them now.
  const again = await queues.read(queue, { batches: 64, bytes: 1_000_000 });
  expect(again.map(({ body }) => Buffer.from(body).toString())).toEqual(texts);
  buffer.close();
});

test('of batches that nobody reads only the last are kept, and none after a while', async () => {
  const due: (() => void)[] = [];
  const recent = new RecentBatches((_, work) => {
    due.push(work);
    return () => due.splice(due.indexOf(work), 1);
  });
  for (let n = 0; n < 100; n++) {
    const batch = recent.keep({ lines: Buffer.from(`${n}`), release: () => expect.fail('somebody may still read it') });
    if (batch) recent.stored(`ed_${n % 2}`, `${n}`, batch);
  }
  const kept = ['ed_0', 'ed_1'].flatMap((id) => [...recent.of(id).keys()]);
  expect(kept).toHaveLength(24);
  expect(kept).toContain('99');
  expect(due).toHaveLength(1);
  due[0]?.();
  expect([recent.of('ed_0').size, recent.of('ed_1').size]).toEqual([0, 0]);
  // There is room again.
  const batches = Array.from({ length: 25 }, () => recent.keep({ lines: Buffer.alloc(1), release: () => {} }));
  expect(batches.filter((batch) => batch === undefined)).toHaveLength(1);
});
