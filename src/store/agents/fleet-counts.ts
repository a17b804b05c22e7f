// Counts over all agents of an account: how many are online, and what they have in common.

import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The most groups of one kind that are told; those with the most agents come first. */
export const GROUPS_MAX = 100;

export interface AgentCount {
  count: number;
  /** How many of them are online. */
  online: number;
}

const COUNTS = Prisma.sql`count(*)::int AS count, (count(*) FILTER (WHERE is_online))::int AS online`;

/** The agents of an account, each with whether it is online. */
const agentsOf = (accountId: string) => Prisma.sql`
  (SELECT *, EXISTS (SELECT 1 FROM tunnel_session s JOIN node n ON n.id = s.node_id
     WHERE s.agent_id = agent.id AND n.lease_until > now()) AS is_online
   FROM agent WHERE account_id = ${accountId}) AS seen`;

export async function countFleet(db: Db, accountId: string): Promise<AgentCount> {
  const [counts] = await db.$queryRaw<AgentCount[]>`SELECT ${COUNTS} FROM ${agentsOf(accountId)}`;
  return counts ?? { count: 0, online: 0 };
}

export function countByVersion(db: Db, accountId: string): Promise<(AgentCount & { version: string })[]> {
  return db.$queryRaw`
    SELECT version, ${COUNTS} FROM ${agentsOf(accountId)} GROUP BY version ORDER BY count DESC, version LIMIT ${GROUPS_MAX}`;
}

/** Agents whose credential has been deleted are in no group. */
export function countByCredential(
  db: Db,
  accountId: string,
): Promise<(AgentCount & { id: string; description: string })[]> {
  return db.$queryRaw`
    SELECT c.id, c.description, ${COUNTS} FROM ${agentsOf(accountId)} JOIN credential c ON c.id = seen.credential_id
    GROUP BY c.id, c.description ORDER BY count DESC, c.id DESC LIMIT ${GROUPS_MAX}`;
}

/** An agent is in the group of each of its labels. */
export function countByLabel(db: Db, accountId: string): Promise<(AgentCount & { key: string; value: string })[]> {
  return db.$queryRaw`
    SELECT label.key, label.value, ${COUNTS} FROM ${agentsOf(accountId)}, jsonb_each_text(seen.labels) AS label
    GROUP BY label.key, label.value ORDER BY count DESC, label.key, label.value LIMIT ${GROUPS_MAX}`;
}
