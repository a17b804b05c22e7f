// Audit events of endpoints that go online and offline, and of agents' sessions. No API call causes these, so they have no principal.

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

/** The subscriptions of these accounts to the events that end endpoints and sessions. */
export function findEndSubscriptions(db: Db, accountIds: readonly string[]): Promise<SubscriptionLookup> {
  return findSubscriptions(db, accountIds, ['endpoint_offline.v0', 'agent_session_stop.v0']);
}

export function endpointOnlineEvent({ accountId, object }: ShownEndpoint): AuditEvent {
  return { type: 'endpoint_online.v0', accountId, principal: null, object };
}

/**
 * The events that endpoints went offline. It must be called before they are deleted, while nobody else can delete them.
 * @returns an empty list when nobody subscribes to them.
 */
export async function endpointOfflineEvents(
  { db, baseUrl }: Omit<AuditContext, 'announce'>,
  ids: readonly string[],
  subscriptions: SubscriptionLookup,
): Promise<AuditEvent[]> {
  if (ids.length === 0 || !subscriptions.hasSubscribers('endpoint_offline.v0')) return [];
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

/** Writes the events that sessions started. Their rows must exist. */
export async function recordSessionStarts(
  audit: AuditContext,
  sessions: readonly (Pick<Session, 'id' | 'accountId'> & { ingress: Ingress })[],
): Promise<void> {
  const { db, baseUrl } = audit;
  const accountIds = sessions.map(({ accountId }) => accountId);
  const subscriptions = await findSubscriptions(db, accountIds, ['agent_session_start.v0']);
  if (subscriptions.isEmpty) return;
  const ingresses = new Map(sessions.map(({ id, ingress }) => [id, ingress]));
  const rows = await db.tunnelSession.findMany({
    where: { id: { in: [...ingresses.keys()] } },
    orderBy: { id: 'asc' },
  });
  const events = rows.map(({ accountId, ...row }): AuditEvent => {
    const object = sessionObject(row, ingresses.get(row.id), null, baseUrl);
    return { type: 'agent_session_start.v0', accountId, principal: null, object };
  });
  await writeAudit(audit, events, subscriptions);
}
