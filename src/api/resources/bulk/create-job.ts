// Writes down a bulk job with the ids of its objects, in one transaction.

import type { Prisma } from '../../../store/generated/prisma/client.ts';
import { newId } from '../../../store/ids.ts';
import { type Collection, registeredCollections } from '../../collections/collection.ts';
import { ID_MEMBER } from '../../collections/members.ts';
import { scopeOf, tableOf } from '../../collections/nodes.ts';
import { selectRows } from '../../collections/selection.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

export const IDS_MAX = 10_000;
export const OBJECTS_MAX = 100_000;
/** Jobs of one account that wait or are under way. */
const OPEN_MAX = 20;
/** Ids that are read and written in one statement. */
const BATCH = 10_000;

/** A job that is about to be written. */
export interface NewJob {
  list: string;
  kind: string;
  action: string;
  /** Left out: those that filter and search leave, or those of the job that is undone. */
  ids?: readonly string[];
  filter: string;
  search: string;
  ownerId: string | null;
  setLabels: unknown;
  removeLabels: string[];
  /** How many objects there have to be. */
  expectedCount?: number;
  undoOfId?: string;
}

/** @throws {ApiError} when the account has too many jobs, or there are too many objects or others than expected. */
export function createJob(context: Context, job: NewJob): Promise<{ id: string }> {
  return context.act(async (db, announce) => {
    const { accountId, caller, client, operationId, baseUrl, app } = context;
    const within = { db, accountId };
    await checkRoom(within);
    const id = newId('bj');
    const { list, kind, action, filter, search, ownerId, removeLabels, undoOfId } = job;
    const setLabels = job.setLabels as Prisma.InputJsonObject;
    await db.bulkJob.create({
      data: {
        ...{ id, accountId, list, kind, action, filter, search, ownerId, setLabels, removeLabels, undoOfId },
        ...{ actorId: caller.ownerId, actorSubject: caller.subject, keyId: caller.keyId, sessionId: caller.sessionId },
        ...{ ip: client.ip, userAgent: client.userAgent, operationId, baseUrl, createdAt: new Date(app.now()) },
      },
    });
    const total = await writeItems(within, context, id, job);
    if (job.expectedCount !== undefined && job.expectedCount !== total)
      throw new ApiError('bulkCountDiffers', { count: total, expected: job.expectedCount });
    await db.bulkJob.update({ where: { id }, data: { total } });
    announce({ kind: 'bulkJob', action: 'CREATED', id, accountId });
    const after = { list, action, total, filter, search, owner_id: ownerId, set_labels: setLabels };
    const particulars = { ...after, remove_labels: removeLabels, undo_of: undoOfId ?? null };
    const act = { action: 'BULK_JOB_STARTED', kind: 'bulkJob', objectId: id, after: particulars } as const;
    return { result: { id }, acts: [act] };
  });
}

type Within = Pick<Context, 'db' | 'accountId'>;

/** One at a time, so that an account stays within its limit. */
async function checkRoom({ db, accountId }: Within): Promise<void> {
  await db.$queryRaw`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`;
  const open = await db.bulkJob.count({ where: { accountId, state: { in: ['QUEUED', 'RUNNING'] } } });
  if (open >= OPEN_MAX) throw new ApiError('tooManyBulkJobs', { max: OPEN_MAX, seconds: 10 });
}

/** @returns how many objects the job has. */
async function writeItems({ db, accountId }: Within, context: Context, id: string, job: NewJob): Promise<number> {
  const { undoOfId, ids } = job;
  if (undoOfId !== undefined)
    return db.$executeRaw`
      INSERT INTO bulk_job_item (job_id, object_id, before)
      SELECT ${id}, object_id, before FROM bulk_job_item WHERE job_id = ${undoOfId} AND state = 'DONE'`;
  const write = (objectIds: readonly string[]) =>
    db.$executeRaw`INSERT INTO bulk_job_item (job_id, object_id) SELECT ${id}, unnest(${objectIds}::text[])`;
  if (ids) return write(ids);

  const list = registeredCollections().find(({ plural }) => plural === job.list) as Collection;
  const { where } = await selectRows(job, list.members ?? ID_MEMBER, context);
  const scope = { accountId, ...(await scopeOf(list, context)) };
  let total = 0;
  for (let last = ''; ; ) {
    const rows = (await tableOf(list, db).findMany({
      where: { AND: [scope, where, { id: { gt: last } }] },
      select: { id: true },
      orderBy: { id: 'asc' },
      take: BATCH,
    })) as { id: string }[];
    total += rows.length;
    if (total > OBJECTS_MAX) throw new ApiError('tooManyBulkObjects', { max: OBJECTS_MAX });
    if (rows.length > 0) await write(rows.map((row) => row.id));
    last = rows.at(-1)?.id ?? '';
    if (rows.length < BATCH) return total;
  }
}
