// Ends sessions and tunnels.

import { recordDepartures } from '../agents/agent-departures.ts';
import type { Db } from '../database/client.ts';
import type { AuditContext, AuditEvent } from '../events/audit.ts';
import { endpointOfflineEvents, findEndSubscriptions, sessionStopEvent } from '../events/live-events.ts';
import type { Ingress, SessionColumns } from '../events/live-objects.ts';
import { writeAudit } from '../events/outbox.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { freeClaims, type Holder, holdClaims, lockClaims, lockClaimsOf } from './claims.ts';
import { deleteSessions, deleteTunnels, recordOffline } from './offline-endpoints.ts';
import type { Announce } from './registrar-deps.ts';
import { leaveTunnels } from './tunnel-legs.ts';

/** A session that ends, with the columns that its event shows. */
export interface EndingSession extends SessionColumns {
  accountId: string;
}

/** Selects sessions with the columns that their events show. */
export const SELECT_SESSIONS = Prisma.sql`
  SELECT id, account_id AS "accountId", credential_id AS "credentialId", ip, region, user_agent AS "userAgent", metadata, os,
    arch, transport, started_at AS "startedAt"
  FROM tunnel_session`;

interface OpenTunnel {
  id: string;
  endpointId: string | null;
  address: string | null;
}

export interface EndSessionOptions {
  /** How long the addresses are held for their credentials, in milliseconds; 0 frees them at once. */
  holdMs: number;
  /** Why the session ended, as text for users; '' when the agent closed it. */
  reason: string;
  /** Why the agent closed it, as text for users; undefined when it did so by itself. */
  cause?: string | undefined;
  /** Where the agent of a session connected; undefined when this node does not know it. */
  ingressOf(sessionId: string): Ingress | undefined;
}

/** Ends sessions with all tunnels and endpoints that no other session serves. Unknown ids are ignored. */
export async function endSessions(audit: AuditContext, ids: string[], end: EndSessionOptions): Promise<void> {
  if (ids.length === 0) return;
  // Once a session is locked, no tunnel is added to it.
  const sessions = await audit.db.$queryRaw<EndingSession[]>`
    ${SELECT_SESSIONS} WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  if (sessions.length === 0) return;
  const subscriptions = await findEndSubscriptions(
    audit.db,
    sessions.map(({ accountId }) => accountId),
  );
  const { db, announce } = audit;
  await lockClaimsOf(db, ids);
  const open = await db.$queryRaw<(OpenTunnel & { sessionId: string })[]>`
    SELECT t.id, t.session_id AS "sessionId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.session_id = ANY(${ids}) ORDER BY t.id FOR UPDATE OF t`;
  const kept = await leaveTunnels(audit, ids);
  const tunnels = open.filter(({ id }) => !kept.has(id));
  const endpointIds = tunnels.flatMap(({ endpointId }) => endpointId ?? []);
  const offlineEvents = await endpointOfflineEvents(audit, endpointIds, subscriptions);
  const { holdMs, reason, cause = 'the agent said good-bye', ingressOf } = end;
  await recordDepartures(audit, ids, reason || cause);
  await recordOffline(audit, {
    endpointIds,
    reason: reason || cause,
    deletion: deleteSessions(sessions.map(({ id }) => id)),
  });
  await releaseAddresses(db, sessions, tunnels, holdMs);
  const stopEvents: AuditEvent[] = [];
  for (const session of sessions) {
    const { id, accountId } = session;
    for (const tunnel of tunnels) if (tunnel.sessionId === id) announceEnd(announce, tunnel, accountId);
    announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
    stopEvents.push(sessionStopEvent(session, ingressOf(id), reason, audit));
  }
  await writeAudit(audit, [...offlineEvents, ...stopEvents], subscriptions);
}

/** Frees or holds the addresses of sessions. Addresses of a deleted credential are freed, because nobody can reclaim them. */
async function releaseAddresses(
  db: Db,
  sessions: readonly EndingSession[],
  tunnels: readonly { sessionId: string; address: string | null }[],
  holdMs: number,
): Promise<void> {
  const holders = new Map(sessions.map((session) => [session.id, session]));
  const held: { address: string; holder: Holder }[] = [];
  const freed: string[] = [];
  for (const { sessionId, address } of tunnels) {
    const { accountId, credentialId = null } = holders.get(sessionId) ?? {};
    if (address === null) continue;
    if (accountId === undefined || credentialId === null || holdMs === 0) freed.push(address);
    else held.push({ address, holder: { accountId, credentialId } });
  }
  if (freed.length > 0) await freeClaims(db, freed);
  if (held.length > 0) await holdClaims(db, held, holdMs);
}

/**
 * Takes each of some sessions out of its tunnels, if other sessions of its agent serve all of them, too.
 * @returns the ids of those that stay.
 */
export async function leaveSharedTunnels({ db, announce }: AuditContext, ids: string[]): Promise<Set<string>> {
  await db.$queryRaw`SELECT id FROM tunnel_session WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  await lockClaimsOf(db, ids);
  const served = await db.$queryRaw<{ id: string; sessionId: string; isShared: boolean }[]>`
    SELECT id, session_id AS "sessionId", EXISTS (
      SELECT 1 FROM tunnel_leg l WHERE l.tunnel_id = tunnel.id AND NOT l.session_id = ANY(${ids})) AS "isShared"
    FROM tunnel WHERE session_id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  const sessionsOf = (tunnels: typeof served) => new Set(tunnels.map(({ sessionId }) => sessionId));
  const alone = sessionsOf(served.filter(({ isShared }) => !isShared));
  const leaving = ids.filter((id) => !alone.has(id));
  const left = await leaveTunnels({ db, announce }, leaving);
  return sessionsOf(served.filter(({ id }) => !left.has(id)));
}

/** A tunnel, and the session that no longer serves it. */
export interface LeftTunnel {
  sessionId: string;
  tunnelId: string;
}

/**
 * Ends one tunnel and frees its address at once, unless another session serves it too. Nothing ends when the session does not
 * serve the tunnel.
 * @param reason text for users; '' when the agent closed the tunnel.
 */
export async function endTunnel(
  audit: AuditContext,
  { sessionId, tunnelId: id }: LeftTunnel,
  reason: string,
): Promise<void> {
  const { db, announce } = audit;
  const [tunnel] = await db.$queryRaw<(OpenTunnel & { accountId: string })[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.id = ${id}`;
  if (!tunnel) return;
  const { accountId, address, endpointId } = tunnel;
  if (address !== null) await lockClaims(db, [address]);
  const [owner] = await db.$queryRaw<{ sessionId: string }[]>`
    SELECT session_id AS "sessionId" FROM tunnel WHERE id = ${id} FOR UPDATE`;
  const kept = await leaveTunnels(audit, [sessionId], id);
  if (owner?.sessionId !== sessionId || kept.has(id)) return;
  const subscriptions = endpointId === null ? undefined : await findEndSubscriptions(db, [accountId]);
  const events = subscriptions && endpointId ? await endpointOfflineEvents(audit, [endpointId], subscriptions) : [];
  const endpointIds = endpointId === null ? [] : [endpointId];
  const change = { endpointIds, reason: reason || 'the agent closed it', deletion: deleteTunnels([id]) };
  await recordOffline(audit, change);
  if (address !== null) await freeClaims(db, [address]);
  announceEnd(announce, tunnel, accountId);
  if (subscriptions) await writeAudit(audit, events, subscriptions);
}

type Ended = Pick<OpenTunnel, 'id' | 'endpointId'>;

export function announceEnd(announce: Announce, { id, endpointId }: Ended, accountId: string): void {
  if (endpointId !== null) announce({ kind: 'endpoint', action: 'DELETED', id: endpointId, accountId });
  announce({ kind: 'tunnel', action: 'DELETED', id, accountId });
}
