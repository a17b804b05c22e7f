// Reads figures: of what was summed up already the long buckets, and of the time since then the short ones, so that nothing counts twice.

import { BUCKET_MS } from '../../edge/metrics/traffic-stats-store.ts';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { mergeRows, type TrafficSum } from './merge-rows.ts';
import { type BucketSeconds, REQUESTS, ROW_COLUMNS, type TrafficRow } from './traffic-rows.ts';

/** A time, in milliseconds since 1970, and the longest buckets that may be read: it has to begin and end with one of them. */
export interface TrafficRange {
  from: number;
  to: number;
  step: BucketSeconds;
}

/**
 * The figures of subjects of an account.
 * @returns of each subject that has any, the sum of each step by the start of that.
 */
export async function readTraffic(
  db: Db,
  accountId: string,
  subjectIds: readonly string[],
  range: TrafficRange,
): Promise<Map<string, Map<number, TrafficSum>>> {
  const rows = await db.$queryRaw<TrafficRow[]>`
    SELECT ${ROW_COLUMNS} FROM traffic_stat t
    WHERE t.subject_id = ANY(${[...subjectIds]}) AND t.account_id = ${accountId} AND ${within(range)}`;
  const stepMs = range.step * 1000;
  const groups = new Map<string, Map<number, TrafficRow[]>>();
  for (const row of rows) {
    const ofSubject = groups.get(row.subjectId) ?? new Map<number, TrafficRow[]>();
    groups.set(row.subjectId, ofSubject);
    const start = row.at - (row.at % stepMs);
    const ofStep = ofSubject.get(start);
    if (ofStep) ofStep.push(row);
    else ofSubject.set(start, [row]);
  }
  return new Map(
    [...groups].map(([subjectId, ofSubject]) => [
      subjectId,
      new Map([...ofSubject].map(([start, group]) => [start, mergeRows(group)])),
    ]),
  );
}

/** What endpoints are ranked by. */
export type TrafficOrder = 'requests' | 'failures' | 'slowest';

const RANKS: Record<TrafficOrder, Prisma.Sql> = {
  requests: REQUESTS,
  failures: Prisma.sql`sum(t.failures)::float8`,
  slowest: Prisma.sql`sum(t.duration_ms) / nullif(${REQUESTS}, 0)`,
};

/**
 * The endpoints of an account with the most of something, the first before all. Only those that are there now.
 * @param orders what they are ranked by: all together cost hardly more than one, as each row of the time is read once.
 */
export async function topEndpoints(
  db: Db,
  accountId: string,
  orders: readonly TrafficOrder[],
  range: TrafficRange,
  count: number,
): Promise<Map<TrafficOrder, string[]>> {
  const ranks = Prisma.join(orders.map((order) => Prisma.sql`${RANKS[order]} AS ${Prisma.raw(order)}`));
  const tops = orders.map((order) => {
    const rank = Prisma.raw(`ranked.${order}`);
    // Each endpoint is looked up once, not for each of its rows: that takes half the time.
    return Prisma.sql`(
      SELECT ${order} AS "order", ranked.id, ${rank} AS rank FROM ranked
      WHERE ${rank} > 0 AND EXISTS (SELECT 1 FROM endpoint e WHERE e.id = ranked.id)
      ORDER BY ${rank} DESC, ranked.id DESC LIMIT ${count})`;
  });
  const rows = await db.$queryRaw<{ order: TrafficOrder; id: string }[]>`
    WITH ranked AS MATERIALIZED (
      SELECT t.subject_id AS id, ${ranks} FROM traffic_stat t
      WHERE t.account_id = ${accountId} AND t.subject_id LIKE 'ep\\_%' AND ${within(range)}
      GROUP BY t.subject_id
    )
    SELECT "order", id FROM (${Prisma.join(tops, ' UNION ALL ')}) top ORDER BY rank DESC, id DESC`;
  return new Map(orders.map((order) => [order, rows.filter((row) => row.order === order).map(({ id }) => id)]));
}

/** Requests of endpoints and how many of them failed, in the last so many milliseconds as far as they are counted. */
export async function recentFailures(
  db: Db,
  accountId: string,
  endpointIds: readonly string[],
  window: { from: number; to: number },
): Promise<Map<string, { requests: number; failures: number }>> {
  const rows = await db.$queryRaw<{ id: string; requests: number; failures: number }[]>`
    SELECT t.subject_id AS id, ${REQUESTS} AS "requests", sum(t.failures)::float8 AS "failures" FROM traffic_stat t
    WHERE t.subject_id = ANY(${[...endpointIds]}) AND t.account_id = ${accountId} AND t.resolution = 10
      AND t.at >= ${new Date(window.from)} AND t.at < ${new Date(window.to)}
    GROUP BY t.subject_id`;
  return new Map(rows.map(({ id, requests, failures }) => [id, { requests, failures }]));
}

/** The last whole buckets of a time. */
export function lastBuckets(now: number, ms: number): { from: number; to: number } {
  const to = now - (now % BUCKET_MS);
  return { from: to - Math.ceil(ms / BUCKET_MS) * BUCKET_MS, to };
}

const doneUntil = (task: 'minutes' | 'hours') =>
  Prisma.sql`coalesce((SELECT until FROM traffic_task WHERE name = ${task}), 'epoch')`;

/** The rows of a time, of `traffic_stat t`: each time in the longest buckets that there are of it. */
function within({ from, to, step }: TrafficRange): Prisma.Sql {
  const start = Prisma.sql`${new Date(from)}::timestamptz`;
  const end = Prisma.sql`${new Date(to)}::timestamptz`;
  if (step === 10) return Prisma.sql`t.resolution = 10 AND t.at >= ${start} AND t.at < ${end}`;
  const recent = Prisma.sql`t.resolution = 10 AND t.at >= greatest(${start}, ${doneUntil('minutes')}) AND t.at < ${end}`;
  if (step === 60)
    return Prisma.sql`(${recent} OR (t.resolution = 60 AND t.at >= ${start} AND t.at < least(${end}, ${doneUntil('minutes')})))`;
  return Prisma.sql`(${recent}
    OR (t.resolution = 60 AND t.at >= greatest(${start}, ${doneUntil('hours')}) AND t.at < least(${end}, ${doneUntil('minutes')}))
    OR (t.resolution = 3600 AND t.at >= ${start} AND t.at < least(${end}, ${doneUntil('hours')})))`;
}
