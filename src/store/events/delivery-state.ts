// The state of delivery to each destination, which the API shows.

import type { Reason } from '../../events/sinks/sink.ts';
import type { Db } from '../database/client.ts';
import type { LaneState } from '../generated/prisma/enums.ts';

export interface DestinationDelivery {
  state: LaneState;
  /** Failures since the last success. */
  attempts: number;
  /** Nothing is sent before then. */
  nextAt: Date;
  lastDeliveredAt: Date | null;
  /** The last failure, even if delivery has worked since. */
  lastError: (Reason & { at: Date }) | null;
  /** Counts of events since the destination was created. */
  delivered: number;
  dropped: number;
  waitingEvents: number;
  /** The stored size of the waiting batches. */
  waitingBytes: number;
  oldestWaitingAt: Date | null;
  deadLetters: number;
}

interface Row extends Omit<DestinationDelivery, 'lastError'> {
  destinationId: string;
  /** Only `settleQueue` writes it. */
  lastError: Reason | null;
  lastErrorAt: Date | null;
}

/**
 * The delivery states of an account's destinations, by id. Unknown ids and those of other accounts are left out. It is one
 * statement, because events settled between two statements would be counted twice or not at all.
 */
export async function deliveryStates(
  db: Db,
  accountId: string,
  destinationIds: readonly string[],
): Promise<Map<string, DestinationDelivery>> {
  const rows = await db.$queryRaw<Row[]>`
    SELECT l.destination_id AS "destinationId", l.state::text, l.attempts, l.next_at AS "nextAt",
      l.last_delivered_at AS "lastDeliveredAt", l.last_error AS "lastError", l.last_error_at AS "lastErrorAt",
      l.delivered::float8, l.dropped::float8, waiting.*, (
        SELECT count(*)::float8 FROM event_dead_letter d WHERE d.destination_id = l.destination_id
      ) AS "deadLetters"
    FROM event_lane l CROSS JOIN LATERAL (
      SELECT coalesce(sum(b.count), 0)::float8 AS "waitingEvents", coalesce(sum(b.bytes), 0)::float8 AS "waitingBytes",
        min(b.created_at) AS "oldestWaitingAt"
      FROM event_batch b WHERE b.destination_id = l.destination_id
    ) waiting
    WHERE l.account_id = ${accountId} AND l.destination_id = ANY(${[...destinationIds]})`;
  return new Map(
    rows.map(({ destinationId, lastError, lastErrorAt, ...state }) => [
      destinationId,
      { ...state, lastError: lastError && lastErrorAt && { ...lastError, at: lastErrorAt } },
    ]),
  );
}
