// Writes an audit event for each write through the API, in the transaction of that write.

import type { Principal } from '../../events/event.ts';
import type { AuditEvent } from '../../store/events/audit.ts';
import { findSubscriptions, writeAudit } from '../../store/events/outbox.ts';
import type { AuditTrail, Context } from '../context.ts';
import { eventNameOf } from '../resource.ts';
import type { LoadAuditObject } from './audit-objects.ts';

/** @param loadObject what events show of objects. */
export function createAuditTrail(loadObject: LoadAuditObject): AuditTrail {
  return {
    async recordChange(context, announce, { resource, action, id }) {
      const { db, accountId } = context;
      const type = eventNameOf(resource, action);
      const subscriptions = await findSubscriptions(db, [accountId], [type]);
      if (subscriptions.isEmpty) return;
      const object = await loadObject(context, resource, id);
      if (!object) throw new Error(`${type}: what was written is not there`);
      const event = { type, accountId, principal: await principalOf(context), object };
      await writeAudit({ db, announce }, [event], subscriptions);
    },

    async prepareDeletionEvent(context, announce, { resource, id, cascade }) {
      const { db, accountId } = context;
      const type = eventNameOf(resource, 'DELETED');
      const types = [type, ...(cascade ? [eventNameOf(cascade.resource, 'DELETED')] : [])];
      const subscriptions = await findSubscriptions(db, [accountId], types);
      const object = subscriptions.isEmpty ? null : await loadObject(context, resource, id);
      if (!object) return async () => {};
      const principal = await principalOf(context);
      const events: AuditEvent[] = [{ type, accountId, principal, object }];
      if (cascade && subscriptions.hasSubscribers(eventNameOf(cascade.resource, 'DELETED'))) {
        const deletedWith = { type: eventNameOf(cascade.resource, 'DELETED'), accountId, principal };
        events.unshift(...(await cascade.objects(context, object)).map((object) => ({ ...deletedWith, object })));
      }
      return () => writeAudit({ db, announce }, events, subscriptions);
    },
  };
}

async function principalOf(context: Context): Promise<Principal> {
  const { db, caller } = context;
  const { ownerId: id, keyId } = caller;
  const { subject } = await db.owner.findUniqueOrThrow({ where: { id }, select: { subject: true } });
  if (keyId === undefined) return { id, subject, source: 'Dashboard', credential: null };
  return { id, subject, source: 'API', credential: { id: keyId, uri: context.uri(`/api_keys/${keyId}`) } };
}
