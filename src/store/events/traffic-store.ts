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
      const ids = await changes.transaction(prisma, async (tx, announce) => {
        // The lock keeps the destination from being deleted before the batches are inserted.
        const [destination] = await tx.$queryRaw<{ accountId: string }[]>`
          SELECT account_id AS "accountId" FROM event_destination WHERE id = ${destinationId} FOR KEY SHARE`;
        if (!destination) return [];
        const rows = events.length > 0 ? await tx.$queryRaw<{ id: string }[]>(insertion(destinationId, events)) : [];
        if (dropped > 0)
          await tx.$executeRaw`
            UPDATE event_lane SET dropped = dropped + ${dropped} WHERE destination_id = ${destinationId}`;
        const action = events.length > 0 ? 'CREATED' : 'UPDATED';
        announce({ kind: 'eventDelivery', action, id: destinationId, ...destination });
        return rows.map(({ id }) => id);
      });
      for (const [place, { recent: batch }] of events.entries()) {
        const id = ids[place];
        if (id === undefined) batch?.forget();
        else if (batch) recent?.stored(destinationId, id, batch);
      }
    },
  };
}

function insertion(destinationId: string, events: readonly StorableEvents[]): Prisma.Sql {
  const rows = events.map(({ count, body }) => Prisma.sql`(${destinationId}, true, ${count}, ${body.length}, ${body})`);
  return Prisma.sql`
    INSERT INTO event_batch (destination_id, is_traffic, count, bytes, body) VALUES ${Prisma.join(rows)} RETURNING id::text`;
}
