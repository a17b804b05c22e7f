// Agents that connect: each has a row, which stays when it is offline.

import { createHash } from 'node:crypto';
import type { AgentReport, OpenedSession } from '../../tunnel/control/registrar.ts';
import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';
import { newId } from '../ids.ts';

/** An agent that has opened a session. */
export interface Arrival {
  id: string;
  accountId: string;
  isNew: boolean;
}

type ReportingSession = OpenedSession & { agent: AgentReport };

/**
 * Stores what agents say of themselves as they connect, in one statement. It is no part of the transactions of their sessions, so that
 * none of those waits for an agent's row and for a session at the same time.
 * @returns the agents by session; several sessions may be of one. Sessions of a worker of an earlier version have none.
 */
export async function recordArrivals<T extends OpenedSession>(
  db: Db,
  sessions: readonly T[],
): Promise<Map<T, Arrival>> {
  const reporting = sessions.filter((session): session is T & ReportingSession => session.agent !== undefined);
  if (reporting.length === 0) return new Map();
  const rows = new Map(reporting.map((session) => [keyOf(session), agentRow(session)]));
  const stored = await db.$queryRaw<{ id: string; accountId: string; identity: string }[]>`
    INSERT INTO agent AS a (id, account_id, identity, credential_id, name, reported_name, host_name, labels, reported_labels,
      os, arch, version, user_agent, ip, token_number, refusals)
    SELECT w.id, w.account_id, w.identity, c.id, w.name, w.reported_name, w.host_name, w.labels || coalesce(c.labels, '{}'),
      w.labels, w.os, w.arch, w.version, w.user_agent, w.ip, w.token_number, w.refusals
    FROM json_to_recordset(${toJsonRows([...rows.values()])}::json) AS w(id text, account_id text, identity text,
      credential_id text, name text, reported_name text, host_name text, labels jsonb, os text, arch text, version text,
      user_agent text, ip text, token_number int, refusals jsonb)
    LEFT JOIN credential c ON c.id = w.credential_id
    ORDER BY w.account_id, w.identity
    ON CONFLICT (account_id, identity) DO UPDATE SET (credential_id, name, reported_name, host_name, labels, reported_labels,
      os, arch, version, user_agent, ip, token_number, refusals, last_seen_at) = (EXCLUDED.credential_id,
      coalesce(a.assigned_name, EXCLUDED.name), EXCLUDED.reported_name, EXCLUDED.host_name,
      EXCLUDED.labels || a.assigned_labels, EXCLUDED.reported_labels, EXCLUDED.os, EXCLUDED.arch, EXCLUDED.version,
      EXCLUDED.user_agent, EXCLUDED.ip, EXCLUDED.token_number, EXCLUDED.refusals, now())
    RETURNING id, account_id AS "accountId", identity`;
  const agents = new Map(stored.map((agent) => [`${agent.accountId} ${agent.identity}`, agent]));
  const arrivals = new Map<T, Arrival>();
  for (const session of reporting) {
    const key = keyOf(session);
    const agent = agents.get(key);
    if (agent)
      arrivals.set(session, { id: agent.id, accountId: agent.accountId, isNew: rows.get(key)?.id === agent.id });
  }
  return arrivals;
}

/**
 * What an agent is recognized by: its device id; without one, its credential with its host and the name that it gives itself. One that
 * tells no host is known by its address.
 */
function identityOf({ agent: { deviceId, hostName, name }, credentialId, ip }: ReportingSession): string {
  const parts = deviceId ? ['device', deviceId] : ['host', credentialId, hostName || ip, name];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const keyOf = (session: ReportingSession) => `${session.accountId} ${identityOf(session)}`;

function agentRow(session: ReportingSession): { id: string } {
  const { agent, accountId, credentialId, os, arch, agentVersion, userAgent, ip, tokenNumber = 0 } = session;
  const { name, hostName, labels, refusals } = agent;
  return {
    ...{ id: newId('agt'), account_id: accountId, identity: identityOf(session), credential_id: credentialId },
    ...{ name: name || hostName || ip, reported_name: name, host_name: hostName, labels, refusals },
    ...{ os, arch, version: agentVersion, user_agent: userAgent, ip, token_number: tokenNumber },
  };
}
