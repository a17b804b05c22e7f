// Bulk jobs: listed, watched, started, ended and undone. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { BulkActionType } from '../../collections/bulk-operations.ts';
import { collection } from '../../collections/collection.ts';
import { asStored, choice, ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { givesNew, givesObject, mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import { BulkJob, BulkJobStateType, undoSelect, whyNotUndoable } from './bulk-job-type.ts';
import { createJob, IDS_MAX, OBJECTS_MAX } from './create-job.ts';
import { readJobInput } from './job-input.ts';

/** Members see their own jobs, admins all. */
const seenBy = ({ caller }: Context) => (caller.isAdmin ? {} : { actorId: caller.ownerId });

export const bulkJobs = collection({
  kind: 'bulkJob',
  prefix: 'bj',
  path: '/bulk_jobs',
  single: 'bulkJob',
  plural: 'bulkJobs',
  typeName: 'BulkJob',
  ref: BulkJob,
  members: {
    ...ID_MEMBER,
    list: text('list'),
    action: choice('action', BulkActionType, asStored('DELETE', 'CHANGE_OWNER', 'CHANGE_LABELS')),
    state: choice(
      'state',
      BulkJobStateType,
      asStored('QUEUED', 'RUNNING', 'SUCCEEDED', 'PARTLY_FAILED', 'FAILED', 'CANCELLED'),
    ),
    actor_id: id('actorId'),
    created_at: time('createdAt', { isOrdered: false }),
    finished_at: time('finishedAt', { isNullable: true, isOrdered: false }),
  },
  table: (db) => db.bulkJob,
  where: seenBy,
});

const BulkJobInput = builder.inputType('BulkJobInput', {
  description: 'What to do to which objects: those of `ids`, or those that `filter` and `search` leave.',
  fields: (t) => ({
    list: t.string({ required: true, description: 'The list, as in `listKinds`: `credentials`.' }),
    ids: t.idList({ description: `The objects, by their ids: 1 to ${IDS_MAX}.` }),
    filter: t.string({
      description: `A filter as the list takes it; "true" stands for all. At most ${OBJECTS_MAX} objects.`,
    }),
    search: t.string({ description: 'A search as the list takes it.' }),
    action: t.field({ type: BulkActionType, required: true, description: 'What to do to them.' }),
    ownerId: t.id({ description: 'For `CHANGE_OWNER`: to which active user or bot user of the account they go.' }),
    setLabels: t.field({
      type: 'Labels',
      description: 'For `CHANGE_LABELS`: labels to set, in place of those of the same keys.',
    }),
    removeLabels: t.stringList({ description: 'For `CHANGE_LABELS`: the keys of labels to take away.' }),
    expectedCount: t.int({
      description: 'How many objects you have been shown. Fails with `CONFLICT` when there are others by now.',
    }),
  }),
});

mutation('startBulkJob', givesNew('bulkJob', 'BulkJob'), (t) =>
  t.prismaField({
    type: BulkJob,
    nullable: true,
    access: { kind: null },
    description:
      'Starts to do something to many objects of a list. Which objects is settled now; each of them is then changed as the mutation ' +
      'of one would change it, and may be refused like there.',
    args: {
      input: t.arg({ type: BulkJobInput, required: true, description: 'What to do to which objects.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (query, _, { input }, context) => {
      const { id } = await createJob(context, await readJobInput(input, context));
      return context.db.bulkJob.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
);

mutation('cancelBulkJob', givesObject('bulkJob'), (t) =>
  t.prismaField({
    type: BulkJob,
    nullable: true,
    access: { kind: null },
    description:
      'Ends a job that is under way. What it has done stays; `undoBulkJob` sets that back where it can be. Fails with `CONFLICT` ' +
      'when the job has ended.',
    args: { id: t.arg.id({ required: true, description: 'The id of the job.' }) },
    resolve: (query, _, { id }, context) =>
      context.act(async (db, announce) => {
        const { accountId, app } = context;
        const where = { id, accountId, ...seenBy(context) };
        const job = requireFound(
          await db.bulkJob.findFirst({ where, select: { list: true, action: true } }),
          'bulk job',
        );
        const { count } = await db.bulkJob.updateMany({
          where: { ...where, state: { in: ['QUEUED', 'RUNNING'] } },
          data: { state: 'CANCELLED', finishedAt: new Date(app.now()) },
        });
        if (count === 0) throw new ApiError('bulkJobOver');
        announce({ kind: bulkJobs.kind, action: 'UPDATED', id, accountId });
        const act = { action: 'BULK_JOB_CANCELLED', kind: bulkJobs.kind, objectId: id, after: job } as const;
        return { result: await db.bulkJob.findUniqueOrThrow({ ...query, where: { id } }), acts: [act] };
      }),
  }),
);

mutation(
  'undoBulkJob',
  {
    gives: ['bulkJob', 'The job that sets it back.'],
    edgeOf: 'BulkJob',
    objects: { undoneBulkJob: { kind: 'bulkJob', description: 'The job that is undone.' } },
  },
  (t) =>
    t.prismaField({
      type: BulkJob,
      nullable: true,
      access: { kind: null },
      description:
        'Starts a job that sets back what another one changed. What somebody has changed since stays as it is, and counts as skipped. ' +
        'Fails with `CONFLICT` for what cannot be undone, such as a deletion.',
      args: {
        id: t.arg.id({ required: true, description: 'The id of the job to undo.' }),
        ...idempotencyKeyArgument,
      },
      resolve: async (query, _, { id }, context) => {
        const undo = await context.inTransaction(async (within) => {
          const { db, accountId } = within;
          await db.$queryRaw`SELECT id FROM bulk_job WHERE id = ${id} FOR UPDATE`;
          const where = { id, accountId, ...seenBy(context) };
          const include = { undoneBy: undoSelect.undoneBy };
          const undoOf = requireFound(await db.bulkJob.findFirst({ where, include }), 'bulk job');
          const reason = whyNotUndoable(undoOf);
          if (reason !== null) throw new ApiError('bulkJobNotUndoable', { reason });
          return createJob(within, { ...undoOf, filter: '', search: '', undoOfId: id });
        });
        return context.db.bulkJob.findUniqueOrThrow({ ...query, where: { id: undo.id } });
      },
    }),
);

/** There is no REST path for them. */
export const routes: Route[] = [];
