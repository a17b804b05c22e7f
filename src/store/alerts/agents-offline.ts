// Agents that are offline for longer than rules want.

import { Prisma } from '../generated/prisma/client.ts';
import { type AgentColumns, agentSelected, SELECTS_AGENTS, silenced } from './selection.ts';
import { rulesOf } from './subjects.ts';

const AGENT: AgentColumns = { credentialId: 'a.credential_id', labels: 'a.labels' };

/** Sessions of a node that is gone are deleted, and count as ended, once its lease is over. */
export const agentsOffline = (now: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT r.id AS rule_id, a.id, a.name, a.last_seen_at AS since, coalesce(last.reason, '') AS detail, 0::float8 AS value,
    true AS is_affected, ${silenced(now, SELECTS_AGENTS, agentSelected('s', AGENT))} AS is_silenced
  ${rulesOf('AGENT_OFFLINE')} JOIN agent a ON a.account_id = r.account_id
  LEFT JOIN LATERAL (SELECT reason FROM past_session WHERE agent_id = a.id ORDER BY id DESC LIMIT 1) AS last ON true
  WHERE a.last_seen_at <= ${now} - r.for_seconds * interval '1 second' AND ${Prisma.raw(agentSelected('r', AGENT))}
    AND NOT EXISTS (SELECT 1 FROM tunnel_session n WHERE n.agent_id = a.id)`;
