// A deliverer at work on a database, with sinks that answer as the test says: order, retries, dead letters, targets.

import { beforeEach, expect, test } from 'vitest';
import { retryDeadLetters } from '../../../src/store/events/dead-letters.ts';
import { sealTarget } from '../../../src/store/events/target.ts';
import { idOf, type QueueDatabase, written } from '../../store/queues/queue-database.ts';
import { delivererTest, type ExpectQueue, type StartDeliverer, until } from './deliverer-support.ts';
import { failing } from './test-sink.ts';

let db: QueueDatabase;
let start: StartDeliverer;
let expectQueue: ExpectQueue;
beforeEach(async () => {
  ({ db, start, expectQueue } = await delivererTest());
});

test('events arrive in their order, whatever fails in between, and each is counted once', async () => {
  const { sinkOf, texts, counters } = start();
  const id = await db.destination();
  const sink = sinkOf(id);
  let asked = 0;
  sink.answer = async (events, signal) => {
    asked++;
    if (asked % 3 === 0) return failing(asked % 2 ? 'retry' : 'config')(events, signal);
    return asked % 4 === 0 ? [{ index: 0, fate: 'retry', code: 'Slow', message: 'down' }] : [];
  };
  sink.limits.records = 1; // Of requests that are taken in part, others may overtake what was not.
  const sent: string[] = [];
  for (const count of [1, 4, 2, 1]) sent.push(...(await texts(id, count)));
  await until(() => expectQueue(id, { delivered: 8n, leaseToken: null }));
  expect(sink.taken).toEqual(sent);
  expect(await db.batches(id)).toEqual([]);
  await expectQueue(id, { state: 'OK', attempts: 0 });
  expect(counters).toMatchObject({ delivered: { webhook: 8 }, dead: { webhook: 0 }, requests: { webhook: asked } });
  expect(counters.failures.webhook.retry + counters.failures.webhook.config).toBe(asked - 8);
  expect(counters.lagMs).toBeLessThan(60_000);
});

test('after a request that is accepted in part, only the rest is sent again, before all other events', async () => {
  const { sinkOf, texts } = start();
  const id = await db.destination();
  const sink = sinkOf(id);
  const some = [written(3), written(3)];
  for (const list of some) await db.store(id, list);
  sink.answer = async () =>
    sink.requests.length === 1
      ? [0, 4].map((index) => ({ index, fate: 'retry', code: 'S', message: '' }) as const)
      : [];
  const later = await texts(id, 2);
  await until(() => expectQueue(id, { delivered: 8n }));
  const all = sink.requests[0] as string[];
  expect(all.slice(0, 6)).toEqual(some.flat().map(idOf));
  expect(sink.requests.slice(1).flat().slice(0, 2)).toEqual([all[0], all[4]]);
  expect([...sink.taken].sort()).toEqual([...some.flat().map(idOf), ...later].sort());
});

test('an event that fails its request becomes a dead letter, and is delivered when it is retried and accepted', async () => {
  const { sinkOf, texts, deliverer, counters } = start();
  const id = await db.destination();
  const sink = sinkOf(id);
  const poison = written(1);
  sink.answer = (events, signal) =>
    events.some((event) => event.id === poison.map(idOf)[0]) ? failing('split')(events, signal) : Promise.resolve([]);
  await db.store(id, [...written(5), ...poison, ...written(4)]);
  await texts(id, 3);
  await until(() => expectQueue(id, { delivered: 12n }));
  expect(await db.letters(id)).toMatchObject([
    { eventId: poison.map(idOf)[0], event: poison[0], errorCode: 'Testsplit' },
  ]);
  expect(counters).toMatchObject({ dead: { webhook: 1 } });
  expect(counters.failures.webhook.split).toBeGreaterThan(1);
  sink.answer = async () => [];
  db.changes.listen(({ action }) => action === 'CREATED' && deliverer.wake());
  await db.changes.transaction(db.prisma, (tx, announce) => retryDeadLetters(tx, announce, { destinationId: id }));
  await until(() => expect(sink.taken.at(-1)).toBe(poison.map(idOf)[0]));
  expect(await db.letters(id)).toEqual([]);
});

test('a destination that is down for an hour does not delay others, and its backlog arrives in order', async () => {
  const { sinkOf, texts } = start({ random: 0.5, settings: { pollMs: 10_000 } });
  const [dead, alive] = [await db.destination(), await db.destination()];
  sinkOf(dead).answer = failing('retry');
  const backlog: string[] = [];
  for (let minute = 2; minute <= 60; minute += 2) {
    db.clock.ms = minute * 60_000;
    if (minute % 4 === 0) backlog.push(...(await texts(dead, 2)));
    const ids = await texts(alive, 2);
    await until(() => expectQueue(alive, { delivered: BigInt(minute), leaseToken: null }));
    expect(sinkOf(alive).taken.slice(-2)).toEqual(ids);
  }
  expect(sinkOf(alive).requests.flat(), 'each once').toHaveLength(60);
  await expectQueue(alive, { attempts: 0, state: 'OK' });
  expect(sinkOf(dead).requests.length).toBeLessThan(25);
  await expectQueue(dead, { state: 'RETRYING', delivered: 0n });
  sinkOf(dead).answer = async () => [];
  db.clock.ms += 15 * 60_000;
  const last = await texts(dead, 1);
  await until(() => expectQueue(dead, { delivered: 31n, state: 'OK' }));
  expect(sinkOf(dead).taken).toEqual([...backlog, ...last]);
});

test('a stored batch that is not readable does not block those behind it', async () => {
  const { sinkOf, texts } = start();
  const id = await db.destination();
  const [first = '', second = ''] = written(2);
  await db.store(id, [first, 'nonsense', second]);
  const body = new Uint8Array([0x1f, 1, 2, 3]);
  await db.prisma.eventBatch.create({ data: { destinationId: id, isTraffic: true, count: 9, bytes: 4, body } });
  const ids = await texts(id, 1);
  await until(() => expectQueue(id, { delivered: 3n }));
  expect(sinkOf(id).taken).toEqual([idOf(first), idOf(second), ...ids]);
  expect(await db.letters(id)).toMatchObject([{ event: 'nonsense', errorCode: 'Unreadable' }, { event: 'HwECAw==' }]);
});

test('a target that cannot be opened, or rejects its configuration, loses no events', async () => {
  const { sinkOf, deliverer } = start({ random: 0.9, settings: { pollMs: 10_000 } });
  const [id, sealed] = [await db.destination(), await db.destination()];
  const secret = db.keys.seal('x', 'elsewhere');
  const target = { webhook: { url: 'https://x.example.com', signingSecret: secret } };
  await db.prisma.eventDestination.update({ where: { id: sealed }, data: { target } });
  sinkOf(id).answer = failing('config', 120_000);
  for (const each of [id, sealed]) await db.store(each, written(2));
  deliverer.wake();
  await until(() => expectQueue(id, { state: 'FAILING', attempts: 1, lastError: { code: 'Testconfig' } }));
  await until(() => expectQueue(sealed, { state: 'FAILING', lastError: { code: 'SecretsUnreadable' } }));
  const { nextAt } = await db.queue(id);
  expect(nextAt.getTime() - Date.now()).toBeGreaterThan(100_000);
  expect((await db.batches(id)).length + (await db.batches(sealed)).length).toBe(2);
});

test('a changed target gets a new sink, and the old sink is closed', async () => {
  const { sinkOf, texts, opened } = start();
  const id = await db.destination();
  for (const delivered of [1n, 2n]) {
    await texts(id, 1);
    await until(() => expectQueue(id, { delivered, leaseToken: null }));
  }
  expect(opened).toEqual(['https://hooks.example.com']);
  const row = {
    id,
    accountId: db.accountId,
    target: { webhook: { url: 'https://new.example.com', signingSecret: null } },
  };
  await db.prisma.eventDestination.update({ where: { id }, data: { target: sealTarget(db.keys, row) } });
  expect(sinkOf(id).isClosed).toBe(false);
  await texts(id, 1);
  await until(() => expectQueue(id, { delivered: 3n }));
  expect(opened).toEqual(['https://hooks.example.com', 'https://new.example.com']);
  expect(sinkOf(id).isClosed).toBe(true);
});
