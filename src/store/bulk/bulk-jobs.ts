// The store of bulk jobs. A node takes up a job under a lease, by the database's clock; an object counts as done in the
// transaction that changes it, so that nothing is done twice even when two nodes think they have the job.

import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { BulkJob, Prisma } from '../generated/prisma/client.ts';

export type { BulkJob };

/** How long others leave a job alone whose node says nothing any more; milliseconds. */
const LEASE_MS = 30_000;
const KIND = 'bulkJob';

export interface BulkItem {
  objectId: string;
  before: Prisma.JsonValue;
}

/** How an object came out. */
export interface ItemOutcome {
  state: 'DONE' | 'SKIPPED';
  before?: Prisma.InputJsonValue;
}

export interface BulkJobStoreParts {
  prisma: PrismaClient;
  changes: Changes;
  nodeId: string;
  /** The wall clock, in milliseconds. */
  now(): number;
}

export class BulkJobStore {
  readonly #parts: BulkJobStoreParts;

  constructor(parts: BulkJobStoreParts) {
    this.#parts = parts;
  }

  /**
   * Takes up the oldest job that nobody runs, of an account that has none under way.
   * @returns null when there is none.
   */
  async take(): Promise<BulkJob | null> {
    const { prisma, nodeId, now } = this.#parts;
    const [taken] = await prisma.$queryRaw<{ id: string }[]>`
      UPDATE bulk_job SET state = 'RUNNING', node_id = ${nodeId}, epoch = epoch + 1,
        lease_until = now() + ${LEASE_MS} * interval '1 millisecond',
        started_at = coalesce(started_at, ${new Date(now())})
      WHERE id = (
        SELECT j.id FROM bulk_job j
        WHERE j.state IN ('QUEUED', 'RUNNING') AND NOT EXISTS (
          SELECT 1 FROM bulk_job o JOIN node n ON n.id = o.node_id AND n.lease_until > now()
          WHERE o.account_id = j.account_id AND o.state = 'RUNNING' AND o.lease_until > now())
        ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING id`;
    if (!taken) return null;
    const { id } = taken;
    await this.#announce(id);
    return prisma.bulkJob.findUnique({ where: { id } });
  }

  /** The next objects of a job that are not done. */
  pending({ id }: BulkJob, take: number): Promise<BulkItem[]> {
    const where = { jobId: id, state: 'PENDING' } as const;
    const select = { objectId: true, before: true };
    return this.#parts.prisma.bulkJobItem.findMany({ where, select, orderBy: { objectId: 'asc' }, take });
  }

  /** Keeps the lease, and tells how far the job is. @returns false when it has been cancelled, or another node has it. */
  async report({ id, nodeId, epoch }: BulkJob): Promise<boolean> {
    const { prisma } = this.#parts;
    const kept = await prisma.$executeRaw`
      UPDATE bulk_job SET lease_until = now() + ${LEASE_MS} * interval '1 millisecond'
      WHERE id = ${id} AND state = 'RUNNING' AND node_id = ${nodeId} AND epoch = ${epoch}`;
    await this.#count(id);
    await this.#announce(id);
    return kept > 0;
  }

  /** Says that a job has ended, if it has not been cancelled. */
  async finish({ id }: BulkJob): Promise<void> {
    const { prisma, now } = this.#parts;
    await this.#count(id);
    await prisma.$executeRaw`
      UPDATE bulk_job SET finished_at = ${new Date(now())}, lease_until = NULL, state = (CASE
        WHEN failed = 0 THEN 'SUCCEEDED' WHEN failed = total THEN 'FAILED' ELSE 'PARTLY_FAILED' END)::"BulkJobState"
      WHERE id = ${id} AND state = 'RUNNING'`;
    await this.#announce(id);
  }

  /** Leaves a job to whoever comes next. */
  async release({ id, nodeId, epoch }: BulkJob): Promise<void> {
    const where = { id, nodeId, epoch, state: 'RUNNING' } as const;
    await this.#parts.prisma.bulkJob.updateMany({ where, data: { leaseUntil: null } });
  }

  /** Notes that an object was refused. */
  async fail({ id: jobId }: BulkJob, objectId: string, reason: { code: string; message: string }): Promise<void> {
    const where = { jobId, objectId, state: 'PENDING' } as const;
    await this.#parts.prisma.bulkJobItem.updateMany({ where, data: { state: 'FAILED', ...reason } });
  }

  #count(id: string): Promise<number> {
    return this.#parts.prisma.$executeRaw`
      UPDATE bulk_job SET done = c.done, failed = c.failed, skipped = c.skipped
      FROM (SELECT count(*) FILTER (WHERE state = 'DONE')::int AS done,
        count(*) FILTER (WHERE state = 'FAILED')::int AS failed,
        count(*) FILTER (WHERE state = 'SKIPPED')::int AS skipped FROM bulk_job_item WHERE job_id = ${id}) AS c
      WHERE id = ${id}`;
  }

  async #announce(id: string): Promise<void> {
    const { prisma, changes } = this.#parts;
    const job = await prisma.bulkJob.findUnique({ where: { id }, select: { accountId: true } });
    if (job) await changes.publishHints([{ kind: KIND, action: 'UPDATED', id, accountId: job.accountId }]);
  }
}

/**
 * Takes an object that is not done, in the transaction that does it: nobody else does it meanwhile.
 * @returns false when it was done before, or the job was cancelled.
 */
export async function claimItem(db: Db, { id }: BulkJob, objectId: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM bulk_job_item i JOIN bulk_job j ON j.id = i.job_id
    WHERE i.job_id = ${id} AND i.object_id = ${objectId} AND i.state = 'PENDING' AND j.state = 'RUNNING'
    FOR UPDATE OF i`;
  return rows.length > 0;
}

/** Notes how a claimed object came out, in the same transaction. */
export async function settleItem(
  db: Db,
  { id: jobId }: BulkJob,
  objectId: string,
  outcome: ItemOutcome,
): Promise<void> {
  await db.bulkJobItem.update({
    where: { jobId_objectId: { jobId, objectId } },
    data: outcome,
    select: { jobId: true },
  });
}
