// Retention: events that are too old, or exceed the backlog limit of their destination, are dropped and counted.

import { BATCHES_MAX } from '../../events/delivery/deliver-batches.ts';
import type { Announce, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Clock, nowOf } from './clock.ts';

const DEAD_LETTER_MAX_AGE_MS = 14 * 24 * 3_600_000;
/** The most dead letters of one destination. */
const DEAD_LETTERS_MAX = 10_000;

export interface RetentionSettings {
  /** How long events may wait, in milliseconds. */
  trafficMaxAge: number;
  auditMaxAge: number;
  /** The most stored bytes that may wait for one destination. */
  eventBacklogBytes: number;
}

/** How many events were dropped, by reason. */
export interface SweptEvents {
  trafficTooOld: number;
  auditTooOld: number;
  trafficOverCap: number;
  auditOverCap: number;
  deadLetters: number;
}

interface Dropped {
  destinationId: string;
  accountId: string;
  audit: number;
  traffic: number;
}

export interface RetentionParts extends Clock {
  prisma: PrismaClient;
  changes: Changes;
}

/**
 * Drops events that have waited for too long. Of a destination above its backlog limit it drops the oldest traffic events, and
 * only then the oldest audit events. Dead letters are dropped after 14 days, and all but the newest 10,000 of a destination.
 * Events that may be on their way to the target are not dropped before they are settled.
 */
export function sweepEvents(parts: RetentionParts, settings: RetentionSettings): Promise<SweptEvents> {
  const { prisma, changes } = parts;
  return retryOnConflict(() =>
    changes.transaction(prisma, async (tx, announce) => {
      const tooMuch = Prisma.sql`
        SELECT destination_id FROM event_batch GROUP BY destination_id HAVING sum(bytes) > ${settings.eventBacklogBytes}`;
      // While a queue is locked, nobody settles it. A queue that is being settled right now is swept the next time.
      const queues = await tx.$queryRaw<{ id: string }[]>`
        SELECT destination_id AS id FROM event_lane
        WHERE destination_id IN (
          SELECT destination_id FROM event_batch WHERE ${isTooOld(parts, settings)} UNION ${tooMuch})
        ORDER BY destination_id FOR UPDATE SKIP LOCKED`;
      const ids = queues.map(({ id }) => id);
      const expired = ids.length > 0 ? await dropBatches(tx, ids, tooOld(parts, ids, settings)) : [];
      const excess = ids.length > 0 ? await dropBatches(tx, ids, overCap(parts, ids, settings.eventBacklogBytes)) : [];
      const deadLetters = await dropDeadLetters(tx, parts);
      announceDrops(announce, [...expired, ...excess, ...deadLetters]);
      return {
        trafficTooOld: sum(expired, 'traffic'),
        auditTooOld: sum(expired, 'audit'),
        trafficOverCap: sum(excess, 'traffic'),
        auditOverCap: sum(excess, 'audit'),
        deadLetters: sum(deadLetters, 'audit'),
      };
    }),
  );
}

function isTooOld(clock: Clock, { trafficMaxAge, auditMaxAge }: RetentionSettings): Prisma.Sql {
  const age = Prisma.sql`CASE WHEN is_traffic THEN ${trafficMaxAge}::float8 ELSE ${auditMaxAge}::float8 END`;
  // Only a comparison with a single age can use the index, so the shorter one comes first.
  const least = Prisma.sql`${Math.min(trafficMaxAge, auditMaxAge)} * interval '1 millisecond'`;
  return Prisma.sql`created_at < ${nowOf(clock)} - ${least}
    AND created_at < ${nowOf(clock)} - ${age} * interval '1 millisecond'`;
}

/** Batches that may be dropped: all but the first ones of a leased queue, which may be on their way to the target. */
function droppable(clock: Clock, ids: string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT placed.* FROM (
      SELECT id, destination_id, is_traffic, bytes, created_at,
        row_number() OVER (PARTITION BY destination_id ORDER BY id) AS place,
        sum(bytes) OVER (PARTITION BY destination_id) AS waiting
      FROM event_batch WHERE destination_id = ANY(${ids})
    ) placed JOIN event_lane USING (destination_id)
    WHERE place > ${BATCHES_MAX} OR lease_until IS NULL OR lease_until < ${nowOf(clock)}`;
}

function tooOld(clock: Clock, ids: string[], settings: RetentionSettings): Prisma.Sql {
  return Prisma.sql`SELECT id FROM (${droppable(clock, ids)}) droppable WHERE ${isTooOld(clock, settings)}`;
}

function overCap(clock: Clock, ids: string[], cap: number): Prisma.Sql {
  return Prisma.sql`
    SELECT id FROM (
      SELECT id, waiting, sum(bytes) OVER (PARTITION BY destination_id ORDER BY is_traffic DESC, id) - bytes AS before
      FROM (${droppable(clock, ids)}) droppable
    ) ranked WHERE before < waiting - ${cap}`;
}

/** Deletes batches and adds their events to the counts of their queues, which are locked. */
function dropBatches(tx: Db, ids: string[], batches: Prisma.Sql): Promise<Dropped[]> {
  return tx.$queryRaw<Dropped[]>`
    WITH gone AS (
      DELETE FROM event_batch WHERE id IN (${batches}) RETURNING destination_id, count, is_traffic
    ), counted AS (
      SELECT destination_id, coalesce(sum(count) FILTER (WHERE is_traffic), 0)::int AS traffic,
        coalesce(sum(count) FILTER (WHERE NOT is_traffic), 0)::int AS audit
      FROM gone GROUP BY destination_id
    )
    UPDATE event_lane l SET dropped = dropped + traffic + audit FROM counted
    WHERE l.destination_id = counted.destination_id AND l.destination_id = ANY(${ids})
    RETURNING l.destination_id AS "destinationId", l.account_id AS "accountId", traffic, audit`;
}

function dropDeadLetters(tx: Db, clock: Clock): Promise<Dropped[]> {
  return tx.$queryRaw<Dropped[]>`
    WITH gone AS (
      DELETE FROM event_dead_letter WHERE id IN (
        SELECT id FROM (
          SELECT id, created_at, row_number() OVER (PARTITION BY destination_id ORDER BY id DESC) AS place
          FROM event_dead_letter
        ) placed
        WHERE place > ${DEAD_LETTERS_MAX} OR created_at < ${nowOf(clock)} - ${DEAD_LETTER_MAX_AGE_MS} * interval '1 millisecond'
      ) RETURNING destination_id
    ), counted AS (SELECT destination_id, count(*)::int AS letters FROM gone GROUP BY destination_id)
    UPDATE event_lane l SET dropped = dropped + letters FROM counted WHERE l.destination_id = counted.destination_id
    RETURNING l.destination_id AS "destinationId", l.account_id AS "accountId", 0 AS traffic, letters AS audit`;
}

function announceDrops(announce: Announce, dropped: readonly Dropped[]): void {
  const accounts = new Map(dropped.map(({ destinationId, accountId }) => [destinationId, accountId]));
  for (const [id, accountId] of accounts) announce({ kind: 'eventDelivery', action: 'UPDATED', id, accountId });
}

function sum(rows: readonly Dropped[], kind: 'audit' | 'traffic'): number {
  return rows.reduce((total, row) => total + row[kind], 0);
}
