// How sessions and tunnels end.

import type { Db } from '../client.ts';
import { freeClaims, holdClaims, lockClaims } from './claims.ts';
import type { Announce } from './parts.ts';

interface Session {
  id: string;
  accountId: string;
  credentialId: string | null;
}

interface OpenTunnel {
  id: string;
  endpointId: string | null;
  address: string | null;
}

/**
 * Ends sessions with all their tunnels and endpoints. Unknown ids are no error.
 * @param holdMs how long their addresses stay reserved for their credentials; 0 frees them at once.
 */
export async function endSessions(db: Db, announce: Announce, ids: string[], holdMs: number): Promise<void> {
  if (ids.length === 0) return;
  // Once a session is locked, no tunnel is added to it.
  const sessions = await db.$queryRaw<Session[]>`
    SELECT id, account_id AS "accountId", credential_id AS "credentialId" FROM tunnel_session
    WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  for (const session of sessions) await endSession(db, announce, session, holdMs);
}

async function endSession(db: Db, announce: Announce, session: Session, holdMs: number): Promise<void> {
  const { id, accountId, credentialId } = session;
  const tunnels = await db.$queryRaw<OpenTunnel[]>`
    SELECT t.id, e.id AS "endpointId", e.address FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id
    WHERE t.session_id = ${id}`;
  const addresses = tunnels.flatMap(({ address }) => address ?? []);
  if (addresses.length > 0) await lockClaims(db, addresses);
  await db.tunnelSession.deleteMany({ where: { id } });
  if (addresses.length > 0) {
    // What a credential had that is deleted, nobody will come back for.
    if (credentialId === null || holdMs === 0) await freeClaims(db, addresses);
    else await holdClaims(db, addresses, { accountId, credentialId }, holdMs);
  }
  for (const tunnel of tunnels) announceEnd(announce, tunnel, accountId);
  announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
}

/** Ends one tunnel and frees its address at once. */
export async function endTunnel(db: Db, announce: Announce, id: string): Promise<void> {
  const [tunnel] = await db.$queryRaw<(OpenTunnel & { accountId: string })[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId", e.address
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.id = ${id}`;
  if (!tunnel) return;
  const { accountId, address } = tunnel;
  if (address !== null) await lockClaims(db, [address]);
  const { count } = await db.tunnel.deleteMany({ where: { id } });
  if (count === 0) return; // Its session ended meanwhile.
  if (address !== null) await freeClaims(db, [address]);
  announceEnd(announce, tunnel, accountId);
}

type Ended = Pick<OpenTunnel, 'id' | 'endpointId'>;

export function announceEnd(announce: Announce, { id, endpointId }: Ended, accountId: string): void {
  if (endpointId !== null) announce({ kind: 'endpoint', action: 'DELETED', id: endpointId, accountId });
  announce({ kind: 'tunnel', action: 'DELETED', id, accountId });
}
