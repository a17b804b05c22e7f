// What is told of an endpoint beyond its row: from what serves it, for the API and for events alike.

import type { StoredPolicy } from '../../edge/modules/traffic-policy.ts';
import { readPublicUrl } from '../../tunnel/bind/bind-name.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';

/** Who is behind an endpoint, by their ids. */
export interface EndpointParties {
  agentId: string | null;
  credentialId: string | null;
  /** The user or bot user that holds the credential. */
  principalId: string | null;
}

/**
 * The agents that opened these tunnels, by tunnel, with their credentials and who holds those. One whose credential was deleted has none.
 * One statement: between several, a session ends, and its tunnel goes to another one.
 */
export async function partiesOf(db: Db, tunnelIds: readonly string[]): Promise<Map<string, EndpointParties>> {
  if (tunnelIds.length === 0) return new Map();
  const rows = await db.$queryRaw<(EndpointParties & { id: string })[]>`
    SELECT t.id, s.agent_id AS "agentId", c.id AS "credentialId", c.owner_id AS "principalId" FROM tunnel t
    JOIN tunnel_session s ON s.id = t.session_id LEFT JOIN credential c ON c.id = s.credential_id
    WHERE t.id = ANY(${tunnelIds as string[]})`;
  return new Map(rows.map(({ id, ...parties }) => [id, parties]));
}

/** Who can reach it: everybody, or the traffic policies of its account. */
export function bindingOf({ publicUrl }: { publicUrl: string }): 'public' | 'internal' {
  return isInternalName(readPublicUrl(publicUrl).host) ? 'internal' : 'public';
}

/** The addresses, of these, that several tunnels may serve together. */
export async function pooledAddresses(db: Db, addresses: readonly string[]): Promise<Set<string>> {
  const where = { address: { in: [...addresses] }, pooling: true };
  const rows = await db.claim.findMany({ where, select: { address: true } });
  return new Set(rows.map(({ address }) => address));
}

/** The edge that serves it, as the API tells it: the row behind a cloud endpoint is none. */
export function shownEdge({ type, edgeId }: { type: string; edgeId: string | null }): string | null {
  return type === 'CLOUD' ? null : edgeId;
}

/** What its agent calls it, or whoever has created the cloud endpoint; '' for nothing. */
export function endpointNameOf({
  tunnel,
  edge,
}: {
  tunnel: { name: string } | null;
  edge: { name: string } | null;
}): string {
  return tunnel?.name ?? edge?.name ?? '';
}

/** The traffic policy of a cloud endpoint, with its secrets masked; '' of others. */
export function cloudPolicyOf({ type, edge }: { type: string; edge: { modules: unknown } | null }): string {
  if (type !== 'CLOUD' || !edge) return '';
  const { trafficPolicy: policy } = edge.modules as { trafficPolicy?: StoredPolicy }; // Only modules write there.
  if (!policy) return '';
  return 'masked' in policy ? policy.masked : policy.value;
}
