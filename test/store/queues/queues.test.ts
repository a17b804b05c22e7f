// Lanes: who may deliver to a destination, and what becomes of what was sent.

import { beforeEach, expect, test } from 'vitest';
import { packEvents, unpackEvents } from '../../../src/events/batch.ts';
import type { DeliveryProgress, LeasedQueue, QueueOutcome } from '../../../src/events/delivery/destination-queue.ts';
import { readWritten } from '../../../src/events/event.ts';
import { deliveryStates } from '../../../src/store/events/delivery-state.ts';
import { destinationQueueStore, type NodeQueueStore } from '../../../src/store/events/destination-queues.ts';
import { deriveKeys } from '../../../src/store/keys/keys.ts';
import { idsOf, type QueueDatabase, queueDatabase, written } from './queue-database.ts';

const LEASE_MS = 60_000;
const ALL = { batches: 64, bytes: 1024 * 1024 };
const NOTHING: DeliveryProgress = { done: [], shortened: [], dead: [], delivered: 0 };
const reason = { code: 'HTTP 503', message: 'later' };
let db: QueueDatabase;
beforeEach(async () => {
  db = await queueDatabase();
});

async function claim(queues = db.queues): Promise<LeasedQueue> {
  return (await queues.claim(LEASE_MS)) ?? expect.fail('no queue is due');
}
const settle = (queue: LeasedQueue, progress: Partial<DeliveryProgress>, outcome: QueueOutcome) =>
  db.queues.settle(queue, { ...NOTHING, ...progress }, outcome, LEASE_MS);

test('a queue is leased when events wait, to one at a time, with its target in clear', async () => {
  const id = await db.destination();
  expect(await db.queues.claim(LEASE_MS)).toBeUndefined();
  await db.store(id, written(1));
  const queue = await claim();
  expect(queue).toMatchObject({ destinationId: id, accountId: db.accountId, attempts: 0 });
  expect(queue.target).toEqual({ webhook: { url: 'https://hooks.example.com', signingSecret: 'hush' } });
  expect(queue.fingerprint).not.toContain('hush');
  expect(await destinationQueueStore(db.parts).claim(LEASE_MS)).toBeUndefined();
  db.clock.ms = LEASE_MS + 1000;
  const next = await claim();
  expect(next.token).not.toBe(queue.token);
  expect(next.fingerprint).toBe(queue.fingerprint);
});

test('the leases of a node end with the node', async () => {
  const id = await db.destination();
  await db.store(id, written(1));
  const nodes = ['node_lost', 'node_other'].map((nodeId) => destinationQueueStore({ ...db.parts, nodeId })) as [
    NodeQueueStore,
    NodeQueueStore,
  ];
  const leaseUntil = new Date(Date.now() + 600_000);
  for (const node of ['node_lost', 'node_other']) await db.prisma.node.create({ data: { id: node, leaseUntil } });
  await claim(nodes[0]);
  expect(await nodes[1].claim(LEASE_MS)).toBeUndefined();
  await db.prisma.node.deleteMany({ where: { id: 'node_lost' } });
  const queue = await claim(nodes[1]);
  expect(await nodes[1].claim(LEASE_MS)).toBeUndefined();
  expect(await db.queues.claim(LEASE_MS)).toBeUndefined();
  const startedAnew = destinationQueueStore({ ...db.parts, nodeId: 'node_other' });
  await startedAnew.recover();
  expect((await claim(startedAnew)).token).not.toBe(queue.token);
  await db.prisma.node.deleteMany();
});

test('many who ask at once get one queue each', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => db.destination()));
  for (const id of ids) await db.store(id, written(1));
  const claimed = await Promise.all(Array.from({ length: 12 }, () => db.queues.claim(LEASE_MS)));
  const got = claimed.flatMap((queue) => queue?.destinationId ?? []);
  expect(new Set(got).size).toBe(got.length);
  while (got.length < 5) got.push((await claim()).destinationId);
  expect(got.sort()).toEqual(ids.sort());
});

test('the queue that has been due for longest comes first, and one that rests goes to the end', async () => {
  const [first, second] = [await db.destination(), await db.destination()];
  for (const id of [second, first]) await db.store(id, written(1));
  const queue = await claim();
  expect(queue.destinationId).toBe(first);
  await settle(queue, {}, { kind: 'release' });
  expect((await claim()).destinationId).toBe(second);
  expect((await claim()).destinationId).toBe(first);
});

test('a target whose secrets cannot be opened is missing', async () => {
  await db.store(await db.destination(), written(1));
  const keys = deriveKeys(Buffer.alloc(32, 7));
  expect((await claim(destinationQueueStore({ ...db.parts, keys }))).target).toBeUndefined();
});

test('the oldest batches are read, one at least', async () => {
  const id = await db.destination();
  const batches = Array.from({ length: 5 }, () => written(3));
  for (const texts of batches) await db.store(id, texts);
  const queue = await claim();
  const read = async (limits: typeof ALL) => {
    const stored = await db.queues.read(queue, limits);
    return (await Promise.all(stored.map(({ body }) => unpackEvents(body)))).map((events) => idsOf(events));
  };
  const ids = batches.map((texts) => idsOf(texts.map(readWritten)));
  expect(await read(ALL)).toEqual(ids);
  expect(await read({ ...ALL, batches: 2 })).toEqual(ids.slice(0, 2));
  expect(await read({ ...ALL, bytes: 1 })).toEqual(ids.slice(0, 1));
  const [{ bytes } = { bytes: 0 }] = await db.batches(id);
  expect(await read({ ...ALL, bytes: bytes * 3 + 1 })).toEqual(ids.slice(0, 3));
});

test('settling removes sent events, keeps the others, and stores refused ones as dead letters', async () => {
  const id = await db.destination();
  const [one, two] = [written(3), written(4)];
  await db.store(id, one);
  await db.store(id, two);
  const queue = await claim();
  const [first, second] = await db.queues.read(queue, ALL);
  const event = readWritten(two[1] as string);
  const remaining = await packEvents(two.slice(2));
  const dead = [{ event, code: 'x'.repeat(500), message: 'much too \0 large' }];
  const progress = { done: [first?.id ?? ''], shortened: [{ id: second?.id ?? '', remaining }], dead, delivered: 4 };
  expect(await settle(queue, progress, { kind: 'continue' })).toBe(true);

  const [batch, ...others] = await db.batches(id);
  expect(others).toEqual([]);
  const kept = await unpackEvents(batch?.body as Uint8Array);
  expect(kept.map(({ text }) => text)).toEqual(two.slice(2));
  expect(batch).toMatchObject({ count: 2, bytes: remaining.body.length });
  expect(await db.letters(id)).toMatchObject([
    { eventId: event.id, eventType: event.type, event: event.text, errorMessage: 'much too  large' },
  ]);
  expect((await db.letters(id))[0]?.errorCode).toHaveLength(100);
  const states = await deliveryStates(db.prisma, db.accountId, [id, 'ed_unknown']);
  expect([...states]).toEqual([
    [id, expect.objectContaining({ state: 'OK', delivered: 4, waitingEvents: 2, deadLetters: 1 })],
  ]);
  expect((await deliveryStates(db.prisma, 'ac_other', [id])).size).toBe(0);
});

test('a node that has lost the lease stores nothing', async () => {
  const id = await db.destination();
  await db.store(id, written(2));
  const slow = await claim();
  const [batch] = await db.queues.read(slow, ALL);
  db.clock.ms = LEASE_MS + 1000;
  const quick = await claim();
  const before = await db.queue(id);
  const event = readWritten(written(1)[0] as string);
  const progress = { done: [batch?.id ?? ''], dead: [{ event, ...reason }], delivered: 1 };
  expect(await settle(slow, progress, { kind: 'backoff', state: 'FAILING', ms: 1, reason })).toBe(false);
  expect(await db.queue(id)).toEqual(before);
  expect(await db.batches(id)).toHaveLength(1);
  expect(await db.letters(id)).toEqual([]);
  expect(await settle(quick, { done: [batch?.id ?? ''], delivered: 2 }, { kind: 'release' })).toBe(true);
  expect(await db.queue(id)).toMatchObject({ delivered: 2n, leaseToken: null, state: 'OK' });
});

test('a failed queue is not claimed before its delay is over; a success resets it', async () => {
  const id = await db.destination();
  await db.store(id, written(2));
  await settle(await claim(), {}, { kind: 'backoff', state: 'RETRYING', ms: 5000, reason });
  expect(await db.queues.claim(LEASE_MS)).toBeUndefined();
  db.clock.ms = 5001;
  const again = await claim();
  expect(again.attempts).toBe(1);
  await settle(again, {}, { kind: 'backoff', state: 'FAILING', ms: 900_000, reason });
  expect(await db.queue(id)).toMatchObject({ state: 'FAILING', attempts: 2, lastError: reason });
  db.clock.ms += 899_000;
  expect(await db.queues.claim(LEASE_MS)).toBeUndefined();
  db.clock.ms += 2000;
  const last = await claim();
  const [batch] = await db.queues.read(last, ALL);
  await settle(last, { done: [batch?.id ?? ''], delivered: 2 }, { kind: 'release' });
  const state = (await deliveryStates(db.prisma, db.accountId, [id])).get(id);
  expect(state).toMatchObject({ state: 'OK', attempts: 0, delivered: 2, waitingEvents: 0, oldestWaitingAt: null });
  expect(state?.lastError).toEqual({ ...reason, at: expect.any(Date) });
  expect(state?.lastDeliveredAt).toBeInstanceOf(Date);
});

test('a failure after accepted events counts as the first in a row', async () => {
  const id = await db.destination();
  await db.store(id, written(1));
  for (const delivered of [0, 0, 1]) {
    await settle(await claim(), { delivered }, { kind: 'backoff', state: 'RETRYING', ms: 0, reason });
  }
  expect((await db.queue(id)).attempts).toBe(1);
});

test('events that were dropped on their way and then delivered count as delivered only', async () => {
  const id = await db.destination();
  await db.store(id, written(3));
  const queue = await claim();
  const [batch] = await db.queues.read(queue, ALL);
  await db.prisma.eventBatch.deleteMany();
  await db.prisma.eventLane.updateMany({ data: { dropped: 10 } });
  await settle(queue, { done: [batch?.id ?? ''], delivered: 3 }, { kind: 'release' });
  expect(await db.queue(id)).toMatchObject({ delivered: 3n, dropped: 7n });
});

test('every failure is announced, and deliveries at most once a second', async () => {
  const id = await db.destination();
  await db.store(id, written(1));
  const queue = await claim();
  const updated = { kind: 'eventDelivery', action: 'UPDATED', id, accountId: db.accountId };
  for (let i = 0; i < 5; i++) await settle(queue, { delivered: 1 }, { kind: 'continue' });
  expect(db.told).toEqual([updated]);
  await settle(queue, {}, { kind: 'backoff', state: 'RETRYING', ms: 0, reason });
  await settle(await claim(), {}, { kind: 'backoff', state: 'RETRYING', ms: 0, reason });
  expect(db.told).toEqual([updated, updated, updated]);
  await settle(await claim(), { delivered: 1 }, { kind: 'continue' });
  expect(db.told, 'it works again').toHaveLength(4);
});

test('a destination that is deleted while events are on their way takes its queue with it', async () => {
  const id = await db.destination();
  await db.store(id, written(1));
  const queue = await claim();
  await db.prisma.eventDestination.delete({ where: { id } });
  expect(await db.queues.read(queue, ALL)).toEqual([]);
  expect(await settle(queue, { delivered: 1 }, { kind: 'release' })).toBe(false);
});
