// Tunnels that several sessions of one agent serve: one of them is the tunnel's own session, the others are its legs.

import type { AuditContext } from '../events/audit.ts';
import type { Announce } from './registrar-deps.ts';

/** A tunnel whose legs have changed. */
interface ChangedTunnel {
  id: string;
  accountId: string;
  endpointId: string | null;
}

/**
 * Takes sessions, which must be locked, out of the tunnels that other sessions serve too: a leg of such a session goes, and a
 * tunnel of such a session gets one of its legs in its place. It is one statement, because agents are lost by the thousand.
 * The tunnels of the sessions must be locked, and the claims on their addresses: so no tunnel gets a leg meanwhile.
 * @param tunnelId the only tunnel that the sessions are taken out of; null for all.
 * @returns the ids of the tunnels that got another session. They go on.
 */
export async function leaveTunnels(
  { db, announce }: Pick<AuditContext, 'db' | 'announce'>,
  sessionIds: string[],
  tunnelId: string | null = null,
): Promise<Set<string>> {
  // A session or node that another transaction has locked is about to end, too. To wait for it would be a deadlock, where that
  // one waits for these sessions.
  const changed = await db.$queryRaw<(ChangedTunnel & { isMoved: boolean })[]>`
    WITH candidate AS (
      SELECT l.tunnel_id, l.session_id, s.node_id, n.lease_until > now() AS is_live
      FROM tunnel t JOIN tunnel_leg l ON l.tunnel_id = t.id
      JOIN tunnel_session s ON s.id = l.session_id JOIN node n ON n.id = s.node_id
      WHERE t.session_id = ANY(${sessionIds}) AND NOT l.session_id = ANY(${sessionIds})
        AND (${tunnelId}::text IS NULL OR t.id = ${tunnelId})
      ORDER BY s.id FOR KEY SHARE OF s, n SKIP LOCKED
    ), successor AS (
      SELECT DISTINCT ON (tunnel_id) tunnel_id, session_id, node_id FROM candidate
      ORDER BY tunnel_id, is_live DESC, session_id
    ), moved AS (
      UPDATE tunnel SET session_id = successor.session_id FROM successor WHERE tunnel.id = successor.tunnel_id
      RETURNING tunnel.id, tunnel.account_id
    ), served AS (
      UPDATE endpoint SET node_id = successor.node_id FROM successor WHERE endpoint.tunnel_id = successor.tunnel_id
    ), promoted AS (
      DELETE FROM tunnel_leg l USING successor WHERE l.tunnel_id = successor.tunnel_id AND l.session_id = successor.session_id
    ), removed AS (
      DELETE FROM tunnel_leg l USING tunnel t WHERE l.session_id = ANY(${sessionIds}) AND t.id = l.tunnel_id
        AND NOT t.session_id = ANY(${sessionIds}) AND (${tunnelId}::text IS NULL OR t.id = ${tunnelId})
      RETURNING t.id, t.account_id
    ), changed AS (
      SELECT id, account_id, true AS is_moved FROM moved UNION ALL SELECT id, account_id, false FROM removed
    )
    SELECT c.id, c.account_id AS "accountId", c.is_moved AS "isMoved", e.id AS "endpointId"
    FROM changed c LEFT JOIN endpoint e ON e.tunnel_id = c.id`;
  for (const tunnel of changed) announceUpdate(announce, tunnel);
  return new Set(changed.flatMap(({ id, isMoved }) => (isMoved ? [id] : [])));
}

/** Announces that other sessions serve a tunnel now. */
export function announceUpdate(announce: Announce, { id, accountId, endpointId }: ChangedTunnel): void {
  if (endpointId !== null) announce({ kind: 'endpoint', action: 'UPDATED', id: endpointId, accountId });
  announce({ kind: 'tunnel', action: 'UPDATED', id, accountId });
}
