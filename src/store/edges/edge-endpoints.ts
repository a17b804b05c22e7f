// The endpoints of edges. An edge with a backend has one endpoint for each of its hostports, and a cloud endpoint is one. The rows are
// like those of tunnels, but belong to no node, because every node serves them.

import type { PublicPorts } from '../../edge/edges/edge-config.ts';
import { publicUrl } from '../../tunnel/bind/bind-name.ts';
import type { Proto } from '../../tunnel/endpoints/endpoint.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { AuditContext, AuditEvent } from '../events/audit.ts';
import { endpointOfflineEvents, endpointOnlineEvent } from '../events/live-events.ts';
import { endpointObjects } from '../events/live-objects.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import type { EdgeKind } from '../generated/prisma/enums.ts';
import { newId } from '../ids.ts';

/** The most edges of one transaction when all edges are synchronized. */
const BATCH = 500;

/** Settings that the endpoints of edges show. They are the same on all nodes. */
export interface EdgeEndpointSettings extends PublicPorts {
  region: string;
}

/** The row that stores these settings for all nodes, so that writes through the API need not know them. */
const SETTINGS_ROW = 'edge_endpoints';
const DEFAULT_SETTINGS: EdgeEndpointSettings = { region: '', publicHttpPort: 80, publicHttpsPort: 443 };

/**
 * Stores the settings of edge endpoints, and brings the endpoints of all edges up to date. It must be called once at every start,
 * before edges are served.
 */
export async function syncAllEdgeEndpoints(
  { prisma, changes, baseUrl }: { prisma: PrismaClient; changes: Changes; baseUrl(): string },
  settings: EdgeEndpointSettings,
): Promise<void> {
  const value = JSON.stringify(settings);
  await prisma.setting.upsert({
    where: { name: SETTINGS_ROW },
    create: { name: SETTINGS_ROW, value },
    update: { value },
  });
  for (let after = ''; ; ) {
    const page = { where: { id: { gt: after } }, orderBy: { id: 'asc' }, take: BATCH, select: { id: true } } as const;
    const ids = (await prisma.edge.findMany(page)).map(({ id }) => id);
    if (ids.length > 0)
      await changes.transaction(prisma, (db, announce) => sync({ db, announce, baseUrl: baseUrl() }, ids));
    if (ids.length < BATCH) return;
    after = ids.at(-1) as string;
  }
}

/**
 * Creates, changes and deletes the endpoints of an edge, so that there is one for each of its hostports as long as it has a
 * backend: an HTTPS edge that of any of its routes, others their own. Endpoints that stay keep their ids. It must be called at
 * the end of every transaction that writes an edge, its hostports, its routes or their backends.
 */
export function syncEdgeEndpoints(audit: AuditContext, edgeId: string): Promise<void> {
  return sync(audit, [edgeId]);
}

/** Deletes and announces the endpoints of an edge. It must be called before the edge is deleted, in the same transaction. */
export async function deleteEdgeEndpoints(audit: AuditContext, edgeId: string): Promise<void> {
  const rows = await audit.db.endpoint.findMany({ where: { edgeId }, select: { id: true, accountId: true } });
  await replaceEndpoints(audit, rows, []);
}

/** A hostport of an edge that has a backend, or the URL of a cloud endpoint. */
interface BackedHostport {
  accountId: string;
  edgeId: string;
  kind: EdgeKind;
  metadata: string;
  proto: Proto;
  hostname: string;
  port: number;
  domainId: string | null;
  addressId: string | null;
}

async function sync(audit: AuditContext, edgeIds: string[]): Promise<void> {
  const { db, announce } = audit;
  // The lock makes concurrent writes to one edge follow each other. It does not block writes of rows that refer to the edge.
  const [edge] = await db.$queryRaw<{ appearance: string | null }[]>`
    SELECT (SELECT value FROM setting WHERE name = ${SETTINGS_ROW}) AS appearance
    FROM edge WHERE id = ANY(${edgeIds}) ORDER BY id FOR NO KEY UPDATE`;
  if (!edge) return;
  // A version before has stored them without the port of HTTP.
  const settings = { ...DEFAULT_SETTINGS, ...(edge.appearance !== null && JSON.parse(edge.appearance)) };
  const hostports = await db.$queryRaw<BackedHostport[]>`
    SELECT e.account_id AS "accountId", e.id AS "edgeId", e.kind, e.metadata,
      CASE e.kind WHEN 'TCP' THEN 'tcp' WHEN 'TLS' THEN 'tls' ELSE 'https' END AS proto,
      split_part(h.hostport, ':', 1) AS hostname, split_part(h.hostport, ':', 2)::int AS port,
      h.domain_id AS "domainId", h.address_id AS "addressId", h.position
    FROM edge_hostport h JOIN edge e ON e.id = h.edge_id
    WHERE e.id = ANY(${edgeIds}) AND CASE e.kind
      WHEN 'CLOUD' THEN true
      WHEN 'HTTPS' THEN EXISTS (
        SELECT 1 FROM route r WHERE r.edge_id = e.id AND r.backend_enabled AND r.backend_id IS NOT NULL)
      ELSE e.backend_enabled AND e.backend_id IS NOT NULL END
    UNION ALL
    SELECT e.account_id, e.id, e.kind, e.metadata, c.proto, c.hostname, c.port, c.domain_id, c.address_id, 0
    FROM cloud_url c JOIN edge e ON e.id = c.edge_id WHERE e.id = ANY(${edgeIds})
    ORDER BY "edgeId", position`;
  const before = await db.endpoint.findMany({ where: { edgeId: { in: edgeIds } } });
  const created: EndpointRow[] = [];
  // A cloud endpoint is the same one at another URL.
  const keyOf = (edgeId: string | null, hostport: string, isCloud: boolean) =>
    isCloud ? edgeId : `${edgeId} ${hostport}`;
  const obsolete = new Map(before.map((row) => [keyOf(row.edgeId, row.hostport, row.type === 'CLOUD'), row]));

  for (const hostport of hostports) {
    const { accountId, edgeId, kind } = hostport;
    const isCloud = kind === 'CLOUD';
    const columns = endpointColumns(hostport, settings);
    const key = keyOf(edgeId, columns.hostport, isCloud);
    const row = obsolete.get(key);
    obsolete.delete(key);
    const isSame = row && Object.entries(columns).every(([name, value]) => row[name as keyof typeof row] === value);
    if (isSame) continue;
    const id = row?.id ?? newId('ep');
    if (row) {
      await db.endpoint.update({ where: { id }, data: { ...columns, updatedAt: new Date() }, select: { id: true } });
      announce({ kind: 'endpoint', action: 'UPDATED', id, accountId });
    } else {
      await db.endpoint.create({ data: { ...columns, id, accountId, edgeId, type: isCloud ? 'CLOUD' : 'EDGE' } });
      created.push({ id, accountId });
    }
  }
  await replaceEndpoints(audit, [...obsolete.values()], created);
}

function endpointColumns(
  { proto, hostname, port, metadata, domainId, addressId }: BackedHostport,
  { region, publicHttpPort, publicHttpsPort }: EdgeEndpointSettings,
) {
  const listener = proto === 'http' ? publicHttpPort : publicHttpsPort;
  const url = publicUrl(proto, hostname, proto === 'tcp' || isInternalName(hostname) ? port : listener);
  return { proto, publicUrl: url, hostport: `${hostname}:${port}`, metadata, region, domainId, addressId };
}

interface EndpointRow {
  id: string;
  accountId: string;
}

/** Deletes endpoints, and announces the deleted and the created ones. */
async function replaceEndpoints(audit: AuditContext, deleted: EndpointRow[], created: EndpointRow[]): Promise<void> {
  const { db, announce, baseUrl } = audit;
  const all = [...deleted, ...created];
  if (all.length === 0) return;
  const accountIds = all.map(({ accountId }) => accountId);
  const subscriptions = await findSubscriptions(db, accountIds, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const events: AuditEvent[] = await endpointOfflineEvents(audit, idsOf(deleted), subscriptions);
  if (deleted.length > 0) await db.endpoint.deleteMany({ where: { id: { in: idsOf(deleted) } } });
  for (const { id, accountId } of deleted) announce({ kind: 'endpoint', action: 'DELETED', id, accountId });
  for (const { id, accountId } of created) announce({ kind: 'endpoint', action: 'CREATED', id, accountId });
  if (subscriptions.hasSubscribers('endpoint_online.v0'))
    events.push(...(await endpointObjects(db, idsOf(created), baseUrl)).map(endpointOnlineEvent));
  await writeAudit(audit, events, subscriptions);
}

function idsOf(rows: EndpointRow[]): string[] {
  return rows.map(({ id }) => id);
}
