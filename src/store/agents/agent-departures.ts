// Agents whose sessions end: when they were last seen, and the history of their sessions.

import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';

/** How many ended sessions are kept of an agent. */
const PAST_SESSIONS_MAX = 50;

/**
 * Notes the end of sessions, before their rows are deleted: one statement, whose locks are taken in the order of those of arrivals. An
 * agent of a node that is gone was seen until the end of the node's lease.
 * @param reason why they end, for people.
 */
export async function recordDepartures(
  { db, announce }: { db: Db; announce: Announce },
  sessionIds: readonly string[],
  reason: string,
): Promise<void> {
  const agents = await db.$queryRaw<{ id: string; accountId: string }[]>`
    WITH ending AS (
      SELECT s.*, least(now(), n.lease_until) AS ended_at FROM tunnel_session s JOIN node n ON n.id = s.node_id
      WHERE s.id = ANY(${[...sessionIds]}) AND s.agent_id IS NOT NULL
    ), locked AS (
      SELECT id FROM agent WHERE id IN (SELECT agent_id FROM ending) ORDER BY account_id, identity FOR NO KEY UPDATE
    ), history AS (
      INSERT INTO past_session (id, agent_id, node_id, credential_id, agent_version, ip, started_at, ended_at, reason)
      SELECT id, agent_id, node_id, credential_id, agent_version, ip, started_at, greatest(started_at, ended_at), ${reason}
      FROM ending
    ), forgotten AS (
      DELETE FROM past_session WHERE id IN (
        SELECT old.id FROM locked, LATERAL (
          SELECT id FROM past_session WHERE agent_id = locked.id ORDER BY id DESC OFFSET ${PAST_SESSIONS_MAX - 1}
        ) AS old)
    )
    UPDATE agent a SET last_seen_at = greatest(a.last_seen_at, seen.ended_at)
    FROM (SELECT agent_id, max(ended_at) AS ended_at FROM ending GROUP BY agent_id) AS seen
    WHERE a.id = seen.agent_id AND a.id IN (SELECT id FROM locked)
    RETURNING a.id, a.account_id AS "accountId"`;
  for (const { id, accountId } of agents) announce({ kind: 'agent', action: 'UPDATED', id, accountId });
}
