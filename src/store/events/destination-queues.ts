// Lanes as the database keeps them. All times are the database's own, so that the nodes' clocks need not agree.

import { randomBytes } from 'node:crypto';
import type { DestinationQueueStore, LeasedQueue, StoredBatch } from '../../events/delivery/destination-queue.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import { type Clock, nowOf } from './clock.ts';
import { publishDeliveryChange, settleQueue } from './settle-queue.ts';
import { openTargetIfReadable } from './target.ts';

export interface DestinationQueueParts extends Clock {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  /** Who leases: when the node is gone, its leases are over too. Undefined: leases end only by themselves. */
  nodeId?: string;
}

/** How often it is told that a lane has delivered something; milliseconds. */
const TOLD_EVERY_MS = 1000;

interface ClaimedRow {
  destinationId: string;
  accountId: string;
  attempts: number;
  target: unknown;
}

export interface NodeQueueStore extends DestinationQueueStore {
  /** Ends the leases that this node took before it was started anew. To be called before the first claim. */
  recover(): Promise<void>;
}

export function destinationQueueStore(parts: DestinationQueueParts): NodeQueueStore {
  const { prisma, keys, nodeId = '' } = parts;
  /** Lanes of which it was told a moment ago, and whether there is more to tell when that is over. */
  const told = new Map<string, { hasMore: boolean }>();

  return {
    async recover() {
      if (nodeId === '') return;
      await prisma.$executeRaw`
        UPDATE event_lane SET lease_token = NULL, lease_until = NULL WHERE split_part(lease_token, ' ', 1) = ${nodeId}`;
    },

    async claim(leaseMs) {
      const token = `${nodeId} ${randomBytes(12).toString('base64url')}`;
      const now = nowOf(parts);
      // The destinations with something waiting are found by hopping over the index, from one to the next: there may be
      // many lanes with nothing to do, and one with very many batches. The target is read under a lock, so that it is
      // the one of now: a statement's own view may be older than the change that made the lane due.
      const [row] = await prisma.$queryRaw<ClaimedRow[]>`
        WITH RECURSIVE waiting AS (
          (SELECT destination_id FROM event_batch ORDER BY destination_id LIMIT 1)
          UNION ALL
          SELECT (SELECT b.destination_id FROM event_batch b WHERE b.destination_id > w.destination_id
            ORDER BY b.destination_id LIMIT 1) FROM waiting w WHERE w.destination_id IS NOT NULL
        ), due AS MATERIALIZED (
          SELECT l.destination_id, d.target FROM event_lane l JOIN event_destination d ON d.id = l.destination_id
          WHERE l.destination_id = ANY(ARRAY(SELECT destination_id FROM waiting))
          AND (l.lease_until IS NULL OR l.lease_until < ${now} OR (
            l.lease_token NOT LIKE ' %' AND NOT EXISTS (
              SELECT 1 FROM node n WHERE n.id = split_part(l.lease_token, ' ', 1) AND n.lease_until > now())))
          AND l.next_at <= ${now}
          ORDER BY l.next_at LIMIT 1 FOR UPDATE OF l SKIP LOCKED FOR SHARE OF d SKIP LOCKED
        )
        UPDATE event_lane l
        SET lease_token = ${token}, lease_until = ${now} + ${leaseMs} * interval '1 millisecond'
        FROM due WHERE l.destination_id = due.destination_id
        RETURNING l.destination_id AS "destinationId", l.account_id AS "accountId", l.attempts, due.target`;
      if (!row) return undefined;
      const { destinationId, accountId, attempts } = row;
      return {
        destinationId,
        accountId,
        token,
        attempts,
        target: openTargetIfReadable(keys, { ...row, id: destinationId }),
        fingerprint: print(row),
      };
    },

    read: ({ destinationId }, { batches, bytes }) =>
      prisma.$queryRaw<StoredBatch[]>`
        SELECT id::text, count, body FROM (
          SELECT id, count, body, sum(bytes) OVER (ORDER BY id) AS until, row_number() OVER (ORDER BY id) AS place
          FROM (
            SELECT id, count, bytes, body FROM event_batch WHERE destination_id = ${destinationId}
            ORDER BY id LIMIT ${batches}
          ) oldest
        ) counted
        WHERE until <= ${Math.round(bytes)} OR place = 1 ORDER BY counted.id`,

    settle: (lane, progress, verdict, leaseMs) =>
      settleQueue(parts, { queue: lane, progress, outcome: verdict, leaseMs }, isNews),
  };

  function isNews(lane: LeasedQueue): boolean {
    const { destinationId: id } = lane;
    const moment = told.get(id);
    if (moment) {
      moment.hasMore = true;
      return false;
    }
    const now = { hasMore: false };
    told.set(id, now);
    setTimeout(() => {
      told.delete(id);
      if (now.hasMore) void publishDeliveryChange(parts, lane);
    }, TOLD_EVERY_MS).unref();
    return true;
  }

  function print({ destinationId, target }: ClaimedRow): string {
    return keys.digest(`target of ${destinationId}: ${JSON.stringify(target)}`);
  }
}
