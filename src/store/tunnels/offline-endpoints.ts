// Offline endpoints: addresses that are no longer served, with the reason. They stay until an agent of the account serves them
// again, a user deletes them, or they are too many or too old.

import type { AuditContext } from '../events/audit.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Announce } from './registrar-deps.ts';

/** How long offline endpoints are kept, and the most of one account. */
const RETENTION_DAYS = 30;
const RETAINED_MAX = 1000;

type OfflineContext = Pick<AuditContext, 'db' | 'announce'>;

/** What goes offline. */
export interface OfflineChange {
  endpointIds: readonly string[];
  /** Why it goes offline, as text for users. */
  reason: string;
  /** A statement that deletes what serves the endpoints, and returns the ids. */
  deletion: Prisma.Sql;
}

/**
 * Deletes what serves endpoints, and stores their addresses as offline. It is one statement, because agents are lost by the
 * thousand. An address that other endpoints of the account still serve does not go offline.
 * @returns how many rows the statement of `deletion` deleted.
 */
export async function recordOffline({ db, announce }: OfflineContext, change: OfflineChange): Promise<number> {
  const { reason, deletion } = change;
  const endpointIds = [...change.endpointIds];
  const ids = endpointIds.map(() => newId('oep'));
  const rows = await db.$queryRaw<{ id: string; accountId: string | null }[]>`
    WITH gone AS (
      INSERT INTO offline_endpoint AS o (id, account_id, address, proto, public_url, hostport, metadata, forwards_to,
        name, endpoint_id, credential_id, agent_id, agent_version, ip, os, online_at, reason)
      SELECT DISTINCT ON (e.account_id, e.address) n.id, e.account_id, e.address, e.proto, e.public_url, e.hostport,
        e.metadata, t.forwards_to, t.name, e.id, s.credential_id, s.agent_id, s.agent_version, s.ip, s.os, e.created_at, ${reason}
      FROM unnest(${endpointIds}::text[], ${ids}::text[]) AS n(endpoint_id, id)
      JOIN endpoint e ON e.id = n.endpoint_id
      JOIN tunnel t ON t.id = e.tunnel_id JOIN tunnel_session s ON s.id = t.session_id
      WHERE e.address IS NOT NULL AND NOT EXISTS (SELECT 1 FROM endpoint other WHERE other.address = e.address
        AND other.account_id = e.account_id AND NOT other.id = ANY(${endpointIds}))
      ORDER BY e.account_id, e.address, e.created_at DESC
      ON CONFLICT (account_id, address) DO UPDATE SET (proto, public_url, hostport, metadata, forwards_to, name, endpoint_id, credential_id,
        agent_id, agent_version, ip, os, online_at, offline_at, reason) = (EXCLUDED.proto, EXCLUDED.public_url, EXCLUDED.hostport,
        EXCLUDED.metadata, EXCLUDED.forwards_to, EXCLUDED.name, EXCLUDED.endpoint_id, EXCLUDED.credential_id, EXCLUDED.agent_id, EXCLUDED.agent_version, EXCLUDED.ip, EXCLUDED.os,
        EXCLUDED.online_at, EXCLUDED.offline_at, EXCLUDED.reason)
      RETURNING o.id, o.account_id
    ), deleted AS (${deletion})
    SELECT id, account_id AS "accountId" FROM gone UNION ALL SELECT id, NULL FROM deleted`;
  const newIds = new Set(ids);
  let deleted = 0;
  for (const { id, accountId } of rows)
    if (accountId === null) deleted++;
    else announce({ kind: 'offlineEndpoint', action: newIds.has(id) ? 'CREATED' : 'UPDATED', id, accountId });
  return deleted;
}

/** Statements for `deletion`, which delete sessions or tunnels by id. */
export const deleteSessions = (ids: string[]) =>
  Prisma.sql`DELETE FROM tunnel_session WHERE id = ANY(${ids}) RETURNING id`;
export const deleteTunnels = (ids: string[]) => Prisma.sql`DELETE FROM tunnel WHERE id = ANY(${ids}) RETURNING id`;

/** Announces that offline endpoints were deleted. */
export function announceOnlineAgain(announce: Announce, rows: readonly { id: string; accountId: string }[]): void {
  for (const { id, accountId } of rows) announce({ kind: 'offlineEndpoint', action: 'DELETED', id, accountId });
}

/** Deletes offline endpoints that are too old, and of each account those that are too many. */
export async function sweepOfflineEndpoints({ db, announce }: OfflineContext): Promise<void> {
  const swept = await db.$queryRaw<{ id: string; accountId: string }[]>`
    DELETE FROM offline_endpoint WHERE id IN (
      SELECT id FROM (
        SELECT id, offline_at, row_number() OVER (PARTITION BY account_id ORDER BY id DESC) AS place FROM offline_endpoint
      ) AS placed
      WHERE place > ${RETAINED_MAX} OR offline_at < now() - ${RETENTION_DAYS} * interval '1 day'
    ) RETURNING id, account_id AS "accountId"`;
  announceOnlineAgain(announce, swept);
}
