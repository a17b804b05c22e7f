// Inserts the rows of new sessions. Of each leg of an agent only one session may have its number.

import { leftLegs } from '../../tunnel/control/leg-numbers.ts';
import type { OpenedSession } from '../../tunnel/control/registrar.ts';
import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';

export type SessionRow = OpenedSession & { id: string; nodeId: string; region: string };
/** @param agentId null of a session whose agent is not known. */
export type StoredSession = SessionRow & { agentId: string | null };

/**
 * Gives the earlier sessions of agents that move other numbers. They stay, until their last streams have ended. One for which no number
 * is free is not among them: it ends, as one with another credential does.
 */
export async function setEarlierAside(db: Db, sessions: readonly SessionRow[]): Promise<void> {
  if (sessions.length === 0) return;
  const rows = sessions.map(({ accountId, clientId, credentialId, leg }) => ({
    account_id: accountId,
    client_id: clientId,
    credential_id: credentialId,
    leg,
  }));
  // Each leg has numbers of its own, so that two of one agent can move at once.
  await db.$executeRaw`
    UPDATE tunnel_session AS earlier SET leg = free.leg
    FROM json_to_recordset(${toJsonRows(rows)}::json) AS w(account_id text, client_id text, credential_id text, leg int),
      LATERAL (
        SELECT min(number) AS leg FROM generate_series(w.leg + ${leftLegs.step}::int, ${leftLegs.max}::int, ${leftLegs.step}::int) AS number
        WHERE NOT EXISTS (SELECT 1 FROM tunnel_session AS other
          WHERE other.account_id = w.account_id AND other.client_id = w.client_id AND other.leg = number)
      ) AS free
    WHERE earlier.account_id = w.account_id AND earlier.client_id = w.client_id AND earlier.leg = w.leg
      AND earlier.credential_id = w.credential_id AND free.leg IS NOT NULL`;
}

/** @returns the ids of the agents' sessions: the new ones, or for some the earlier session of that leg, which is then locked. */
export async function insertOrLock(db: Db, sessions: readonly StoredSession[]): Promise<string[]> {
  const rows = sessions.map((row) => ({
    id: row.id,
    account_id: row.accountId,
    node_id: row.nodeId,
    credential_id: row.credentialId,
    agent_id: row.agentId,
    token_number: row.tokenNumber ?? 0,
    client_id: row.clientId,
    leg: row.leg,
    agent_version: row.agentVersion,
    ip: row.ip,
    os: row.os,
    arch: row.arch,
    user_agent: row.userAgent,
    metadata: row.metadata,
    region: row.region,
    transport: row.transport,
  }));
  const there = await db.$queryRaw<{ id: string }[]>`
    INSERT INTO tunnel_session (id, account_id, node_id, credential_id, agent_id, token_number, client_id, leg,
      agent_version, ip, os, arch, user_agent, metadata, region, transport)
    SELECT * FROM json_to_recordset(${toJsonRows(rows)}::json) AS w(id text, account_id text, node_id text,
      credential_id text, agent_id text, token_number int, client_id text, leg int, agent_version text, ip text, os text, arch text, user_agent text,
      metadata text, region text, transport text) ORDER BY account_id, client_id, leg
    ON CONFLICT (account_id, client_id, leg) DO UPDATE SET client_id = EXCLUDED.client_id RETURNING id`;
  return there.map(({ id }) => id);
}
