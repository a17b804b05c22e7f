// What is done with figures when a bucket is over: endpoints that fail are found, short buckets are summed up, those of endpoints over a
// day, too, and old ones deleted.

import { BUCKET_MS } from '../../edge/metrics/traffic-stats-store.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { renewDays } from './endpoint-days.ts';
import { checkHealth } from './endpoint-health.ts';
import type { FailingSettings } from './failing-settings.ts';
import { rollUp } from './rollup.ts';
import { type BucketSeconds, RESOLUTIONS } from './traffic-rows.ts';
import { releaseTasks } from './traffic-task.ts';

/** How long after the end of a bucket it is looked at: nodes store it meanwhile. Milliseconds. */
const DELAY_MS = 2000;
const CHECK_MS = 1000;
/** Minutes are summed up once in so many buckets. */
const BUCKETS_PER_MINUTE = 6;

export interface TrafficHousekeepingParts {
  prisma: PrismaClient;
  changes: Changes;
  settings: FailingSettings;
  /** Names this process. */
  holder: string;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Called when it fails; it goes on with the next bucket. */
  onFailure(error: unknown): void;
}

/** Starts it. @returns a function that stops it, and resolves when nothing is under way. */
export function startTrafficHousekeeping(parts: TrafficHousekeepingParts): () => Promise<void> {
  const { prisma, holder, now, onFailure } = parts;
  let done = bucketOf(now());
  let doneMinute = minuteOf(done);
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    const bucket = bucketOf(now());
    if (running || bucket === done) return;
    done = bucket;
    const isNewMinute = minuteOf(bucket) !== doneMinute;
    doneMinute = minuteOf(bucket);
    running = run(parts, now(), isNewMinute)
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
  }, CHECK_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
    await releaseTasks(prisma, holder).catch(onFailure);
  };
}

async function run(
  { prisma, changes, settings, holder }: TrafficHousekeepingParts,
  now: number,
  isNewMinute: boolean,
): Promise<void> {
  await checkHealth({ prisma, changes }, settings, holder, now);
  if (!isNewMinute) return;
  const done = await rollUp(prisma, holder, now);
  if (!done) return;
  await renewDays(prisma, holder, now);
  await deleteOld(prisma, now, { 10: done.minutes, 60: done.hours, 3600: now });
}

/** Deletes buckets that are too old. @param summedUp until when those of each resolution are summed up: others are kept. */
async function deleteOld(prisma: PrismaClient, now: number, summedUp: Record<BucketSeconds, number>): Promise<void> {
  for (const { seconds, keptMs } of RESOLUTIONS) {
    const until = Math.min(now - keptMs, summedUp[seconds]);
    await prisma.trafficStat.deleteMany({ where: { resolution: seconds, at: { lt: new Date(until) } } });
  }
}

function minuteOf(bucket: number): number {
  return Math.floor(bucket / BUCKETS_PER_MINUTE);
}

function bucketOf(time: number): number {
  return Math.floor((time - DELAY_MS) / BUCKET_MS);
}
