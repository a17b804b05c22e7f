// Sums up short buckets into longer ones: 10 seconds into minutes, minutes into hours. Each longer bucket is made in one transaction,
// which also notes that it is done, so that a process may die at any time.

import { encodeMerged } from '../../edge/metrics/duration-sketch.ts';
import type { TrafficDelta } from '../../edge/metrics/traffic-stats-store.ts';
import type { PrismaClient } from '../database/client.ts';
import { addMinute } from './endpoint-days.ts';
import { mergeRows } from './merge-rows.ts';
import { type BucketSeconds, insertion, ROW_COLUMNS, type TrafficRow } from './traffic-rows.ts';
import { claimTask, noteDone, readTask, type TrafficTaskName } from './traffic-task.ts';

/** How long after its end a bucket is summed up, in milliseconds: what a node could not store in time comes later. */
const DELAY_MS = 5 * 60_000;
/** How many rows are read at once. */
const PAGE_ROWS = 5000;
/** How many longer buckets are made in one run at most: the rest is for the next one. */
const BUCKETS_MAX = 60;

interface Level {
  task: TrafficTaskName;
  from: BucketSeconds;
  to: BucketSeconds;
}

const MINUTES: Level = { task: 'minutes', from: 10, to: 60 };
const HOURS: Level = { task: 'hours', from: 60, to: 3600 };

/**
 * Sums up what is old enough, where no other process does it. Where there is nothing, nothing is written.
 * @param now in milliseconds since 1970.
 * @returns until when there are minutes and hours; undefined when another process sums up.
 */
export async function rollUp(
  prisma: PrismaClient,
  holder: string,
  now: number,
): Promise<{ minutes: number; hours: number } | undefined> {
  const minutes = await advance(prisma, MINUTES, holder, startOf(now - DELAY_MS, MINUTES.to));
  if (minutes === undefined) return undefined;
  const hours = await advance(prisma, HOURS, holder, startOf(minutes, HOURS.to));
  return hours === undefined ? undefined : { minutes, hours };
}

/** @returns until when it is done; undefined when another process does it. */
async function advance(
  prisma: PrismaClient,
  level: Level,
  holder: string,
  target: number,
): Promise<number | undefined> {
  const { until, isOthers } = await readTask(prisma, level.task, holder);
  if (isOthers) return undefined;
  let done = until;
  for (let made = 0; made < BUCKETS_MAX; made++) {
    const first = await firstRow(prisma, level.from, done, target);
    if (first === undefined) break;
    if ((await claimTask(prisma, level.task, holder)) !== done) return undefined;
    const end = await makeBucket(prisma, level, holder, startOf(first, level.to));
    if (end === undefined) break;
    done = end;
  }
  return done;
}

/** The start of the first bucket in a time. */
async function firstRow(prisma: PrismaClient, resolution: BucketSeconds, from: number, to: number) {
  const where = { resolution, at: { gte: new Date(from), lt: new Date(to) } };
  const first = await prisma.trafficStat.findFirst({ where, orderBy: { at: 'asc' }, select: { at: true } });
  return first?.at.getTime();
}

/** @returns the end of the bucket that was made; undefined when rows came meanwhile, and the next run tries it again. */
async function makeBucket(prisma: PrismaClient, level: Level, holder: string, at: number): Promise<number | undefined> {
  const end = at + level.to * 1000;
  const of = { resolution: level.from, at: { gte: new Date(at), lt: new Date(end) } };
  const { deltas, rows } = await sums(prisma, level.from, at, end);
  const isMade = await prisma
    .$transaction(async (tx) => {
      if (!(await noteDone(tx, level.task, holder, end))) return false;
      // From here on no row is added. One that has come since the rows were read is not in the sums.
      if ((await tx.trafficStat.count({ where: of })) !== rows) throw new ChangedMeanwhile();
      if (deltas.length > 0) await tx.$executeRaw(insertion({ resolution: level.to, at, writer: '' }, deltas));
      if (level === MINUTES) await addMinute(tx, at);
      return true;
    })
    .catch((error) => {
      if (error instanceof ChangedMeanwhile) return false;
      throw error;
    });
  return isMade ? end : undefined;
}

class ChangedMeanwhile extends Error {}

/** The sums of all subjects, and of how many rows they are. */
async function sums(
  prisma: PrismaClient,
  resolution: BucketSeconds,
  from: number,
  to: number,
): Promise<{ deltas: TrafficDelta[]; rows: number }> {
  const deltas: TrafficDelta[] = [];
  let rows = 0;
  for (let after = ''; ; ) {
    const page = await prisma.$queryRaw<TrafficRow[]>`
      SELECT ${ROW_COLUMNS} FROM traffic_stat t
      WHERE t.resolution = ${resolution} AND t.at >= ${new Date(from)} AND t.at < ${new Date(to)}
        AND t.subject_id > ${after}
      ORDER BY t.subject_id LIMIT ${PAGE_ROWS}`;
    const isLast = page.length < PAGE_ROWS;
    // The rows of the last subject may go on in the next page.
    const lastId = page.at(-1)?.subjectId;
    const whole = isLast ? page : page.filter(({ subjectId }) => subjectId !== lastId);
    rows += whole.length;
    for (const of of bySubject(whole)) deltas.push(sumOf(of));
    if (isLast) return { deltas, rows };
    after = whole.at(-1)?.subjectId ?? after;
  }
}

/** Rows in the order of their subjects, each subject's together. */
function bySubject(rows: readonly TrafficRow[]): TrafficRow[][] {
  const groups: TrafficRow[][] = [];
  for (const row of rows) {
    const group = groups.at(-1);
    if (group?.[0]?.subjectId === row.subjectId) group.push(row);
    else groups.push([row]);
  }
  return groups;
}

function sumOf(rows: readonly TrafficRow[]): TrafficDelta {
  const { durations, firstBytes, responses, ...sum } = mergeRows(rows);
  const [{ subjectId, accountId }] = rows as [TrafficRow];
  return {
    ...sum,
    subjectId,
    accountId,
    responses: [...responses],
    durations: encodeMerged(durations),
    firstBytes: encodeMerged(firstBytes),
  };
}

function startOf(time: number, seconds: number): number {
  return time - (time % (seconds * 1000));
}
