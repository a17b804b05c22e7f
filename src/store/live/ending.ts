// How sessions and tunnels end.

import type { AuditEvent, Telling } from '../events/audit.ts';
import { audienceOfEnds, offline, stopped } from '../events/live-events.ts';
import type { Ingress, SessionColumns } from '../events/live-objects.ts';
import { type Audience, writeAudit } from '../events/outbox.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { freeClaims, holdClaims, lockClaims } from './claims.ts';
import { goOffline, sessionsGo, tunnelsGo } from './going-offline.ts';
import type { Announce } from './parts.ts';

/** A session that ends, with all that is told of it. */
export interface EndingSession extends SessionColumns {
  accountId: string;
}

/** Selects sessions with all that is told of them. */
export const SESSIONS = Prisma.sql`
  SELECT id, account_id AS "accountId", credential_id AS "credentialId", ip, region, user_agent AS "userAgent", metadata, os,
    arch, transport, started_at AS "startedAt"
  FROM tunnel_session`;

interface OpenTunnel {
  id: string;
  endpointId: string | null;
  address: string | null;
}

export interface End {
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
export async function endSessions(telling: Telling, ids: string[], end: End): Promise<void> {
  if (ids.length === 0) return;
  // Once a session is locked, no tunnel is added to it.
  const sessions = await telling.db.$queryRaw<EndingSession[]>`
    ${SESSIONS} WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  if (sessions.length === 0) return;
  const heardBy = await audienceOfEnds(
    telling.db,
    sessions.map(({ accountId }) => accountId),
  );
  const events: AuditEvent[] = [];
  for (const session of sessions) events.push(...(await endSession(telling, session, end, heardBy)));
  await writeAudit(telling, events, heardBy);
}

async function endSession(
  telling: Telling,
  session: EndingSession,
  { holdMs, reason, cause = 'the agent said good-bye', ingressOf }: End,
  heardBy: Audience,
): Promise<AuditEvent[]> {
  const { db, announce } = telling;
  const { id, accountId, credentialId } = session;
  const tunnels = await db.$queryRaw<OpenTunnel[]>`
    SELECT t.id, e.id AS "endpointId", e.address FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id
    WHERE t.session_id = ${id}`;
  const addresses = tunnels.flatMap(({ address }) => address ?? []);
  if (addresses.length > 0) await lockClaims(db, addresses);
  const endpointIds = tunnels.flatMap(({ endpointId }) => endpointId ?? []);
  // What others ended before the claims were locked, they have told of.
  const ended = await offline(telling, endpointIds, heardBy);
  await goOffline(telling, { endpointIds, reason: reason || cause, deletion: sessionsGo([id]) });
  if (addresses.length > 0) {
    // What a credential had that is deleted, nobody will come back for.
    if (credentialId === null || holdMs === 0) await freeClaims(db, addresses);
    else await holdClaims(db, addresses, { accountId, credentialId }, holdMs);
  }
  for (const tunnel of tunnels) announceEnd(announce, tunnel, accountId);
  announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
  return [...ended, stopped(session, ingressOf(id), reason, telling)];
}

/** Ends one tunnel and frees its address at once. @param reason why, for people; '' when its agent closed it. */
export async function endTunnel(telling: Telling, id: string, reason: string): Promise<void> {
  const { db, announce } = telling;
  const [tunnel] = await db.$queryRaw<(OpenTunnel & { accountId: string })[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.id = ${id}`;
  if (!tunnel) return;
  const { accountId, address, endpointId } = tunnel;
  if (address !== null) await lockClaims(db, [address]);
  const heardBy = endpointId === null ? undefined : await audienceOfEnds(db, [accountId]);
  const events = heardBy && endpointId ? await offline(telling, [endpointId], heardBy) : [];
  const endpointIds = endpointId === null ? [] : [endpointId];
  const going = { endpointIds, reason: reason || 'the agent closed it', deletion: tunnelsGo([id]) };
  if ((await goOffline(telling, going)) === 0) return; // Its session ended meanwhile.
  if (address !== null) await freeClaims(db, [address]);
  announceEnd(announce, tunnel, accountId);
  if (heardBy) await writeAudit(telling, events, heardBy);
}

type Ended = Pick<OpenTunnel, 'id' | 'endpointId'>;

export function announceEnd(announce: Announce, { id, endpointId }: Ended, accountId: string): void {
  if (endpointId !== null) announce({ kind: 'endpoint', action: 'DELETED', id: endpointId, accountId });
  announce({ kind: 'tunnel', action: 'DELETED', id, accountId });
}
