// Nodes that are gone, and all that they served.

import type { AuditEvent, Telling } from '../events/audit.ts';
import { audienceOfEnds, offline, stopped } from '../events/live-events.ts';
import { writeAudit } from '../events/outbox.ts';
import { keepClaimsOf } from './claims.ts';
import { announceEnd, type EndingSession, SESSIONS } from './ending.ts';
import { goOffline, sessionsGo } from './going-offline.ts';

/** Why what a node served is gone. */
export const NODE_LOST = 'the gateway node was lost';

interface LeftTunnel {
  id: string;
  accountId: string;
  endpointId: string | null;
}

/** Deletes nodes with all that they served; their addresses are kept for those who had them, for so many milliseconds. */
export async function forgetNodes(telling: Telling, nodeIds: string[], holdMs: number): Promise<void> {
  const { db } = telling;
  if (nodeIds.length === 0) return;
  // Of several that forget a node, one tells of it; and nothing is added to sessions that are locked.
  await db.$queryRaw`SELECT id FROM node WHERE id = ANY(${nodeIds}) ORDER BY id FOR UPDATE`;
  const sessions = await db.$queryRaw<EndingSession[]>`
    ${SESSIONS} WHERE node_id = ANY(${nodeIds}) ORDER BY id FOR UPDATE`;
  await keepClaimsOf(db, nodeIds, holdMs);
  if (sessions.length > 0) await leave(telling, sessions);
  await db.node.deleteMany({ where: { id: { in: nodeIds } } });
}

/** Ends sessions, which are locked and still there, and tells of that. */
async function leave(telling: Telling, sessions: EndingSession[]): Promise<void> {
  const { db, announce } = telling;
  const ids = sessions.map(({ id }) => id);
  // Binds may take addresses from what is left behind, and tell of that themselves.
  const tunnels = await db.$queryRaw<LeftTunnel[]>`
    SELECT t.id, t.account_id AS "accountId", e.id AS "endpointId"
    FROM tunnel t LEFT JOIN endpoint e ON e.tunnel_id = t.id WHERE t.session_id = ANY(${ids}) ORDER BY t.id FOR UPDATE OF t`;
  const heardBy = await audienceOfEnds(
    db,
    sessions.map(({ accountId }) => accountId),
  );
  const endpointIds = tunnels.flatMap(({ endpointId }) => endpointId ?? []);
  const events: AuditEvent[] = [
    ...(await offline(telling, endpointIds, heardBy)),
    ...sessions.map((session) => stopped(session, undefined, NODE_LOST, telling)),
  ];
  await goOffline(telling, { endpointIds, reason: NODE_LOST, deletion: sessionsGo(ids) });
  for (const tunnel of tunnels) announceEnd(announce, tunnel, tunnel.accountId);
  for (const { id, accountId } of sessions) announce({ kind: 'tunnelSession', action: 'DELETED', id, accountId });
  await writeAudit(telling, events, heardBy);
}
