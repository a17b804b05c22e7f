// The queues of destinations in the database (table `event_lane`). All times are the database's, so that the clocks of nodes
// need not agree.

import { randomBytes } from 'node:crypto';
import type { DestinationQueueStore, LeasedQueue, StoredBatch } from '../../events/delivery/destination-queue.ts';
import type { RecentBatch, RecentBatches } from '../../events/recent-batches.ts';
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
  /** The batches that this process has stored last. */
  recent?: RecentBatches;
  /** The node that leases: when it is lost, its leases end with it. Undefined: leases only expire. */
  nodeId?: string;
}

const NONE: ReadonlyMap<string, RecentBatch> = new Map();

/** The shortest time between two announcements that a queue has delivered something, in milliseconds. */
const PUBLISH_INTERVAL_MS = 1000;

interface ClaimedRow {
  destinationId: string;
  accountId: string;
  attempts: number;
  target: unknown;
}

export interface NodeQueueStore extends DestinationQueueStore {
  /** Ends the leases that this node held before it was restarted. It must be called before the first claim. */
  recover(): Promise<void>;
}

export function destinationQueueStore(parts: DestinationQueueParts): NodeQueueStore {
  const { prisma, keys, recent, nodeId = '' } = parts;
  /** Queues that were announced within the last interval, and whether they must be announced again at its end. */
  const published = new Map<string, { hasMore: boolean }>();

  return {
    async recover() {
      if (nodeId === '') return;
      await prisma.$executeRaw`
        UPDATE event_lane SET lease_token = NULL, lease_until = NULL WHERE split_part(lease_token, ' ', 1) = ${nodeId}`;
    },

    async claim(leaseMs) {
      const token = `${nodeId} ${randomBytes(12).toString('base64url')}`;
      const now = nowOf(parts);
      // Destinations with waiting batches are found by a loose index scan, from one to the next: there may be many empty
      // queues, and one with very many batches. The target is read under a lock, so that it is the current one: the
      // snapshot of the statement may be older than the change that made the queue due.
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
        fingerprint: fingerprintOf(row),
      };
    },

    async read({ destinationId }, { batches, bytes }) {
      const known = recent?.of(destinationId) ?? NONE;
      const rows = await prisma.$queryRaw<StoredBatch[]>`
        SELECT id::text, count, CASE WHEN id = ANY(${[...known.keys()].map(BigInt)}::bigint[]) THEN '' ELSE body END AS body FROM (
          SELECT id, count, body, sum(bytes) OVER (ORDER BY id) AS until, row_number() OVER (ORDER BY id) AS place
          FROM (
            SELECT id, count, bytes, body FROM event_batch WHERE destination_id = ${destinationId}
            ORDER BY id LIMIT ${batches}
          ) oldest
        ) counted
        WHERE until <= ${Math.round(bytes)} OR place = 1 ORDER BY counted.id`;
      for (const row of rows) {
        row.recent = known.get(row.id);
        if (row.recent) recent?.taken(destinationId, row.id);
      }
      return rows;
    },

    settle: (queue, progress, outcome, leaseMs) =>
      settleQueue(parts, { queue, progress, outcome, leaseMs }, shouldPublish),
  };

  function shouldPublish(queue: LeasedQueue): boolean {
    const { destinationId: id } = queue;
    const pending = published.get(id);
    if (pending) {
      pending.hasMore = true;
      return false;
    }
    const entry = { hasMore: false };
    published.set(id, entry);
    setTimeout(() => {
      published.delete(id);
      if (entry.hasMore) void publishDeliveryChange(parts, queue);
    }, PUBLISH_INTERVAL_MS).unref();
    return true;
  }

  function fingerprintOf({ destinationId, target }: ClaimedRow): string {
    return keys.digest(`target of ${destinationId}: ${JSON.stringify(target)}`);
  }
}
