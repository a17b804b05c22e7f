// Traffic events from a report to the rows of a real database.

import { expect, onTestFinished, test } from 'vitest';
import { unpackEvents } from '../../../src/events/batch.ts';
import { EventBuffer } from '../../../src/events/traffic/buffer.ts';
import { trafficCounters } from '../../../src/events/traffic/counters.ts';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import { TrafficSubscribers } from '../../../src/events/traffic/subscribers.ts';
import { TrafficEvents } from '../../../src/events/traffic/traffic-events.ts';
import { trafficStore } from '../../../src/store/events/traffic-store.ts';
import { newId } from '../../../src/store/ids.ts';
import { type QueueDatabase, queueDatabase } from '../../store/queues/queue-database.ts';
import { requestReport } from './support.ts';

async function pipeline(db: QueueDatabase, maxBytes = 2 ** 26) {
  const store = trafficStore(db);
  const counters = trafficCounters();
  const audience = new TrafficSubscribers({ store, objects: trafficObjects, onFailure: fail });
  const stopFollowing = db.changes.follow(() => audience.refresh());
  const buffer = new EventBuffer({ store, maxBytes, counters, onFailure: fail, random: Math.random });
  const recorder = new TrafficEvents({
    ...{ subscribers: audience, buffer, counters },
    newEventId: () => newId('ev'),
    random: Math.random,
    time: Date.now,
    onFailure: fail,
  });
  return {
    recorder,
    counters,
    flush: () => {
      recorder.flush();
      return buffer.flush();
    },
    visit: (target: string, status: number) => {
      const { request, response } = requestReport();
      recorder.request(
        requestReport({
          accountId: db.accountId,
          request: { ...request, target },
          response: response && { ...response, status },
        }),
      );
    },
    stored: async (destinationId: string) => {
      const batches = await db.batches(destinationId);
      return (await Promise.all(batches.map(({ body }) => unpackEvents(body))))
        .flat()
        .map(({ text }) => JSON.parse(text));
    },
    close() {
      stopFollowing();
      audience.close();
      buffer.close();
    },
  };
}

/** A subscription, known everywhere when it is there, and gone with the test. */
async function subscribe({ prisma, changes, accountId }: QueueDatabase, destinationIds: string[], source: object) {
  const id = newId('es');
  onTestFinished(async () => void (await prisma.eventSubscription.deleteMany({ where: { id } })));
  const destinations = { create: destinationIds.map((destinationId, position) => ({ destinationId, position })) };
  const sources = { create: [{ type: 'http_request_complete.v0', ...source }] };
  await changes.transaction(prisma, async (tx, announce) => {
    await tx.eventSubscription.create({ data: { id, accountId, sources, destinations } });
    announce({ kind: 'eventSubscription', action: 'CREATED', id, accountId });
  });
}

test('from reports to the rows of a queue: from the moment that a subscription is there, selected, filtered, in order', async () => {
  const db = await queueDatabase();
  const { recorder, flush, counters, visit, stored, close } = await pipeline(db);
  expect(recorder.wantsRequests(db.accountId)).toBe(false);
  const [first, second] = [await db.destination(), await db.destination()];
  await subscribe(db, [first, second], {
    fields: ['http.request.url.path'],
    filter: 'ev.http.response.status_code >= 500',
  });
  expect(recorder.wantsRequests(db.accountId)).toBe(true);
  for (let n = 0; n < 1200; n++) visit(`/${n}`, n % 2 === 0 ? 500 : 200);
  await flush();

  const paths = Array.from({ length: 600 }, (_, n) => ({ http: { request: { url: { path: `/${2 * n}` } } } }));
  const events = await stored(first);
  expect(events.map(({ object }) => object)).toEqual(paths);
  expect(await stored(second)).toEqual(events);
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(600);
  expect((await db.batches(first)).map(({ count, isTraffic }) => ({ count, isTraffic }))).toEqual([
    { count: 500, isTraffic: true },
    { count: 100, isTraffic: true },
  ]);
  expect(counters).toMatchObject({ reported: 1200, filteredOut: 600, accepted: 1200, appended: 1200 });
  close();
});

test('what there was no room for is shown with its destination; one that is gone is no trouble', async () => {
  const db = await queueDatabase();
  const { flush, counters, visit, close } = await pipeline(db, 10_000);
  const [kept, gone] = [await db.destination(), await db.destination()];
  await subscribe(db, [kept], { filter: "ev.http.request.url.path == '/kept'" });
  await subscribe(db, [gone], { filter: "ev.http.request.url.path == '/gone'" });
  for (let n = 0; n < 50; n++) visit('/kept', 200);
  await flush();
  const { dropped } = await db.queue(kept);
  expect(Number(dropped)).toBe(counters.dropped.buffer);
  expect(counters.accepted).toBe(50);
  expect(counters.appended + counters.dropped.buffer).toBe(50);

  visit('/gone', 200);
  await db.prisma.subscriptionDestination.deleteMany({ where: { destinationId: gone } });
  await db.prisma.eventDestination.delete({ where: { id: gone } });
  await flush();
  expect(counters).toMatchObject({ waiting: { events: 0, bytes: 0 }, failures: 0 });
  close();
});

function fail(error: unknown): never {
  throw error;
}
