// What became of the events of a lane, written down in one transaction by whoever has leased it.

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
 * @param isNews whether it has to be told that something was delivered, which may happen often.
 * @returns false when the lease is another's by now: nothing is written then.
 */
export async function settleQueue(
  parts: Parts,
  settlement: Settlement,
  isNews: (lane: LeasedQueue) => boolean,
): Promise<boolean> {
  const { queue: lane, progress, outcome: verdict } = settlement;
  const isPlain = progress.dead.length === 0 && progress.shortened.length === 0;
  const states = await retryOnConflict(() =>
    isPlain ? settlePlainly(parts, settlement) : settleInSteps(parts, settlement),
  );
  if (!states) return false;
  const isImportant = states.after !== states.before || verdict.kind === 'backoff' || progress.dead.length > 0;
  if (isImportant || (progress.delivered > 0 && isNews(lane))) await publishDeliveryChange(parts, lane);
  return true;
}

/** Tells that there is something to be seen of a lane, to whoever watches: it is in the database already. */
export function publishDeliveryChange(
  { changes, prisma }: Parts,
  { destinationId: id, accountId }: LeasedQueue,
): Promise<void> {
  // If it cannot be told now, whoever watches is told the next time.
  return changes
    .publishHints(prisma, [{ kind: 'eventDelivery', action: 'UPDATED', id, accountId }])
    .catch(() => undefined);
}

interface States {
  before: string;
  after: string;
}

/** What happens nearly always, in one statement. @returns undefined when the lease is another's by now. */
async function settlePlainly(parts: Parts, settlement: Settlement): Promise<States | undefined> {
  const { queue: lane, progress } = settlement;
  const swept = Prisma.sql`${progress.delivered}::int - (SELECT coalesce(sum(count), 0) FROM gone)`;
  const [states] = await parts.prisma.$queryRaw<States[]>`
    WITH lane AS MATERIALIZED (
      SELECT destination_id, state FROM event_lane
      WHERE destination_id = ${lane.destinationId} AND lease_token = ${lane.token} FOR UPDATE
    ), gone AS (
      DELETE FROM event_batch WHERE id = ANY(${progress.done.map(BigInt)}::bigint[]) AND EXISTS (SELECT 1 FROM lane)
      RETURNING count
    )
    UPDATE event_lane l SET ${Prisma.join(assignments(parts, settlement, swept), ', ')}
    FROM lane WHERE l.destination_id = lane.destination_id
    RETURNING lane.state::text AS before, l.state::text AS after`;
  return states;
}

/** With dead letters, or with batches of which something is left. */
function settleInSteps(parts: Parts, settlement: Settlement): Promise<States | undefined> {
  const { queue: lane, progress } = settlement;
  const { destinationId } = lane;
  return parts.prisma.$transaction(async (tx) => {
    // Everybody locks in this order: destination, lane, batches. Dead letters need the destination.
    if (progress.dead.length > 0)
      await tx.$queryRaw`SELECT id FROM event_destination WHERE id = ${destinationId} FOR KEY SHARE`;
    const [before] = await tx.$queryRaw<{ state: string }[]>`
      SELECT state::text FROM event_lane
      WHERE destination_id = ${destinationId} AND lease_token = ${lane.token} FOR UPDATE`;
    if (!before) return undefined;
    const swept = await removeBatches(tx, progress);
    await storeDeadLetters(tx, lane, progress.dead, nowOf(parts));
    const [after] = await tx.$queryRaw<[{ state: string }]>`
      UPDATE event_lane l SET ${Prisma.join(assignments(parts, settlement, Prisma.sql`${swept}::int`), ', ')}
      WHERE destination_id = ${destinationId} RETURNING state::text`;
    return { before: before.state, after: after.state };
  });
}

/** @returns how many of the events that were sent had been counted as dropped while they were on their way. */
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

/** @param swept how many of the events that were sent had been counted as dropped while they were on their way. */
function assignments(
  parts: Parts,
  { progress, outcome: verdict, leaseMs }: Settlement,
  swept: Prisma.Sql,
): Prisma.Sql[] {
  const now = nowOf(parts);
  const after = (ms: number) => Prisma.sql`${now} + ${Math.round(ms)} * interval '1 millisecond'`;
  const all: Prisma.Sql[] = [];
  if (progress.delivered > 0)
    all.push(Prisma.sql`delivered = delivered + ${progress.delivered}`, Prisma.sql`last_delivered_at = ${now}`);
  all.push(Prisma.sql`dropped = greatest(0, dropped - greatest(0, ${swept}))`);
  if (verdict.kind === 'continue') all.push(Prisma.sql`lease_until = ${after(leaseMs)}`);
  else all.push(Prisma.sql`lease_token = NULL`, Prisma.sql`lease_until = NULL`);
  if (verdict.kind === 'backoff') {
    const { state, reason, ms } = verdict;
    const attempts = progress.delivered > 0 ? Prisma.sql`1` : Prisma.sql`attempts + 1`;
    all.push(
      Prisma.sql`state = ${state}::"LaneState"`,
      Prisma.sql`attempts = ${attempts}`,
      Prisma.sql`next_at = ${after(ms)}`,
      Prisma.sql`last_error = ${JSON.stringify({ code: reason.code, message: reason.message })}::jsonb`,
      Prisma.sql`last_error_at = ${now}`,
    );
  } else {
    // Others that are due have their turn first.
    if (verdict.kind === 'release') all.push(Prisma.sql`next_at = ${now}`);
    // Whoever takes or refuses events is there.
    if (progress.delivered + progress.dead.length > 0)
      all.push(Prisma.sql`state = 'OK'::"LaneState"`, Prisma.sql`attempts = 0`);
  }
  return all;
}
