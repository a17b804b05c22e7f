// Tells of each write through the API, in the transaction of that write: an event for those who subscribe to it, and an
// entry of the audit trail.

import type { Logger } from 'pino';
import type { Principal } from '../../events/event.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { AuditBudget } from '../../store/audit/audit-budget.ts';
import { type AuditAct, insertAuditEntries } from '../../store/audit/audit-entries.ts';
import type { AuditEvent } from '../../store/events/audit.ts';
import { findSubscriptions, writeAudit } from '../../store/events/outbox.ts';
import type { Announce, AuditTrail, Context, RecordedAct } from '../context.ts';
import { type AuditedResource, eventNameOf } from '../resource.ts';
import { actorOf } from './audit-actor.ts';
import type { LoadAuditObject } from './audit-objects.ts';
import { differenceOf, nameOf } from './difference.ts';
import { lockRow, rowPrint } from './row-print.ts';

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

  const keep = async (context: Context, announce: Announce, acts: readonly RecordedAct[]): Promise<void> => {
    if (!isKept || acts.length === 0) return;
    for (const change of await insertAuditEntries(context.db, acts.map(entryOf(context)))) announce(change);
  };

  return {
    async recordCreation(context, announce, { resource, id }) {
      const type = eventNameOf(resource, 'CREATED');
      const subscriptions = await findSubscriptions(context.db, [context.accountId], [type]);
      if (subscriptions.isEmpty && !isKept) return;
      const object = await loadWritten(loadObject, context, resource, id);
      await writeAudit({ db: context.db, announce }, [eventOf(context, type, object)], subscriptions);
      await keep(context, announce, [actOn(resource, id, { action: 'CREATED', after: object })]);
    },

    async prepareUpdate(context, announce, { resource, id, action }) {
      const print = isKept ? await lockRow(context, id) : undefined;
      const before = isKept ? await loadObject(context, resource, id) : null;
      return async () => {
        const type = eventNameOf(resource, 'UPDATED');
        const subscriptions = await findSubscriptions(context.db, [context.accountId], [type]);
        if (subscriptions.isEmpty && !isKept) return;
        const object = await loadWritten(loadObject, context, resource, id);
        await writeAudit({ db: context.db, announce }, [eventOf(context, type, object)], subscriptions);
        const difference = before && differenceOf(before, object);
        // What is not shown may have changed alone, such as a secret.
        const isHiddenChanged = isKept && !difference && (await rowPrint(context, id)) !== print;
        if (!difference && !isHiddenChanged && !action) return;
        const act = {
          action: action ?? 'UPDATED',
          objectName: nameOf(object),
          isHiddenChanged,
          ...difference,
        } as const;
        await keep(context, announce, [actOn(resource, id, act)]);
      };
    },

    async prepareDeletion(context, announce, { resource, id, cascade }) {
      const { db, accountId } = context;
      const type = eventNameOf(resource, 'DELETED');
      const cascadeType = cascade && eventNameOf(cascade.resource, 'DELETED');
      const subscriptions = await findSubscriptions(db, [accountId], cascadeType ? [type, cascadeType] : [type]);
      const object = subscriptions.isEmpty && !isKept ? null : await loadObject(context, resource, id);
      if (!object) return async () => {};
      const events: AuditEvent[] = [eventOf(context, type, object)];
      const acts: RecordedAct[] = [actOn(resource, id, { action: 'DELETED', before: object })];
      if (cascade && cascadeType && (isKept || subscriptions.hasSubscribers(cascadeType))) {
        const gone = await cascade.objects(context, object);
        events.unshift(...gone.map((before) => eventOf(context, cascadeType, before)));
        acts.unshift(
          ...gone.map((before) =>
            actOn(cascade.resource, (before as { id: string }).id, { action: 'DELETED', before }),
          ),
        );
      }
      return async () => {
        await writeAudit({ db, announce }, events, subscriptions);
        await keep(context, announce, acts);
      };
    },

    record: (context, announce, ...acts) => keep(context, announce, acts),

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

/** @throws {Error} when it is not there: it has just been written. */
async function loadWritten(
  loadObject: LoadAuditObject,
  context: Context,
  resource: AuditedResource,
  id: string,
): Promise<object> {
  const object = await loadObject(context, resource, id);
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
