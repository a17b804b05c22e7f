// The statements that find routes: tunnels of other nodes, whose lease is valid.

import type { NodeRef, Routes, TunnelRoute } from '../../tunnel/control/routes.ts';
import type { Labels } from '../../tunnel/endpoints/endpoint.ts';
import type { NameStatus } from '../../tunnel/endpoints/endpoint-lookup.ts';
import type { Db } from '../database/client.ts';

/** A lookup: the addresses that would serve the target, the most specific first, and the domains whose reservation counts. */
export interface Lookup {
  addresses: readonly string[];
  domains: readonly string[];
}

/** The most routes of one address or one selector: more tunnels than that need not share one entry. */
const ROUTES_MAX = 100;

/** The status of a name that is held by itself, or by the wildcard over it. */
const HELD: readonly NameStatus[] = ['offline', 'covered'];

interface Row {
  what: 'served' | 'claimed' | 'reserved';
  name: string;
  tunnelId: string;
  nodeId: string;
  nodeAddress: string;
  /** Whether further tunnels may come to serve the address. */
  pooling: boolean;
}

type RouteRow = Pick<Row, 'tunnelId' | 'nodeId' | 'nodeAddress'>;

/**
 * Finds the routes of many lookups with one statement.
 * @param nodes shares one object for each node among all routes; it is updated.
 * @returns the routes, in the order of the lookups.
 */
export async function findRoutes(
  db: Db,
  lookups: readonly Lookup[],
  ownId: string,
  nodes: Map<string, NodeRef>,
): Promise<Routes[]> {
  const addresses = [...new Set(lookups.flatMap((lookup) => lookup.addresses))];
  const domains = [...new Set(lookups.flatMap((lookup) => lookup.domains))];
  const rows = await db.$queryRaw<Row[]>`
    SELECT 'served' AS what, e.address AS name, e.tunnel_id AS "tunnelId", n.id AS "nodeId", n.address AS "nodeAddress",
        coalesce(c.pooling, false) AS pooling
      FROM endpoint e JOIN node n ON n.id = e.node_id LEFT JOIN claim c ON c.address = e.address
      WHERE e.address = ANY(${addresses}) AND n.id <> ${ownId} AND n.lease_until > now()
    UNION ALL SELECT 'served', e.address, e.tunnel_id, n.id, n.address, coalesce(c.pooling, false)
      FROM endpoint e JOIN tunnel_leg l ON l.tunnel_id = e.tunnel_id JOIN node n ON n.id = l.node_id
        LEFT JOIN claim c ON c.address = e.address
      WHERE e.address = ANY(${addresses}) AND n.id <> ${ownId} AND n.lease_until > now()
    UNION ALL SELECT 'claimed', address, '', '', '', pooling FROM claim
      WHERE address = ANY(${addresses}) AND (held_until IS NULL OR held_until > now())
    UNION ALL SELECT 'reserved', domain, '', '', '', false FROM reserved_domain WHERE domain = ANY(${domains})`;
  const known = grouped(rows);
  return lookups.map((lookup) => {
    const rank = lookup.addresses.findIndex((address) => known.has(`served ${address}`));
    if (rank >= 0) {
      const served = known.get(`served ${lookup.addresses[rank]}`) ?? [];
      const routes = served.slice(0, ROUTES_MAX).map((row) => routeOf(row, rank, nodes));
      // An exact name can be bound beside a wildcard at any time.
      return {
        status: 'elsewhere',
        routes,
        mayChange: rank > 0 || served.length > 1 || served.some(({ pooling }) => pooling),
      };
    }
    const held = lookup.addresses.findIndex(
      (address, index) => known.has(`claimed ${address}`) || known.has(`reserved ${lookup.domains[index]}`),
    );
    return { status: HELD[held] ?? (held > 0 ? 'beneath' : 'unknown'), routes: [], mayChange: true };
  });
}

/** Finds the labelled tunnels of an account on other nodes whose labels include the selector; the newest first. */
export async function findLabelledRoutes(
  db: Db,
  { accountId, selector }: { accountId: string; selector: Labels },
  ownId: string,
  nodes: Map<string, NodeRef>,
): Promise<TunnelRoute[]> {
  const rows = await db.$queryRaw<RouteRow[]>`
    SELECT t.id AS "tunnelId", n.id AS "nodeId", n.address AS "nodeAddress"
    FROM tunnel t CROSS JOIN LATERAL (
      SELECT s.node_id FROM tunnel_session s WHERE s.id = t.session_id
      UNION SELECT l.node_id FROM tunnel_leg l WHERE l.tunnel_id = t.id
    ) AS served JOIN node n ON n.id = served.node_id
    WHERE t.account_id = ${accountId} AND t.public_url IS NULL AND t.labels @> ${JSON.stringify(selector)}::jsonb
      AND n.id <> ${ownId} AND n.lease_until > now()
    ORDER BY t.id DESC LIMIT ${ROUTES_MAX}`;
  return rows.map((row) => routeOf(row, 0, nodes));
}

/** The TCP ports of live endpoints on other nodes. */
export async function findRemotePorts(db: Db, ownId: string): Promise<number[]> {
  const rows = await db.$queryRaw<{ address: string }[]>`
    SELECT DISTINCT e.address FROM endpoint e LEFT JOIN tunnel_leg l ON l.tunnel_id = e.tunnel_id
    JOIN node n ON n.id IN (e.node_id, l.node_id)
    WHERE e.address >= 'tcp:' AND e.address < 'tcp;' AND n.id <> ${ownId} AND n.lease_until > now()`;
  return rows.map(({ address }) => Number(address.slice('tcp:'.length)));
}

function grouped(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = `${row.what} ${row.name}`;
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function routeOf({ tunnelId, nodeId, nodeAddress }: RouteRow, rank: number, nodes: Map<string, NodeRef>): TunnelRoute {
  const known = nodes.get(nodeId);
  if (known?.address === nodeAddress) return { tunnelId, node: known, rank };
  const node: NodeRef = { id: nodeId, address: nodeAddress };
  nodes.set(nodeId, node);
  return { tunnelId, node, rank };
}
