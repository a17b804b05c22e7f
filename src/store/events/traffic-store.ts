// Reads the subscriptions to traffic events, and stores traffic events for their destinations.

import type { RecentBatches } from '../../events/recent-batches.ts';
import type { StorableEvents, TrafficSource, TrafficStore } from '../../events/traffic/store.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

export interface TrafficStoreParts {
  prisma: PrismaClient;
  changes: Changes;
  /** Where delivery finds what was stored last. Undefined: it reads it. */
  recent?: RecentBatches;
}

const TYPES = ['http_request_complete.v0', 'tcp_connection_closed.v0'] as const satisfies TrafficSource['type'][];

/** The kinds of objects that sources are made of. */
const KINDS = new Set(['eventSubscription', 'eventDestination']);

export function trafficStore({ prisma, changes, recent }: TrafficStoreParts): TrafficStore {
  return {
    async sources() {
      const rows = await prisma.eventSource.findMany({
        where: { type: { in: [...TYPES] } },
        orderBy: [{ subscriptionId: 'asc' }, { type: 'asc' }],
        omit: { position: true },
        include: {
          subscription: {
            select: {
              accountId: true,
              destinations: { select: { destinationId: true }, orderBy: { position: 'asc' } },
            },
          },
        },
      });
      return rows.map(({ subscription: { accountId, destinations }, ...row }) => ({
        ...row,
        type: row.type as TrafficSource['type'], // The query selects only these types.
        accountId,
        destinationIds: destinations.map(({ destinationId }) => destinationId),
      }));
    },

    onSourcesChange(listener) {
      const stops = [
        changes.listen(({ kind }) => {
          if (KINDS.has(kind)) listener();
        }),
        changes.onGap(listener),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },

    async append(destinationId, events, dropped) {
      const [stored] = await prisma.$queryRaw<StoredEvents[]>(storage(destinationId, events, dropped));
      for (const [place, { recent: batch }] of events.entries()) {
        const id = stored?.ids?.[place];
        if (id === undefined) batch?.forget();
        else if (batch) recent?.stored(destinationId, id, batch);
      }
      if (!stored) return;
      const action = events.length > 0 ? 'CREATED' : 'UPDATED';
      await changes.publishHints([{ kind: 'eventDelivery', action, id: destinationId, accountId: stored.accountId }]);
    },
  };
}

interface StoredEvents {
  accountId: string;
  /** Of the batches, in their order; null when there were none. */
  ids: string[] | null;
}

/** One statement, because it runs every second for each destination. It returns no row when the destination was deleted. */
function storage(destinationId: string, events: readonly StorableEvents[], dropped: number): Prisma.Sql {
  const parts = [
    // The lock keeps the destination from being deleted before the batches are inserted.
    Prisma.sql`destination AS MATERIALIZED (
      SELECT id, account_id FROM event_destination WHERE id = ${destinationId} FOR KEY SHARE
    )`,
  ];
  if (events.length > 0) parts.push(insertion(events));
  if (dropped > 0)
    parts.push(Prisma.sql`lane AS (
      UPDATE event_lane SET dropped = dropped + ${dropped} FROM destination WHERE destination_id = destination.id
    )`);
  const ids = events.length > 0 ? Prisma.sql`(SELECT array_agg(id::text ORDER BY id) FROM batch)` : Prisma.sql`NULL`;
  return Prisma.sql`WITH ${Prisma.join(parts)} SELECT account_id AS "accountId", ${ids} AS ids FROM destination`;
}

function insertion(events: readonly StorableEvents[]): Prisma.Sql {
  const rows = events.map(
    ({ count, body }, place) => Prisma.sql`(${place}::int, ${count}::int, ${body.length}::int, ${body}::bytea)`,
  );
  return Prisma.sql`batch AS (
    INSERT INTO event_batch (destination_id, is_traffic, count, bytes, body)
    SELECT destination.id, true, packed.count, packed.bytes, packed.body
    FROM destination, (VALUES ${Prisma.join(rows)}) AS packed (place, count, bytes, body) ORDER BY packed.place
    RETURNING id
  )`;
}
