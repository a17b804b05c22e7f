// What has waited for too long, and what is too much, is dropped and counted.

import { BATCHES_MAX } from '../../events/delivery/deliver-batches.ts';
import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Announce } from './audit.ts';
import { type Clock, nowOf } from './clock.ts';

const LETTER_MAX_AGE_MS = 14 * 24 * 3_600_000;
/** Dead letters of one destination. */
const LETTERS_MAX = 10_000;

export interface RetentionSettings {
  /** Milliseconds that events may wait. */
  trafficMaxAge: number;
  auditMaxAge: number;
  /** Bytes, as they are stored, that may wait for one destination. */
  eventBacklogBytes: number;
}

/** Events that were dropped, by the reason. */
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
 * Drops events that have waited for too long; of a destination for which too much waits the oldest traffic events, and
 * only then the oldest audit events; dead letters after 14 days, and all but the newest 10,000 of a destination. What is
 * being sent is left alone until it is settled.
 */
export function sweepEvents(parts: RetentionParts, settings: RetentionSettings): Promise<SweptEvents> {
  const { prisma, changes } = parts;
  return retryOnConflict(() =>
    changes.transaction(prisma, async (tx, announce) => {
      const tooMuch = Prisma.sql`
        SELECT destination_id FROM event_batch GROUP BY destination_id HAVING sum(bytes) > ${settings.eventBacklogBytes}`;
      // Nobody settles while a lane is locked. One that is being settled just now is swept the next time.
      const lanes = await tx.$queryRaw<{ id: string }[]>`
        SELECT destination_id AS id FROM event_lane
        WHERE destination_id IN (
          SELECT destination_id FROM event_batch WHERE ${isTooOld(parts, settings)} UNION ${tooMuch})
        ORDER BY destination_id FOR UPDATE SKIP LOCKED`;
      const ids = lanes.map(({ id }) => id);
      const old = ids.length > 0 ? await drop(tx, ids, tooOld(parts, ids, settings)) : [];
      const over = ids.length > 0 ? await drop(tx, ids, overCap(parts, ids, settings.eventBacklogBytes)) : [];
      const letters = await dropLetters(tx, parts);
      tell(announce, [...old, ...over, ...letters]);
      return {
        trafficTooOld: sum(old, 'traffic'),
        auditTooOld: sum(old, 'audit'),
        trafficOverCap: sum(over, 'traffic'),
        auditOverCap: sum(over, 'audit'),
        deadLetters: sum(letters, 'audit'),
      };
    }),
  );
}

function isTooOld(clock: Clock, { trafficMaxAge, auditMaxAge }: RetentionSettings): Prisma.Sql {
  const age = Prisma.sql`CASE WHEN is_traffic THEN ${trafficMaxAge}::float8 ELSE ${auditMaxAge}::float8 END`;
  // The shorter age alone can be looked up.
  const least = Prisma.sql`${Math.min(trafficMaxAge, auditMaxAge)} * interval '1 millisecond'`;
  return Prisma.sql`created_at < ${nowOf(clock)} - ${least}
    AND created_at < ${nowOf(clock)} - ${age} * interval '1 millisecond'`;
}

/** Batches of lanes that may be dropped: not the first ones of a lane that is leased, which may be on their way. */
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

/** Deletes batches and counts their events with their lanes, which are locked. */
function drop(tx: Db, ids: string[], batches: Prisma.Sql): Promise<Dropped[]> {
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

function dropLetters(tx: Db, clock: Clock): Promise<Dropped[]> {
  return tx.$queryRaw<Dropped[]>`
    WITH gone AS (
      DELETE FROM event_dead_letter WHERE id IN (
        SELECT id FROM (
          SELECT id, created_at, row_number() OVER (PARTITION BY destination_id ORDER BY id DESC) AS place
          FROM event_dead_letter
        ) placed
        WHERE place > ${LETTERS_MAX} OR created_at < ${nowOf(clock)} - ${LETTER_MAX_AGE_MS} * interval '1 millisecond'
      ) RETURNING destination_id
    ), counted AS (SELECT destination_id, count(*)::int AS letters FROM gone GROUP BY destination_id)
    UPDATE event_lane l SET dropped = dropped + letters FROM counted WHERE l.destination_id = counted.destination_id
    RETURNING l.destination_id AS "destinationId", l.account_id AS "accountId", 0 AS traffic, letters AS audit`;
}

function tell(announce: Announce, dropped: readonly Dropped[]): void {
  const accounts = new Map(dropped.map(({ destinationId, accountId }) => [destinationId, accountId]));
  for (const [id, accountId] of accounts) announce({ kind: 'eventDelivery', action: 'UPDATED', id, accountId });
}

function sum(rows: readonly Dropped[], kind: 'audit' | 'traffic'): number {
  return rows.reduce((total, row) => total + row[kind], 0);
}
