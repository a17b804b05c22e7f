// How sessions and tunnels end.

import type { Db } from '../database/client.ts';
import type { AuditContext, AuditEvent } from '../events/audit.ts';
import { endpointOfflineEvents, findEndSubscriptions, sessionStopEvent } from '../events/live-events.ts';
import type { Ingress, SessionColumns } from '../events/live-objects.ts';
import { writeAudit } from '../events/outbox.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { freeClaims, type Holder, holdClaims, lockClaims } from './claims.ts';
import { deleteSessions, deleteTunnels, recordOffline } from './offline-endpoints.ts';
import type { Announce } from './registrar-deps.ts';

/** A session that ends, with all that is told of it. */
export interface EndingSession extends SessionColumns {
  accountId: string;
}

/** Selects sessions with all that is told of them. */
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
  /** How long the addresses stay reserved for their credentials, in milliseconds; 0 frees them at once. */
  holdMs: number;
  /** Why, for people; '' when the agent said good-bye. */
  reason: string;
  /** What made it say so, for people; left out when it left of its own accord. */
  cause?: string | undefined;
  /** Where the agent of a session came in, where that is known. */
  ingressOf(sessionId: string): Ingress | undefined;
}

/** Ends sessions with all their tunnels and endpoints. Unknown ids are no error. */
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
  const tunnels = await audit.db.$queryRaw<(OpenTunnel & { sessionId: string })[]>`
    SELECT t.id, t.session_id AS "sessionId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.session_id = ANY(${ids})`;
  const { db, announce } = audit;
  const addresses = tunnels.flatMap(({ address }) => address ?? []);
  if (addresses.length > 0) await lockClaims(db, addresses);
  const endpointIds = tunnels.flatMap(({ endpointId }) => endpointId ?? []);
  // What others ended before the claims were locked, they have told of.
  const offlineEvents = await endpointOfflineEvents(audit, endpointIds, subscriptions);
  const { holdMs, reason, cause = 'the agent said good-bye', ingressOf } = end;
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

/** Frees the addresses of sessions, or keeps them. What a credential had that is deleted, nobody will come back for. */
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

/** Ends one tunnel and frees its address at once. @param reason why, for people; '' when its agent closed it. */
export async function endTunnel(audit: AuditContext, id: string, reason: string): Promise<void> {
  const { db, announce } = audit;
  const [tunnel] = await db.$queryRaw<(OpenTunnel & { accountId: string })[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.id = ${id}`;
  if (!tunnel) return;
  const { accountId, address, endpointId } = tunnel;
  if (address !== null) await lockClaims(db, [address]);
  const subscriptions = endpointId === null ? undefined : await findEndSubscriptions(db, [accountId]);
  const events = subscriptions && endpointId ? await endpointOfflineEvents(audit, [endpointId], subscriptions) : [];
  const endpointIds = endpointId === null ? [] : [endpointId];
  const change = { endpointIds, reason: reason || 'the agent closed it', deletion: deleteTunnels([id]) };
  if ((await recordOffline(audit, change)) === 0) return; // Its session ended meanwhile.
  if (address !== null) await freeClaims(db, [address]);
  announceEnd(announce, tunnel, accountId);
  if (subscriptions) await writeAudit(audit, events, subscriptions);
}

type Ended = Pick<OpenTunnel, 'id' | 'endpointId'>;

export function announceEnd(announce: Announce, { id, endpointId }: Ended, accountId: string): void {
  if (endpointId !== null) announce({ kind: 'endpoint', action: 'DELETED', id: endpointId, accountId });
  announce({ kind: 'tunnel', action: 'DELETED', id, accountId });
}
