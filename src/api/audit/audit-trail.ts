// Tells of each write through the API, in the transaction of that write: an event for those who subscribe to it, and an
// entry of the audit trail.

import type { Logger } from 'pino';
import type { Principal } from '../../events/event.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { AuditBudget } from '../../store/audit/audit-budget.ts';
import { type AuditAct, insertAuditEntries } from '../../store/audit/audit-entries.ts';
import type { Announce } from '../../store/changes/changes.ts';
import { isSameRow, isWhole, lockRow, modelOf, type ObjectColumns } from '../../store/database/rows-by-id.ts';
import type { AuditEvent } from '../../store/events/audit.ts';
import type { WrittenRow } from '../audit-contract.ts';
import { resourceOf, tableOf } from '../collections/nodes.ts';
import type { AuditTrail, Context, RecordedAct } from '../context.ts';
import { type AuditedResource, eventNameOf } from '../resource.ts';
import { actorOf } from './audit-actor.ts';
import type { LoadAuditObject } from './audit-objects.ts';
import { differenceOf, nameOf } from './difference.ts';

/** Of what strangers can do, so many entries a minute for each of those to whom it is done, at each node. */
const SPARINGLY = 5;

export interface AuditTrailOptions {
  /** How many days entries are kept; 0: none is written. */
  days: number;
  /** The wall clock, in milliseconds. */
  now(): number;
  log: Logger;
}

/** @param loadObject what events and entries show of objects. */
export function createAuditTrail(loadObject: LoadAuditObject, { days, now, log }: AuditTrailOptions): AuditTrail {
  const isKept = days > 0;
  const budget = new AuditBudget(SPARINGLY, now);

  const keep = (context: Context, announce: Announce, ...acts: RecordedAct[]): void => {
    if (isKept) for (const act of acts) context.recorded.entry(entryOf(context)(act), announce);
  };

  return {
    async recordCreation(context, announce, { resource, id, row }) {
      const object = await loadWritten(loadObject, context, resource, id, row);
      context.recorded.event(eventOf(context, eventNameOf(resource, 'CREATED'), object));
      keep(context, announce, actOn(resource, id, { action: 'CREATED', after: object }));
    },

    async prepareUpdate(context, announce, { resource, id, action }) {
      const rows = rowsOf(context, id);
      const rowBefore = isKept ? await rows.lock() : undefined;
      const before = rowBefore && (await loadObject(context, resource, id, rowBefore));
      return async (given) => {
        const row = given && rows.isWhole(given) ? given : await rows.lock();
        const object = await loadWritten(loadObject, context, resource, id, row);
        context.recorded.event(eventOf(context, eventNameOf(resource, 'UPDATED'), object));
        if (!isKept) return;
        const difference = before && differenceOf(before, object);
        // What is not shown may have changed alone, such as a secret.
        const isHiddenChanged = !difference && !rows.areSame(rowBefore, row);
        if (!difference && !isHiddenChanged && !action) return;
        const act = {
          action: action ?? 'UPDATED',
          objectName: nameOf(object),
          isHiddenChanged,
          ...difference,
        } as const;
        keep(context, announce, actOn(resource, id, act));
      };
    },

    async prepareDeletion(context, announce, { resource, id, cascade }) {
      const row = await rowsOf(context, id).lock();
      const object = row && (await loadObject(context, resource, id, row));
      if (!object) return () => {};
      const gone = cascade ? await cascade.objects(context, object) : [];
      return () => {
        const { recorded } = context;
        const tell = (deleted: AuditedResource, deletedId: string, before: object) => {
          recorded.event(eventOf(context, eventNameOf(deleted, 'DELETED'), before));
          keep(context, announce, actOn(deleted, deletedId, { action: 'DELETED', before }));
        };
        if (cascade) for (const before of gone) tell(cascade.resource, (before as { id: string }).id, before);
        tell(resource, id, object);
      };
    },

    record: keep,

    recordSparingly(context, key, act) {
      const skipped = isKept ? budget.take(key) : null;
      if (skipped === null) return;
      const after = skipped > 0 ? { ...act.after, not_recorded_before: skipped } : act.after;
      const { prisma, changes } = context.app;
      insertAuditEntries(prisma, [entryOf(context)({ ...act, after })])
        .then((announced) => changes.publishHints(announced))
        .catch((error) => log.warn({ err: describeFailure(error) }, 'the audit trail could not be written'));
    },
  };
}

/** The row of an object at different times of a transaction. */
function rowsOf({ db, accountId }: Context, id: string) {
  const resource = resourceOf(id);
  const model = resource && modelOf(tableOf(resource, db));
  return {
    /** It as it is now, locked until the end of the transaction; undefined where there is none. */
    lock: async () => (model ? lockRow(db, model, { id, accountId }) : undefined),
    isWhole: (row: object): row is ObjectColumns => !!model && isWhole(model, row),
    areSame: (one: ObjectColumns | undefined, other: ObjectColumns | undefined) =>
      !model || one === other || (!!one && !!other && isSameRow(model, one, other)),
  };
}

/** @throws {Error} when it is not there: it has just been written. */
async function loadWritten(
  loadObject: LoadAuditObject,
  context: Context,
  resource: AuditedResource,
  id: string,
  row: WrittenRow | undefined,
): Promise<object> {
  const object = await loadObject(context, resource, id, row);
  if (!object) throw new Error(`${resource.kind}: what was written is not there`);
  return object;
}

function actOn({ kind }: AuditedResource, objectId: string, act: Omit<RecordedAct, 'kind' | 'objectId'>): RecordedAct {
  return { objectName: nameOf(act.after ?? act.before ?? {}), ...act, kind, objectId };
}

const entryOf =
  (context: Context) =>
  ({ actor, objectName = '', ...act }: RecordedAct) => ({
    ...actorOf(context, actor),
    ...({ ...act, objectName } satisfies AuditAct),
  });

function eventOf(context: Context, type: AuditEvent['type'], object: object): AuditEvent {
  return { type, accountId: context.accountId, principal: principalOf(context), object };
}

function principalOf(context: Context): Principal {
  const { ownerId: id, subject, keyId, provisioningKeyId } = context.caller;
  if (provisioningKeyId) return { id, subject, source: 'API', credential: null };
  if (keyId === undefined) return { id, subject, source: 'Dashboard', credential: null };
  return { id, subject, source: 'API', credential: { id: keyId, uri: context.uri(`/api_keys/${keyId}`) } };
}
