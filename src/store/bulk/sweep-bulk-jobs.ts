// Deletes bulk jobs that ended long ago.

import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';

const RETENTION_MS = 30 * 86_400_000;
/** Jobs that one sweep deletes. */
const JOBS_MAX = 100;

/** Deletes each with its objects, which may be many, in a transaction of its own. @param now the wall clock, in milliseconds. */
export async function sweepBulkJobs(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  const where = { finishedAt: { lt: new Date(now - RETENTION_MS) } };
  const jobs = await prisma.bulkJob.findMany({ where, select: { id: true, accountId: true }, take: JOBS_MAX });
  for (const { id, accountId } of jobs) {
    const { count } = await prisma.bulkJob.deleteMany({ where: { id } });
    if (count > 0) await changes.publishHints([{ kind: 'bulkJob', action: 'DELETED', id, accountId }]);
  }
}
