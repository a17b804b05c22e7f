// Stores the result of a delivery from a queue, in one transaction, for the node that holds its lease.

import type { DeliveryProgress, LeasedQueue, QueueOutcome } from '../../events/delivery/destination-queue.ts';
import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { retryOnConflict } from '../database/retry-on-conflict.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { type Clock, nowOf } from './clock.ts';
import { storeDeadLetters } from './dead-letters.ts';

export interface Settlement {
  queue: LeasedQueue;
  progress: DeliveryProgress;
  outcome: QueueOutcome;
  leaseMs: number;
}

type Parts = Clock & { prisma: PrismaClient; changes: Changes };

/**
 * @param shouldPublish whether to announce now that events were delivered; called for successes, which may be frequent.
 * @returns false when another node has the lease by now. Nothing is stored then.
 */
export async function settleQueue(
  parts: Parts,
  settlement: Settlement,
  shouldPublish: (queue: LeasedQueue) => boolean,
): Promise<boolean> {
  const { queue, progress, outcome } = settlement;
  const isOneStatement = progress.dead.length === 0 && progress.shortened.length === 0;
  const states = await retryOnConflict(() =>
    isOneStatement ? settleInOneStatement(parts, settlement) : settleInTransaction(parts, settlement),
  );
  if (!states) return false;
  const isImportant = states.after !== states.before || outcome.kind === 'backoff' || progress.dead.length > 0;
  if (isImportant || (progress.delivered > 0 && shouldPublish(queue))) await publishDeliveryChange(parts, queue);
  return true;
}

/** Announces to those who watch a destination that the state of its delivery, already stored, has changed. */
export function publishDeliveryChange(
  { changes }: Pick<Parts, 'changes'>,
  { destinationId: id, accountId }: LeasedQueue,
): Promise<void> {
  return changes.publishHints([{ kind: 'eventDelivery', action: 'UPDATED', id, accountId }]);
}

interface QueueStates {
  before: string;
  after: string;
}

/** The usual case, in one statement. @returns undefined when another node has the lease by now. */
async function settleInOneStatement(parts: Parts, settlement: Settlement): Promise<QueueStates | undefined> {
  const { queue, progress } = settlement;
  const alreadyDropped = Prisma.sql`${progress.delivered}::int - (SELECT coalesce(sum(count), 0) FROM gone)`;
  const [states] = await parts.prisma.$queryRaw<QueueStates[]>`
    WITH lane AS MATERIALIZED (
      SELECT destination_id, state FROM event_lane
      WHERE destination_id = ${queue.destinationId} AND lease_token = ${queue.token} FOR UPDATE
    ), gone AS (
      DELETE FROM event_batch WHERE id = ANY(${progress.done.map(BigInt)}::bigint[]) AND EXISTS (SELECT 1 FROM lane)
      RETURNING count
    )
    UPDATE event_lane l SET ${Prisma.join(assignments(parts, settlement, alreadyDropped), ', ')}
    FROM lane WHERE l.destination_id = lane.destination_id
    RETURNING lane.state::text AS before, l.state::text AS after`;
  return states;
}

/** The case with dead letters, or with batches of which some events remain. */
function settleInTransaction(parts: Parts, settlement: Settlement): Promise<QueueStates | undefined> {
  const { queue, progress } = settlement;
  const { destinationId } = queue;
  return parts.prisma.$transaction(async (tx) => {
    // All transactions lock in this order, so that none deadlocks: destination, queue, batches. Dead letters refer to the destination.
    if (progress.dead.length > 0)
      await tx.$queryRaw`SELECT id FROM event_destination WHERE id = ${destinationId} FOR KEY SHARE`;
    const [before] = await tx.$queryRaw<{ state: string }[]>`
      SELECT state::text FROM event_lane
      WHERE destination_id = ${destinationId} AND lease_token = ${queue.token} FOR UPDATE`;
    if (!before) return undefined;
    const alreadyDropped = await removeBatches(tx, progress);
    await storeDeadLetters(tx, queue, progress.dead, nowOf(parts));
    const [after] = await tx.$queryRaw<[{ state: string }]>`
      UPDATE event_lane l SET ${Prisma.join(assignments(parts, settlement, Prisma.sql`${alreadyDropped}::int`), ', ')}
      WHERE destination_id = ${destinationId} RETURNING state::text`;
    return { before: before.state, after: after.state };
  });
}

/** @returns how many of the sent events had been counted as dropped while they were on their way. */
async function removeBatches(tx: Db, { done, shortened, dead, delivered }: DeliveryProgress): Promise<number> {
  let found = 0;
  if (done.length > 0) {
    const rows = await tx.$queryRaw<{ count: number }[]>`
      DELETE FROM event_batch WHERE id = ANY(${done.map(BigInt)}) RETURNING count`;
    for (const { count } of rows) found += count;
  }
  for (const { id, remaining: left } of shortened) {
    const rows = await tx.$queryRaw<{ count: number }[]>`
      UPDATE event_batch b SET count = ${left.count}, bytes = ${left.body.length}, body = ${left.body}
      FROM (SELECT id, count FROM event_batch WHERE id = ${BigInt(id)} FOR UPDATE) old
      WHERE b.id = old.id RETURNING old.count`;
    for (const { count } of rows) found += count - left.count;
  }
  return delivered + dead.length - found;
}

/** @param alreadyDropped how many of the sent events had been counted as dropped while they were on their way. */
function assignments(
  parts: Parts,
  { progress, outcome, leaseMs }: Settlement,
  alreadyDropped: Prisma.Sql,
): Prisma.Sql[] {
  const now = nowOf(parts);
  const after = (ms: number) => Prisma.sql`${now} + ${Math.round(ms)} * interval '1 millisecond'`;
  const columns: Prisma.Sql[] = [];
  if (progress.delivered > 0)
    columns.push(Prisma.sql`delivered = delivered + ${progress.delivered}`, Prisma.sql`last_delivered_at = ${now}`);
  columns.push(Prisma.sql`dropped = greatest(0, dropped - greatest(0, ${alreadyDropped}))`);
  if (outcome.kind === 'continue') columns.push(Prisma.sql`lease_until = ${after(leaseMs)}`);
  else columns.push(Prisma.sql`lease_token = NULL`, Prisma.sql`lease_until = NULL`);
  if (outcome.kind === 'backoff') {
    const { state, reason, ms } = outcome;
    const attempts = progress.delivered > 0 ? Prisma.sql`1` : Prisma.sql`attempts + 1`;
    columns.push(
      Prisma.sql`state = ${state}::"LaneState"`,
      Prisma.sql`attempts = ${attempts}`,
      Prisma.sql`next_at = ${after(ms)}`,
      Prisma.sql`last_error = ${JSON.stringify({ code: reason.code, message: reason.message })}::jsonb`,
      Prisma.sql`last_error_at = ${now}`,
    );
  } else {
    // Other queues that are due come first.
    if (outcome.kind === 'release') columns.push(Prisma.sql`next_at = ${now}`);
    // A target that accepts or rejects events is reachable.
    if (progress.delivered + progress.dead.length > 0)
      columns.push(Prisma.sql`state = 'OK'::"LaneState"`, Prisma.sql`attempts = 0`);
  }
  return columns;
}
