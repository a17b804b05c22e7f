// A destination that nothing ever reaches, so that its events can be read where they wait.

import { expect } from 'vitest';
import { eventTypes } from '../../src/api/resources/events/catalog.ts';
import { unpackEvents } from '../../src/events/batch.ts';
import '../../src/api/schema.ts';
import { newId } from '../../src/store/ids.ts';
import type { Owner, TestGateway } from '../support/gateway/gateway.ts';

/** An event as it is delivered. */
export interface Told {
  event_id: string;
  event_type: string;
  event_timestamp: string;
  account_id: string;
  principal: object | null;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  object: any;
}

export interface Waiting {
  destinationId: string;
  /** The types and events of each batch, in the order of delivery. */
  batches(): Promise<Told[][]>;
  /** All of them, or those of some types. */
  events(...types: string[]): Promise<Told[]>;
}

export const auditTypes = eventTypes()
  .filter((type) => type.class === 'audit')
  .map(({ name }) => name);

/** Has an account's events, of all audit types unless told otherwise, wait at a file that there is no place for. */
export async function waiting(
  { app: { prisma } }: Pick<TestGateway, 'app'>,
  { accountId, call }: Pick<Owner, 'accountId' | 'call'>,
  types: readonly string[] = auditTypes,
): Promise<Waiting> {
  const id = newId('ed');
  const target = { file: { name: 'nowhere' } };
  await prisma.eventDestination.create({
    data: { id, accountId, format: 'json', target, lane: { create: { accountId } } },
  });
  const sources = types.map((type) => ({ type }));
  const { status, text } = await call('POST', '/event_subscriptions', { sources, destination_ids: [id] });
  expect(status, text).toBe(201);
  await prisma.eventBatch.deleteMany({ where: { destinationId: id } }); // That of the subscription itself.
  const batches = () => batchesOf(prisma, id);
  return {
    destinationId: id,
    batches,
    events: async (...wanted) => {
      const all = (await batches()).flat();
      return wanted.length === 0 ? all : all.filter((event) => wanted.includes(event.event_type));
    },
  };
}

/** The events that wait for a destination, in the order of their delivery. */
export async function eventsOf({ app }: Pick<TestGateway, 'app'>, destinationId: string): Promise<Told[]> {
  return (await batchesOf(app.prisma, destinationId)).flat();
}

async function batchesOf(prisma: TestGateway['app']['prisma'], destinationId: string): Promise<Told[][]> {
  const rows = await prisma.eventBatch.findMany({ where: { destinationId }, orderBy: { id: 'asc' } });
  expect(rows.filter(({ isTraffic, bytes, body }) => isTraffic || bytes !== body.length)).toEqual([]);
  const read = await Promise.all(rows.map(({ body }) => unpackEvents(body)));
  expect(read.map(({ length }) => length)).toEqual(rows.map(({ count }) => count));
  return read.map((events) => events.map(({ text }) => JSON.parse(text) as Told));
}
