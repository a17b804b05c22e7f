// A database with destinations and their queues, for tests of how events are delivered.

import { randomBytes } from 'node:crypto';
import { readConfig } from '../../../src/config/config.ts';
import { packEvents } from '../../../src/events/batch.ts';
import { writeEvent } from '../../../src/events/event.ts';
import type { Target } from '../../../src/events/sinks/index.ts';
import type { EventName } from '../../../src/events/types.ts';
import type { WrittenEvent } from '../../../src/events/written-event.ts';
import { type Change, Changes } from '../../../src/store/changes/changes.ts';
import { openClient } from '../../../src/store/database/client.ts';
import { openDatabase } from '../../../src/store/database/open-database.ts';
import { destinationQueueStore } from '../../../src/store/events/destination-queues.ts';
import { sealTarget } from '../../../src/store/events/target.ts';
import { newId } from '../../../src/store/ids.ts';
import { deriveKeys } from '../../../src/store/keys/keys.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { root } from '../../support/root.ts';

let shared: ReturnType<typeof open> | undefined;

async function open() {
  const place = await newPlace();
  const { pool } = await openDatabase(readConfig(place.env, root), { onFatal: () => {} });
  return { prisma: openClient(pool), keys: deriveKeys(randomBytes(32)) };
}

export type QueueDatabase = Awaited<ReturnType<typeof queueDatabase>>;

const accountId = newId('ac');

/** The database without destinations, and functions that work on it. It is closed with the worker. */
export async function queueDatabase() {
  shared ??= open();
  const { prisma, keys } = await shared;
  await prisma.eventDestination.deleteMany();
  await prisma.account.upsert({ where: { id: accountId }, create: { id: accountId }, update: {} });
  const changes = new Changes();
  const told: Change[] = [];
  changes.listen((change) => void told.push(change));
  const clock = { ms: 0 };
  const parts = { prisma, changes, keys, skew: () => clock.ms };
  return {
    ...parts,
    parts,
    accountId,
    /** Milliseconds that are added to the database's time. */
    clock,
    /** The announced changes, in order. */
    told,
    queues: destinationQueueStore(parts),
    async destination(target: Target = { webhook: { url: 'https://hooks.example.com', signingSecret: 'hush' } }) {
      const id = newId('ed');
      const data = { id, accountId, format: 'json', target: sealTarget(keys, { id, accountId, target }) };
      await prisma.eventDestination.create({ data: { ...data, lane: { create: { accountId } } } });
      return id;
    },
    /** Stores one batch. */
    async store(destinationId: string, texts: readonly string[], more: { isTraffic?: boolean; createdAt?: Date } = {}) {
      const { count, body } = await packEvents(texts);
      const data = { destinationId, isTraffic: false, count, bytes: body.length, body: new Uint8Array(body), ...more };
      await prisma.eventBatch.create({ data });
    },
    queue: (destinationId: string) => prisma.eventLane.findUniqueOrThrow({ where: { destinationId } }),
    batches: (destinationId: string) =>
      prisma.eventBatch.findMany({ where: { destinationId }, orderBy: { id: 'asc' } }),
    letters: (destinationId: string) =>
      prisma.eventDeadLetter.findMany({ where: { destinationId }, orderBy: { id: 'asc' } }),
  };
}

/** Serialized events. */
export function written(count: number, type: EventName = 'domain_created.v0', object: object = {}): string[] {
  return Array.from({ length: count }, (_, n) =>
    writeEvent({ id: newId('ev'), type, at: Date.now(), accountId, principal: null, object: { n, ...object } }),
  );
}

export const idOf = (text: string) => JSON.parse(text).event_id as string;
export const idsOf = (events: readonly WrittenEvent[]) => events.map(({ id }) => id);
