// Events of what is live: endpoints that come and go, and agents' sessions. Nobody does these through the API.

import type { Db } from '../database/client.ts';
import type { AuditContext, AuditEvent } from './audit.ts';
import {
  endpointObjects,
  type Ingress,
  type SessionColumns,
  type ShownEndpoint,
  type StoppedSession,
  sessionObject,
} from './live-objects.ts';
import { findSubscriptions, type SubscriptionLookup, writeAudit } from './outbox.ts';

/** Who hears of what ends in these accounts. */
export function findEndSubscriptions(db: Db, accountIds: readonly string[]): Promise<SubscriptionLookup> {
  return findSubscriptions(db, accountIds, ['endpoint_offline.v0', 'agent_session_stop.v0']);
}

export function endpointOnlineEvent({ accountId, object }: ShownEndpoint): AuditEvent {
  return { type: 'endpoint_online.v0', accountId, principal: null, object };
}

/**
 * That endpoints are no longer served: to be asked for before they are deleted, and when nobody else can delete them.
 * @returns nothing where nobody hears of it.
 */
export async function endpointOfflineEvents(
  { db, baseUrl }: Omit<AuditContext, 'announce'>,
  ids: readonly string[],
  heardBy: SubscriptionLookup,
): Promise<AuditEvent[]> {
  if (ids.length === 0 || !heardBy.hasSubscribers('endpoint_offline.v0')) return [];
  const shown = await endpointObjects(db, ids, baseUrl);
  return shown.map(({ accountId, object }) => ({ type: 'endpoint_offline.v0', accountId, principal: null, object }));
}

type Session = SessionColumns & { accountId: string };

export function sessionStopEvent(
  session: Session,
  ingress: Ingress | undefined,
  error: string,
  { baseUrl }: Pick<AuditContext, 'baseUrl'>,
): AuditEvent {
  const end: StoppedSession = { stoppedAt: new Date(), error };
  const object = sessionObject(session, ingress, end, baseUrl);
  return { type: 'agent_session_stop.v0', accountId: session.accountId, principal: null, object };
}

/** Writes that sessions began, whose rows are there. */
export async function recordSessionStarts(
  audit: AuditContext,
  sessions: readonly (Pick<Session, 'id' | 'accountId'> & { ingress: Ingress })[],
): Promise<void> {
  const { db, baseUrl } = audit;
  const accountIds = sessions.map(({ accountId }) => accountId);
  const heardBy = await findSubscriptions(db, accountIds, ['agent_session_start.v0']);
  if (heardBy.isEmpty) return;
  const ingresses = new Map(sessions.map(({ id, ingress }) => [id, ingress]));
  const rows = await db.tunnelSession.findMany({
    where: { id: { in: [...ingresses.keys()] } },
    orderBy: { id: 'asc' },
  });
  const events = rows.map(({ accountId, ...row }): AuditEvent => {
    const object = sessionObject(row, ingresses.get(row.id), null, baseUrl);
    return { type: 'agent_session_start.v0', accountId, principal: null, object };
  });
  await writeAudit(audit, events, heardBy);
}
