// Bulk jobs as the API shows them.

import { builder } from '../../builder/builder.ts';
import { type BulkAction, BulkActionType, bulkOperationOf } from '../../collections/bulk-operations.ts';
import { Node } from '../../collections/collection.ts';
import { pageArguments } from '../../collections/page.ts';
import { reference, WHEN_GONE } from '../../collections/references.ts';
import { Owner } from '../accounts/owner.ts';
import { BulkJobFailureConnection, readFailures } from './job-failures.ts';

export const BulkJobStateType = builder.enumType('BulkJobState', {
  description: 'How a bulk job stands.',
  values: {
    QUEUED: { description: 'It has not begun: another job of the account is under way.' },
    RUNNING: { description: 'It is under way.' },
    SUCCEEDED: { description: 'It has ended, and no object was refused.' },
    PARTLY_FAILED: { description: 'It has ended, and some objects were refused.' },
    FAILED: { description: 'It has ended, and all objects were refused.' },
    CANCELLED: { description: 'Somebody ended it before all objects were done.' },
  } as const,
});

/** Only when all earlier ones were ended or refused, there is another one. */
const newest = { orderBy: { id: 'desc' }, take: 1 } as const;

/** What decides whether a job can be undone. */
export const undoSelect = {
  kind: true,
  action: true,
  state: true,
  done: true,
  undoOfId: true,
  undoneBy: { ...newest, select: { state: true } },
} as const;

interface Undoable {
  kind: string;
  action: string;
  state: (typeof BulkJobStateType)['$inferType'];
  done: number;
  undoOfId: string | null;
  undoneBy: { state: (typeof BulkJobStateType)['$inferType'] }[];
}

/** Why a job cannot be undone; null when it can. */
export function whyNotUndoable({ kind, action, state, done, undoOfId, undoneBy }: Undoable): string | null {
  if (!bulkOperationOf(kind, action as BulkAction)?.undo) return `${action} cannot be undone`;
  if (undoOfId !== null) return 'it is the undo of another job';
  if (state === 'QUEUED' || state === 'RUNNING') return 'it has not ended';
  if (done === 0) return 'it changed nothing';
  const isOver = undoneBy.some((undo) => undo.state !== 'CANCELLED' && undo.state !== 'FAILED');
  return isOver ? 'it has been undone already' : null;
}

export const BulkJob = builder.prismaObject('BulkJob', {
  description:
    'An action on many objects of a list, under way or ended. Each object is changed as the mutation of one would change it, with ' +
    'the rights that who started the job has at that moment. Those that have ended are kept for 30 days.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `bj_…`.' }),
    list: t.exposeString('list', { description: 'The list, as in `listKinds`: `credentials`.' }),
    action: t.field({
      type: BulkActionType,
      description: 'What is done to the objects.',
      select: { action: true },
      resolve: ({ action }) => action as BulkAction, // The API lets no other one in.
    }),
    state: t.expose('state', { type: BulkJobStateType, description: 'How it stands.' }),
    total: t.exposeInt('total', { description: 'How many objects it is about. They were chosen when it was started.' }),
    done: t.exposeInt('done', { description: 'How many were changed or deleted. Told twice a second at most.' }),
    failed: t.exposeInt('failed', { description: 'How many it was refused for: see `failures`.' }),
    skipped: t.exposeInt('skipped', {
      description:
        'How many needed nothing: they were like that already; of an undo, somebody has changed or deleted them since.',
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it began; null while it has not.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it ended; null while it has not.',
    }),
    actorId: t.exposeID('actorId', { description: 'The id of the user or bot user who started it.' }),
    actor: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who started it. ${WHEN_GONE}`,
      select: { actorId: true },
      resolve: reference(({ actorId }) => actorId),
    }),
    actorSubject: t.exposeString('actorSubject', {
      description: 'The e-mail address of the user or the name of the bot user, as it was.',
    }),
    ownerId: t.exposeID('ownerId', {
      nullable: true,
      description: 'To whom the objects are given; null unless its action is `CHANGE_OWNER`.',
    }),
    owner: t.field({
      type: Owner,
      nullable: true,
      description: `To whom the objects are given; null unless its action is \`CHANGE_OWNER\`. ${WHEN_GONE}`,
      select: { ownerId: true },
      resolve: reference(({ ownerId }) => ownerId),
    }),
    setLabels: t.field({
      type: 'Labels',
      description: 'The labels that are set; none unless its action is `CHANGE_LABELS`.',
      select: { setLabels: true },
      resolve: ({ setLabels }) => setLabels as Record<string, string>,
    }),
    removeLabels: t.exposeStringList('removeLabels', {
      description: 'The keys of the labels that are taken away; none unless its action is `CHANGE_LABELS`.',
    }),
    filter: t.exposeString('filter', { description: 'The filter that chose the objects; "" when none did.' }),
    search: t.exposeString('search', { description: 'The search that chose the objects; "" when none did.' }),
    isUndoable: t.boolean({
      description: 'Whether `undoBulkJob` can set back what it changed.',
      select: undoSelect,
      resolve: (job) => whyNotUndoable(job) === null,
    }),
    undoOf: t.relation('undoOf', { nullable: true, description: 'The job that this one undoes; null for all others.' }),
    undoneBy: t.field({
      type: 'BulkJob' as never,
      nullable: true,
      description: 'The newest job that undoes this one; null when none does.',
      select: (_args, _context, nested) => ({
        undoneBy: { ...(nested() as object), ...newest },
      }),
      resolve: ({ undoneBy }) => (undoneBy as object[])[0] as never,
    }),
    failures: t.field({
      type: BulkJobFailureConnection,
      args: pageArguments,
      description: 'Objects that it was refused for, in the order of their ids.',
      select: { failed: true },
      resolve: (job, args, context) => readFailures(job, args, context),
    }),
  }),
});
