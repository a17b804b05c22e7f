// What traffic events ask of the store: who wants them, and a place to wait.

import { beforeEach, expect, test } from 'vitest';
import { packEvents } from '../../../src/events/batch.ts';
import { trafficStore } from '../../../src/store/events/traffic-store.ts';
import { newId } from '../../../src/store/ids.ts';
import { type QueueDatabase, queueDatabase, written } from './queue-database.ts';

let db: QueueDatabase;
beforeEach(async () => {
  db = await queueDatabase();
});

test('the sources are those of traffic events, with where they go', async () => {
  const store = trafficStore(db);
  const [first, second] = [await db.destination(), await db.destination()];
  const subscriptionId = newId('es');
  const { accountId } = db;
  const destinations = [second, first].map((destinationId, position) => ({ destinationId, position }));
  const traffic = {
    type: 'http_request_complete.v0',
    fields: ['http.request.method'],
    filter: 'true',
    sampleRate: 0.5,
  };
  await db.prisma.eventSubscription.create({
    data: {
      id: subscriptionId,
      accountId,
      sources: { create: [traffic, { type: 'domain_created.v0' }, { type: 'tcp_connection_closed.v0' }] },
      destinations: { create: destinations },
    },
  });
  const own = { subscriptionId, accountId, destinationIds: [second, first] };
  expect(await store.sources()).toEqual([
    { ...own, ...traffic },
    { ...own, type: 'tcp_connection_closed.v0', fields: [], filter: '', sampleRate: 1 },
  ]);
  await db.prisma.eventSubscription.delete({ where: { id: subscriptionId } });
});

test('changes of subscriptions and destinations, and gaps, notify the listener', () => {
  let heard = 0;
  const stop = trafficStore(db).onSourcesChange(() => void heard++);
  const { accountId } = db;
  const tell = (kind: string) => db.changes.publish([{ kind, action: 'UPDATED', id: 'x', accountId }]);
  tell('eventSubscription');
  tell('eventDestination');
  tell('eventDelivery');
  tell('credential');
  db.changes.reportGap();
  expect(heard).toBe(3);
  stop();
  tell('eventSubscription');
  db.changes.reportGap();
  expect(heard).toBe(3);
});

test('appended events wait, and drops before them are counted', async () => {
  const store = trafficStore(db);
  const id = await db.destination();
  const events = await packEvents(written(3, 'http_request_complete.v0'));
  const more = await packEvents(written(5, 'http_request_complete.v0'));
  await store.append(id, [events], 0);
  await store.append(id, [more, events], 12);
  const batch = { isTraffic: true, count: 3, bytes: events.body.length };
  expect(await db.batches(id)).toMatchObject([batch, { count: 5, bytes: more.body.length }, batch]);
  expect((await db.queue(id)).dropped).toBe(12n);
  const told = { kind: 'eventDelivery', action: 'CREATED', id, accountId: db.accountId };
  expect(db.told).toEqual([told, told]);
  expect((await db.queues.claim(1000))?.destinationId).toBe(id);
});

test('events for a deleted destination are discarded', async () => {
  const store = trafficStore(db);
  const id = await db.destination();
  await db.prisma.eventDestination.delete({ where: { id } });
  await store.append(id, [await packEvents(written(1))], 5);
  expect(await db.prisma.eventBatch.count()).toBe(0);
  expect(db.told).toEqual([]);
});
