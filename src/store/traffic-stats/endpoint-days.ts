// What passed through each endpoint in the last 24 hours, as one row: lists are filtered and ordered by it.

import type { Db, PrismaClient } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { REQUESTS } from './traffic-rows.ts';
import { claimTask, noteDone, readTask } from './traffic-task.ts';

const HOUR_MS = 3_600_000;
/** The hours before the one that is under way: together they are at most a day. */
const WHOLE_HOURS = 23;

/** The columns of a row, of rows of `traffic_stat t` that are grouped by their endpoint. */
const SUMS = Prisma.sql`
  t.subject_id, t.account_id, ${REQUESTS} + sum(t.connections)::float8, sum(t.bytes_in + t.bytes_out)::float8`;

const OF_ENDPOINTS = Prisma.sql`t.subject_id LIKE 'ep\\_%'`;

/**
 * Adds a minute, in the transaction that sums it up: that happens once.
 * @param at when it begins, in milliseconds since 1970.
 */
export async function addMinute(db: Db, at: number): Promise<void> {
  await db.$executeRaw`
    INSERT INTO endpoint_day AS d (endpoint_id, account_id, requests, bytes)
    SELECT ${SUMS} FROM traffic_stat t WHERE t.resolution = 60 AND t.at = ${new Date(at)} AND ${OF_ENDPOINTS}
    GROUP BY t.subject_id, t.account_id
    ON CONFLICT (endpoint_id) DO UPDATE SET requests = d.requests + excluded.requests, bytes = d.bytes + excluded.bytes`;
}

/**
 * Leaves out what is longer ago, once in each hour, where this process holds the lease. Where there is nothing, nothing is written.
 * @param now in milliseconds since 1970.
 */
export async function renewDays(prisma: PrismaClient, holder: string, now: number): Promise<void> {
  const hour = now - (now % HOUR_MS);
  const { until, isOthers } = await readTask(prisma, 'days', holder);
  if (isOthers || until >= hour) return;
  const start = Prisma.sql`${new Date(hour - WHOLE_HOURS * HOUR_MS)}::timestamptz`;
  const [found] = await prisma.$queryRaw<{ isAnything: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM endpoint_day) OR EXISTS (
      SELECT 1 FROM traffic_stat t WHERE t.resolution IN (60, 3600) AND t.at >= ${start}) AS "isAnything"`;
  if (!found?.isAnything) return;
  const done = await claimTask(prisma, 'days', holder);
  if (done === undefined || done >= hour) return;
  await prisma.$transaction(async (tx) => {
    if (!(await noteDone(tx, 'days', holder, hour))) return;
    // The lock keeps minutes from being summed up meanwhile: each is added once, here or there.
    await tx.$queryRaw`SELECT until FROM traffic_task WHERE name = 'minutes' FOR SHARE`;
    await tx.endpointDay.deleteMany();
    await tx.$executeRaw`
      INSERT INTO endpoint_day (endpoint_id, account_id, requests, bytes)
      SELECT ${SUMS} FROM traffic_stat t WHERE ${OF_ENDPOINTS} AND ((t.resolution = 3600 AND t.at >= ${start})
        OR (t.resolution = 60 AND t.at >= greatest(${start},
          coalesce((SELECT until FROM traffic_task WHERE name = 'hours'), 'epoch'))))
      GROUP BY t.subject_id, t.account_id`;
  });
}
