// Endpoints and agents' sessions as events show them.

import { readPublicUrl } from '../../tunnel/bind/bind-name.ts';
import type { Db } from '../database/client.ts';
import { edgeListPath, ownerPath } from '../edge-paths.ts';
import { bindingOf, cloudPolicyOf, endpointNameOf, partiesOf, pooledAddresses, shownEdge } from './endpoint-facts.ts';

/** Where an agent connected. Only the node of its session knows this; it is not stored. */
export interface Ingress {
  /** The gateway's own address on the agent's connection. */
  serverIp: string;
  /** The server name (SNI) that the agent asked for; '' for none. */
  hostname: string;
}

/** The columns of a session that events show. */
export interface SessionColumns {
  id: string;
  credentialId: string | null;
  ip: string;
  region: string;
  userAgent: string;
  metadata: string;
  os: string;
  arch: string;
  transport: string;
  startedAt: Date;
}

/** How a session ended. */
export interface StoppedSession {
  stoppedAt: Date;
  /** Why the session ended; '' when the agent closed it. */
  error: string;
}

/** A session as its events show it. @param end null for the event that it started. */
export function sessionObject(
  session: SessionColumns,
  ingress: Ingress | undefined,
  end: StoppedSession | null,
  baseUrl: string,
): object {
  return {
    session: ref(session.id, `${baseUrl}/tunnel_sessions`),
    credential: ref(session.credentialId, `${baseUrl}/credentials`),
    agent_ip: session.ip,
    ingress_server_ip: ingress?.serverIp ?? '',
    region: session.region,
    ingress_hostname: ingress?.hostname ?? '',
    user_agent: session.userAgent,
    metadata: session.metadata,
    os: session.os,
    arch: session.arch,
    transport: session.transport,
    started_at: seconds(session.startedAt),
    expires_at: null,
    stopped_at: end && seconds(end.stoppedAt),
    deprecated: null,
    error: end?.error ?? '',
  };
}

/** An endpoint and its object in events. */
export interface ShownEndpoint {
  id: string;
  accountId: string;
  object: object;
}

/** The endpoints of these ids as REST shows them now, in the order of their ids; unknown ids are left out. */
export async function endpointObjects(db: Db, ids: readonly string[], baseUrl: string): Promise<ShownEndpoint[]> {
  const include = {
    tunnel: { select: { name: true, forwardsTo: true, upstreamProtocol: true } },
    edge: { select: { name: true, description: true, modules: true, cloudUrl: { select: { pooling: true } } } },
  } as const;
  const rows = await db.endpoint.findMany({ where: { id: { in: [...ids] } }, orderBy: { id: 'asc' }, include });
  const pooled = await pooledAddresses(
    db,
    rows.flatMap(({ address }) => address ?? []),
  );
  const parties = await partiesOf(
    db,
    rows.flatMap(({ tunnelId }) => tunnelId ?? []),
  );
  return rows.map(({ id, accountId, ...row }) => ({
    id,
    accountId,
    object: {
      id,
      region: row.region,
      created_at: seconds(row.createdAt),
      updated_at: seconds(row.updatedAt),
      public_url: row.publicUrl,
      proto: row.proto,
      hostport: row.hostport,
      type: row.type.toLowerCase(),
      metadata: row.metadata,
      domain: ref(row.domainId, `${baseUrl}/reserved_domains`),
      tcp_addr: ref(row.addressId, `${baseUrl}/reserved_addrs`),
      tunnel: ref(row.tunnelId, `${baseUrl}/tunnels`),
      edge: ref(shownEdge(row), baseUrl + edgeListPath(row.edgeId ?? '')),
      uri: `${baseUrl}/endpoints/${id}`,
      url: row.publicUrl,
      scheme: row.proto,
      ...readPublicUrl(row.publicUrl),
      description: row.edge?.description ?? '',
      principal: ownerObject(parties.get(row.tunnelId ?? '')?.principalId ?? null, baseUrl),
      bindings: [bindingOf(row)],
      pooling_enabled: row.edge?.cloudUrl?.pooling ?? (row.address !== null && pooled.has(row.address)),
      traffic_policy: cloudPolicyOf(row),
      upstream_url: row.tunnel?.forwardsTo ?? '',
      upstream_protocol: row.tunnel?.upstreamProtocol ?? '',
      name: endpointNameOf(row),
    },
  }));
}

/** `{ id, uri }`: how one object refers to another. */
function ref(id: string | null, list: string): { id: string; uri: string } | null {
  return id === null ? null : { id, uri: `${list}/${id}` };
}

function ownerObject(id: string | null, baseUrl: string): { id: string; uri: string } | null {
  return id === null ? null : { id, uri: baseUrl + ownerPath(id) };
}

/** RFC 3339 in UTC, in whole seconds. */
function seconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
