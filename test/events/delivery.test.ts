// The deliverer at work on a database, with sinks that do what the test says.

import { performance } from 'node:perf_hooks';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { newDeliveryCounters } from '../../src/events/delivery/counters.ts';
import { Deliverer, type DeliverySettings } from '../../src/events/delivery/deliverer.ts';
import type { DestinationQueueStore } from '../../src/events/delivery/destination-queue.ts';
import { SinkError } from '../../src/events/sinks/sink.ts';
import { retryDeadLetters } from '../../src/store/events/dead-letters.ts';
import { destinationQueueStore } from '../../src/store/events/destination-queues.ts';
import { sealTarget } from '../../src/store/events/target.ts';
import { idOf, type Laned, laned, written } from '../store/laned.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, failing, type TestSink, testSink } from './delivery-sinks.ts';

let db: Laned;
beforeEach(async () => {
  db = await laned();
});

const until = (check: () => unknown) => eventually(async () => void (await check()), { timeout: 18_000, interval: 10 });
const never = () => new Promise<never>(() => {});

interface Options {
  settings?: Partial<DeliverySettings>;
  lanes?: DestinationQueueStore;
  random?: number;
}

/** A deliverer that is woken by what is announced, and its sinks by destination. */
function start({ settings, lanes = destinationQueueStore(db.parts), random = 0 }: Options = {}) {
  const sinks = new Map<string, TestSink>();
  const failures: unknown[] = [];
  const opened: string[] = [];
  const counters = newDeliveryCounters();
  const sinkOf = (id: string) => {
    const sink = sinks.get(id) ?? testSink();
    sinks.set(id, sink);
    return sink;
  };
  const deliverer = new Deliverer({
    queues: lanes,
    openSink: async (target, { destinationId }) => {
      opened.push(target.webhook?.url ?? '');
      return sinkOf(destinationId);
    },
    random: () => random,
    now: () => performance.now(),
    counters,
    onFailure: (error) => void failures.push(error),
    settings: { pollMs: 50, drainMs: 100, ...settings },
  });
  deliverer.start();
  onTestFinished(() => deliverer.close());
  const texts = async (id: string, count: number) => {
    const events = written(count);
    await db.store(id, events);
    deliverer.wake();
    return events.map(idOf);
  };
  return { deliverer, sinkOf, counters, failures, opened, texts };
}

const ofLane = async (id: string, expected: object) => expect(await db.lane(id)).toMatchObject(expected);

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
  await until(() => ofLane(id, { delivered: 8n, leaseToken: null }));
  expect(sink.taken).toEqual(sent);
  expect(await db.batches(id)).toEqual([]);
  await ofLane(id, { state: 'OK', attempts: 0 });
  expect(counters).toMatchObject({ delivered: { webhook: 8 }, dead: { webhook: 0 }, requests: { webhook: asked } });
  expect(counters.failures.webhook.retry + counters.failures.webhook.config).toBe(asked - 8);
  expect(counters.lagMs).toBeLessThan(60_000);
});

test('what a target took in part is not sent again, and its rest comes before all else', async () => {
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
  await until(() => ofLane(id, { delivered: 8n }));
  const all = sink.requests[0] as string[];
  expect(all.slice(0, 6)).toEqual(some.flat().map(idOf));
  expect(sink.requests.slice(1).flat().slice(0, 2)).toEqual([all[0], all[4]]);
  expect([...sink.taken].sort()).toEqual([...some.flat().map(idOf), ...later].sort());
});

test('a poisoned event is a dead letter, and is delivered when it is retried and taken', async () => {
  const { sinkOf, texts, deliverer, counters } = start();
  const id = await db.destination();
  const sink = sinkOf(id);
  const poison = written(1);
  sink.answer = (events, signal) =>
    events.some((event) => event.id === poison.map(idOf)[0]) ? failing('split')(events, signal) : Promise.resolve([]);
  await db.store(id, [...written(5), ...poison, ...written(4)]);
  await texts(id, 3);
  await until(() => ofLane(id, { delivered: 12n }));
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

test('a destination that is dead for an hour costs no other anything, and its backlog arrives in order', async () => {
  const { sinkOf, texts } = start({ random: 0.5, settings: { pollMs: 10_000 } });
  const [dead, alive] = [await db.destination(), await db.destination()];
  sinkOf(dead).answer = failing('retry');
  const backlog: string[] = [];
  for (let minute = 2; minute <= 60; minute += 2) {
    db.clock.ms = minute * 60_000;
    if (minute % 4 === 0) backlog.push(...(await texts(dead, 2)));
    const ids = await texts(alive, 2);
    await until(() => ofLane(alive, { delivered: BigInt(minute), leaseToken: null }));
    expect(sinkOf(alive).taken.slice(-2)).toEqual(ids);
  }
  expect(sinkOf(alive).requests.flat(), 'each once').toHaveLength(60);
  await ofLane(alive, { attempts: 0, state: 'OK' });
  expect(sinkOf(dead).requests.length).toBeLessThan(25);
  await ofLane(dead, { state: 'RETRYING', delivered: 0n });
  sinkOf(dead).answer = async () => [];
  db.clock.ms += 15 * 60_000;
  const last = await texts(dead, 1);
  await until(() => ofLane(dead, { delivered: 31n, state: 'OK' }));
  expect(sinkOf(dead).taken).toEqual([...backlog, ...last]);
});

test('who was too slow for its lease settles nothing: the next one has', async () => {
  const slow = start({ settings: { pollMs: 10_000 } });
  const id = await db.destination();
  let answer = () => {};
  slow.sinkOf(id).answer = () => new Promise((resolve) => (answer = () => resolve([])));
  const ids = await slow.texts(id, 3);
  await until(() => expect(slow.sinkOf(id).requests).toHaveLength(1));
  db.clock.ms = 61_000;
  const quick = start();
  await until(() => ofLane(id, { delivered: 3n }));
  expect(quick.sinkOf(id).taken).toEqual(ids);
  const next = await quick.texts(id, 1);
  await until(() => ofLane(id, { delivered: 4n, leaseToken: null }));
  answer();
  await until(() => expect(slow.sinkOf(id).taken).toEqual(ids));
  await slow.deliverer.close();
  await ofLane(id, { delivered: 4n, state: 'OK' });
  expect(quick.sinkOf(id).taken).toEqual([...ids, ...next]);
});

test('what could not be settled is delivered again, under the same ids', async () => {
  const sql = (text: string) => db.prisma.$executeRawUnsafe(text);
  await sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`);
  onTestFinished(async () => void (await sql('DROP FUNCTION IF EXISTS refuse CASCADE')));
  await sql('CREATE TRIGGER refuse BEFORE DELETE ON event_batch FOR EACH ROW EXECUTE FUNCTION refuse()');
  const { sinkOf, texts, failures } = start();
  const id = await db.destination();
  const ids = await texts(id, 2);
  await until(() => expect(sinkOf(id).requests.length).toBeGreaterThan(1));
  await ofLane(id, { delivered: 0n });
  await sql('DROP FUNCTION refuse CASCADE');
  await until(() => ofLane(id, { delivered: 2n, leaseToken: null, state: 'OK' }));
  expect(new Set(sinkOf(id).requests.map(String))).toEqual(new Set([String(ids)]));
  expect(failures.map(String).join()).toContain('the disk is full');
});

test('the failure of a store is told once, until it has worked again', async () => {
  const lanes = destinationQueueStore(db.parts);
  let claims = 0;
  const claim: DestinationQueueStore['claim'] = async (leaseMs) => {
    claims++;
    if (claims < 4 || claims === 6) throw new Error(`away ${claims}`);
    return lanes.claim(leaseMs);
  };
  const { failures } = start({ lanes: { ...lanes, claim }, settings: { pollMs: 2 } });
  await until(() => expect(claims).toBeGreaterThan(6));
  expect(failures.map(String)).toEqual(['Error: away 1', 'Error: away 6']);
});

test('what is stored and is no event does not stop those behind it', async () => {
  const { sinkOf, texts } = start();
  const id = await db.destination();
  const [first = '', second = ''] = written(2);
  await db.store(id, [first, 'nonsense', second]);
  const body = new Uint8Array([0x1f, 1, 2, 3]);
  await db.prisma.eventBatch.create({ data: { destinationId: id, isTraffic: true, count: 9, bytes: 4, body } });
  const ids = await texts(id, 1);
  await until(() => ofLane(id, { delivered: 3n }));
  expect(sinkOf(id).taken).toEqual([idOf(first), idOf(second), ...ids]);
  expect(await db.letters(id)).toMatchObject([{ event: 'nonsense', errorCode: 'Unreadable' }, { event: 'HwECAw==' }]);
});

test('a target that cannot be opened, or refuses for reasons of its own, keeps its events', async () => {
  const { sinkOf, deliverer } = start({ random: 0.9, settings: { pollMs: 10_000 } });
  const [id, sealed] = [await db.destination(), await db.destination()];
  const secret = db.keys.seal('x', 'elsewhere');
  const target = { webhook: { url: 'https://x.example.com', signingSecret: secret } };
  await db.prisma.eventDestination.update({ where: { id: sealed }, data: { target } });
  sinkOf(id).answer = failing('config', 120_000);
  for (const each of [id, sealed]) await db.store(each, written(2));
  deliverer.wake();
  await until(() => ofLane(id, { state: 'FAILING', attempts: 1, lastError: { code: 'Testconfig' } }));
  await until(() => ofLane(sealed, { state: 'FAILING', lastError: { code: 'SecretsUnreadable' } }));
  const { nextAt } = await db.lane(id);
  expect(nextAt.getTime() - Date.now()).toBeGreaterThan(100_000);
  expect((await db.batches(id)).length + (await db.batches(sealed)).length).toBe(2);
});

test('another target has another sink, and the one before is closed', async () => {
  const { sinkOf, texts, opened } = start();
  const id = await db.destination();
  for (const delivered of [1n, 2n]) {
    await texts(id, 1);
    await until(() => ofLane(id, { delivered, leaseToken: null }));
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
  await until(() => ofLane(id, { delivered: 3n }));
  expect(opened).toEqual(['https://hooks.example.com', 'https://new.example.com']);
  expect(sinkOf(id).isClosed).toBe(true);
});

test('at the end requests have a moment, and leases are given back', async () => {
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
  await ofLane(hung, { leaseToken: null, state: 'OK', attempts: 0, delivered: 0n });
  await ofLane(quick, { leaseToken: null, state: 'OK', delivered: 1n });
  expect([hung, quick].map((id) => sinkOf(id).isClosed)).toEqual([true, true]);
  expect((await db.batches(quick)).map(({ count }) => count)).toEqual([1]);
});

test('no more lanes have their turn at once than may, and all have theirs', async () => {
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
  for (const id of ids) await until(() => ofLane(id, { delivered: 1n }));
  expect(most).toBeLessThanOrEqual(3);
});
