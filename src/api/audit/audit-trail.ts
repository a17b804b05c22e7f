// Tells what is written through the API as events, in the transaction of the write.

import type { Principal } from '../../events/event.ts';
import type { AuditEvent } from '../../store/events/audit.ts';
import { findSubscriptions, writeAudit } from '../../store/events/outbox.ts';
import type { AuditTrail, Context } from '../context.ts';
import { eventOf } from '../resource.ts';
import type { ShowObject } from './audit-objects.ts';

/** @param show what events show of objects. */
export function auditTrail(show: ShowObject): AuditTrail {
  return {
    async recordChange(context, announce, { resource, action, id }) {
      const { db, accountId } = context;
      const type = eventOf(resource, action);
      const heardBy = await findSubscriptions(db, [accountId], [type]);
      if (heardBy.isEmpty) return;
      const object = await show(context, resource, id);
      if (!object) throw new Error(`${type}: what was written is not there`);
      const event = { type, accountId, principal: await principalOf(context), object };
      await writeAudit({ db, announce }, [event], heardBy);
    },

    async prepareDeletionEvent(context, announce, { resource, id, cascade }) {
      const { db, accountId } = context;
      const type = eventOf(resource, 'DELETED');
      const types = [type, ...(cascade ? [eventOf(cascade.resource, 'DELETED')] : [])];
      const heardBy = await findSubscriptions(db, [accountId], types);
      const object = heardBy.isEmpty ? null : await show(context, resource, id);
      if (!object) return async () => {};
      const principal = await principalOf(context);
      const events: AuditEvent[] = [{ type, accountId, principal, object }];
      if (cascade && heardBy.hasSubscribers(eventOf(cascade.resource, 'DELETED'))) {
        const ended = { type: eventOf(cascade.resource, 'DELETED'), accountId, principal };
        events.unshift(...(await cascade.objects(context, object)).map((object) => ({ ...ended, object })));
      }
      return () => writeAudit({ db, announce }, events, heardBy);
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
