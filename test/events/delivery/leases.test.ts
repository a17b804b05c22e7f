// The leases of queues while a deliverer works on a database: slow deliveries, failures of the store, the end.

import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DestinationQueueStore } from '../../../src/events/delivery/destination-queue.ts';
import { SinkError } from '../../../src/events/sinks/sink.ts';
import { destinationQueueStore } from '../../../src/store/events/destination-queues.ts';
import type { QueueDatabase } from '../../store/queues/queue-database.ts';
import { delivererTest, type ExpectQueue, type StartDeliverer, until } from './deliverer-support.ts';
import type { Answer } from './test-sink.ts';

let db: QueueDatabase;
let start: StartDeliverer;
let expectQueue: ExpectQueue;
beforeEach(async () => {
  ({ db, start, expectQueue } = await delivererTest());
});

const never = () => new Promise<never>(() => {});

test('a delivery that outlasts its lease settles nothing, because the next holder has', async () => {
  const slow = start({ settings: { pollMs: 10_000 } });
  const id = await db.destination();
  let answer = () => {};
  slow.sinkOf(id).answer = () => new Promise((resolve) => (answer = () => resolve([])));
  const ids = await slow.texts(id, 3);
  await until(() => expect(slow.sinkOf(id).requests).toHaveLength(1));
  db.clock.ms = 61_000;
  const quick = start();
  await until(() => expectQueue(id, { delivered: 3n }));
  expect(quick.sinkOf(id).taken).toEqual(ids);
  const next = await quick.texts(id, 1);
  await until(() => expectQueue(id, { delivered: 4n, leaseToken: null }));
  answer();
  await until(() => expect(slow.sinkOf(id).taken).toEqual(ids));
  await slow.deliverer.close();
  await expectQueue(id, { delivered: 4n, state: 'OK' });
  expect(quick.sinkOf(id).taken).toEqual([...ids, ...next]);
});

test('events that could not be settled are delivered again under the same ids', async () => {
  const sql = (text: string) => db.prisma.$executeRawUnsafe(text);
  await sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
  onTestFinished(async () => void (await sql('DROP FUNCTION IF EXISTS refuse CASCADE')));
  await sql('CREATE TRIGGER refuse BEFORE DELETE ON event_batch FOR EACH ROW EXECUTE FUNCTION refuse()');
  const { sinkOf, texts, failures } = start();
  const id = await db.destination();
  const ids = await texts(id, 2);
  await until(() => expect(sinkOf(id).requests.length).toBeGreaterThan(1));
  await expectQueue(id, { delivered: 0n });
  await sql('DROP FUNCTION refuse CASCADE');
  await until(() => expectQueue(id, { delivered: 2n, leaseToken: null, state: 'OK' }));
  expect(new Set(sinkOf(id).requests.map(String))).toEqual(new Set([String(ids)]));
  expect(failures.map(String).join()).toContain('the disk is full');
});

test('a failure of the store is reported once until it has worked again', async () => {
  const queues = destinationQueueStore(db.parts);
  let claims = 0;
  const claim: DestinationQueueStore['claim'] = async (leaseMs) => {
    claims++;
    if (claims < 4 || claims === 6) throw new Error(`away ${claims}`);
    return queues.claim(leaseMs);
  };
  const { failures } = start({ queues: { ...queues, claim }, settings: { pollMs: 2 } });
  await until(() => expect(claims).toBeGreaterThan(6));
  expect(failures.map(String)).toEqual(['Error: away 1', 'Error: away 6']);
});

test('when the deliverer closes, requests may finish within the drain time, and leases are released', async () => {
  const { sinkOf, texts, deliverer } = start({ settings: { drainMs: 50, pollMs: 10_000 } });
  const [hung, quick] = [await db.destination(), await db.destination()];
  let signalled = false;
  let answer = () => {};
  const hang: Answer = (_, signal) => {
    signal.addEventListener('abort', () => (signalled = true));
    return never();
  };
  sinkOf(hung).answer = hang;
  sinkOf(quick).answer = () => new Promise((resolve) => (answer = () => resolve([])));
  sinkOf(quick).limits.records = 1;
  await texts(hung, 1);
  await texts(quick, 2);
  await until(() => expect([hung, quick].map((id) => sinkOf(id).requests.length)).toEqual([1, 1]));
  const closed = deliverer.close();
  answer();
  await closed;
  expect(signalled).toBe(true);
  await expectQueue(hung, { leaseToken: null, state: 'OK', attempts: 0, delivered: 0n });
  await expectQueue(quick, { leaseToken: null, state: 'OK', delivered: 1n });
  expect([hung, quick].map((id) => sinkOf(id).isClosed)).toEqual([true, true]);
  expect((await db.batches(quick)).map(({ count }) => count)).toEqual([1]);
});

test('no more queues than the limit are delivered from at once, and all are delivered from in the end', async () => {
  let [now, most] = [0, 0];
  const { sinkOf, texts } = start({ settings: { queuesMax: 3 } });
  const ids = await Promise.all(Array.from({ length: 8 }, () => db.destination()));
  for (const id of ids)
    sinkOf(id).answer = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      if (sinkOf(id).requests.length === 1) throw new SinkError('retry', { code: 'x', message: '' });
      return [];
    };
  for (const id of ids) await texts(id, 1);
  for (const id of ids) await until(() => expectQueue(id, { delivered: 1n }));
  expect(most).toBeLessThanOrEqual(3);
});
