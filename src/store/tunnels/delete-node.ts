// Deletes nodes that are gone, with everything that they served.

import { recordDepartures } from '../agents/agent-departures.ts';
import type { AuditContext, AuditEvent } from '../events/audit.ts';
import { endpointOfflineEvents, findEndSubscriptions, sessionStopEvent } from '../events/live-events.ts';
import { writeAudit } from '../events/outbox.ts';
import { holdClaimsOf, lockClaimsOf } from './claims.ts';
import { announceEnd, type EndingSession, SELECT_SESSIONS } from './end-session.ts';
import { deleteSessions, recordOffline } from './offline-endpoints.ts';
import { leaveTunnels } from './tunnel-legs.ts';

/** The reason that events and offline endpoints show for a lost node. */
export const NODE_LOST = 'the gateway node was lost';

interface EndingTunnel {
  id: string;
  accountId: string;
  endpointId: string | null;
}

/** The most sessions that one transaction ends. Agents that reconnect wait for its locks. */
const BATCH = 500;

/** Deletes nodes with everything that only they served. Their addresses are held for their holders for so many milliseconds. */
export async function deleteNodes(audit: AuditContext, nodeIds: string[], holdMs: number): Promise<void> {
  const { db } = audit;
  if (nodeIds.length === 0) return;
  // The locks make sure that only one of several nodes announces the end, and that no tunnel is added to the sessions.
  await db.$queryRaw`SELECT id FROM node WHERE id = ANY(${nodeIds}) ORDER BY id FOR UPDATE`;
  const sessions = await db.$queryRaw<EndingSession[]>`
    ${SELECT_SESSIONS} WHERE node_id = ANY(${nodeIds}) ORDER BY id FOR UPDATE`;
  if (sessions.length > 0) await endLockedSessions(audit, sessions, holdMs);
  await db.node.deleteMany({ where: { id: { in: nodeIds } } });
}

/**
 * Deletes a part of one node whose lease has ended and that no other node is deleting right now. Its addresses are held for so
 * many milliseconds from the end of the lease.
 * @returns whether there was such a node. If so, there may be more to delete.
 */
export async function deleteLapsedNodes(audit: AuditContext, ownId: string, holdMs: number): Promise<boolean> {
  const { db } = audit;
  // A node that renews its lease or joins again at this moment has locked the row, or no longer meets the condition.
  const [node] = await db.$queryRaw<{ id: string; leftMs: number }[]>`
    SELECT id, (extract(epoch FROM lease_until - now()) * 1000)::float8 + ${holdMs}::float8 AS "leftMs"
    FROM node WHERE id <> ${ownId} AND lease_until <= now() ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (!node) return false;
  const sessions = await db.$queryRaw<EndingSession[]>`
    ${SELECT_SESSIONS} WHERE node_id = ${node.id} ORDER BY id LIMIT ${BATCH} FOR UPDATE`;
  if (sessions.length > 0) await endLockedSessions(audit, sessions, node.leftMs);
  await db.$executeRaw`
    DELETE FROM node WHERE id = ${node.id} AND NOT EXISTS (SELECT 1 FROM tunnel_session WHERE node_id = ${node.id})`;
  return true;
}

/** Ends sessions, which are locked and still exist, and announces that. */
async function endLockedSessions(audit: AuditContext, sessions: EndingSession[], holdMs: number): Promise<void> {
  const { db, announce } = audit;
  const ids = sessions.map(({ id }) => id);
  // Other sessions that serve the same address may start or end at this moment. Locking the claim puts that before or after this
  // transaction. Of several sessions that end together, the last one finds that the address is no longer served.
  await lockClaimsOf(db, ids);
  // Binds may have taken over some of the tunnels, and announce that themselves.
  const open = await db.$queryRaw<EndingTunnel[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId"
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.session_id = ANY(${ids}) ORDER BY t.id FOR UPDATE OF t`;
  const kept = await leaveTunnels(audit, ids);
  const tunnels = open.filter(({ id }) => !kept.has(id));
  await holdClaimsOf(db, ids, holdMs);
  const subscriptions = await findEndSubscriptions(
    db,
    sessions.map(({ accountId }) => accountId),
  );
  const endpointIds = tunnels.flatMap(({ endpointId }) => endpointId ?? []);
  const events: AuditEvent[] = [
    ...(await endpointOfflineEvents(audit, endpointIds, subscriptions)),
    ...sessions.map((session) => sessionStopEvent(session, undefined, NODE_LOST, audit)),
  ];
  await recordDepartures(audit, ids, NODE_LOST);
  await recordOffline(audit, { endpointIds, reason: NODE_LOST, deletion: deleteSessions(ids) });
  for (const tunnel of tunnels) announceEnd(announce, tunnel, tunnel.accountId);
  for (const { id, accountId } of sessions) announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
  await writeAudit(audit, events, subscriptions);
}
