// Inserts the rows of tunnels that have addresses.

import type { BindRequest } from '../../tunnel/control/registrar.ts';
import { type EndpointAddress, hasTcpPort } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { toJsonRows } from '../database/json-rows.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isHeldInCloud } from './bind-transaction.ts';
import type { Holder } from './claims.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

export interface NewTunnel {
  request: BindRequest;
  holder: Holder;
  address: EndpointAddress;
  tunnelId: string;
  endpointId: string;
  domainId: string | null;
  /** The account's reservation of the TCP address. */
  addressId: string | null;
  /** The hostport that an edge would have. */
  hostport: string;
}

export interface AcceptedTunnel extends NewTunnel {
  /** Whether the tunnel is there already and gets a leg. */
  joins: boolean;
}

const IN_CLOUD = isHeldInCloud({
  address: Prisma.sql`w.address`,
  accountId: Prisma.sql`w.account_id`,
  proto: Prisma.sql`w.proto`,
  pooling: Prisma.sql`w.pooling`,
});

export interface InsertedTunnels {
  /** The endpoints that were inserted or got a leg. For the others, the session was gone, or an edge, a cloud endpoint or a reservation had got the address. */
  live: Set<string>;
  /** The offline endpoints that were deleted because their addresses are online again. */
  onlineAgain: { id: string; accountId: string }[];
}

/**
 * Updates the claims, which must be locked, inserts the tunnels, endpoints and legs, and deletes the offline endpoints of the addresses.
 * It is one statement for all, because agents that reconnect after an outage bind by the thousand.
 */
export async function insertTunnels(
  db: Db,
  { node, settings }: RegistrarDeps,
  tunnels: readonly AcceptedTunnel[],
): Promise<InsertedTunnels> {
  const { region } = settings;
  const rows = tunnels.map(
    ({ request, holder, address, tunnelId, endpointId, domainId, addressId, hostport, joins }) => ({
      session_id: request.sessionId,
      account_id: holder.accountId,
      credential_id: holder.credentialId,
      tunnel_id: tunnelId,
      endpoint_id: endpointId,
      domain_id: domainId,
      address_id: addressId,
      port: hasTcpPort(request) ? request.port : null,
      address,
      proto: request.proto,
      public_url: request.publicUrl,
      hostport: `${request.hostname}:${request.port}`,
      of_edge: hostport,
      pooling: request.pooling,
      name: request.name ?? '',
      forwards_to: request.forwardsTo,
      upstream_protocol: request.upstreamProtocol ?? '',
      metadata: request.metadata,
      joins,
    }),
  );
  const inserted = await db.$queryRaw<{ id: string; accountId: string | null }[]>`
    WITH wanted AS (
      SELECT * FROM json_to_recordset(${toJsonRows(rows)}::json) AS w(session_id text, account_id text, credential_id text,
        tunnel_id text, endpoint_id text, domain_id text, address_id text, port int, address text, proto text, public_url text, hostport text,
        of_edge text, pooling boolean, name text, forwards_to text, upstream_protocol text, metadata text, joins boolean)
    ), taken AS (
      UPDATE claim SET account_id = w.account_id, credential_id = w.credential_id, pooling = w.pooling, held_until = NULL
      FROM wanted w WHERE claim.address = w.address
    ), session AS (
      SELECT id FROM tunnel_session WHERE id IN (SELECT session_id FROM wanted) ORDER BY id FOR SHARE
    ), ready AS (
      SELECT w.* FROM wanted w JOIN session ON session.id = w.session_id
      WHERE NOT EXISTS (SELECT 1 FROM edge_hostport e WHERE e.hostport = w.of_edge) AND NOT ${IN_CLOUD}
        AND NOT EXISTS (SELECT 1 FROM reserved_address r WHERE r.port = w.port AND r.id IS DISTINCT FROM w.address_id)
    ), opened AS (
      INSERT INTO tunnel (id, account_id, session_id, proto, public_url, name, forwards_to, upstream_protocol, metadata, region)
      SELECT tunnel_id, account_id, session_id, proto, public_url, name, forwards_to, upstream_protocol, metadata, ${region} FROM ready
      WHERE NOT joins RETURNING id
    ), live AS (
      INSERT INTO endpoint (id, account_id, node_id, type, proto, public_url, hostport, address, metadata, region,
        domain_id, address_id, tunnel_id)
      SELECT w.endpoint_id, w.account_id, ${node.id}, 'EPHEMERAL', w.proto, w.public_url, w.hostport, w.address,
        w.metadata, ${region}, w.domain_id, w.address_id, opened.id FROM ready w JOIN opened ON opened.id = w.tunnel_id
      RETURNING id
    ), joined AS (
      INSERT INTO tunnel_leg (tunnel_id, session_id, node_id)
      SELECT t.id, w.session_id, ${node.id} FROM ready w JOIN tunnel t ON t.id = w.tunnel_id
      WHERE w.joins AND t.session_id <> w.session_id ON CONFLICT DO NOTHING
    ), described AS (
      UPDATE tunnel SET name = w.name, forwards_to = w.forwards_to, upstream_protocol = w.upstream_protocol, metadata = w.metadata
      FROM ready w WHERE w.joins AND tunnel.id = w.tunnel_id
        AND (tunnel.name, tunnel.forwards_to, tunnel.upstream_protocol, tunnel.metadata)
          IS DISTINCT FROM (w.name, w.forwards_to, w.upstream_protocol, w.metadata)
    ), shown AS (
      UPDATE endpoint SET metadata = w.metadata, updated_at = now() FROM ready w
      WHERE w.joins AND endpoint.id = w.endpoint_id AND endpoint.metadata IS DISTINCT FROM w.metadata
    ), back AS (
      DELETE FROM offline_endpoint o USING ready w WHERE o.account_id = w.account_id AND o.address = w.address
      RETURNING o.id, o.account_id
    )
    SELECT id, NULL AS "accountId" FROM live UNION ALL SELECT endpoint_id, NULL FROM ready WHERE joins
    UNION ALL SELECT id, account_id FROM back`;
  const onlineAgain = inserted.flatMap(({ id, accountId }) => (accountId === null ? [] : [{ id, accountId }]));
  return { live: new Set(inserted.flatMap(({ id, accountId }) => (accountId === null ? [id] : []))), onlineAgain };
}
