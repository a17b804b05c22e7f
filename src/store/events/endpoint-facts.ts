// What is told of an endpoint beyond its row: from what serves it, for the API and for events alike.

import { readPublicUrl } from '../../tunnel/bind/bind-name.ts';
import { isInternalName } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';

/** Who holds the credential of the agent behind an endpoint. */
export const principalSelect = {
  tunnel: { select: { session: { select: { credential: { select: { ownerId: true } } } } } },
} as const;

interface WithPrincipal {
  tunnel: { session: { credential: { ownerId: string } | null } } | null;
}

/** The id of a user or a bot user; null where no agent serves it, and where its credential was deleted. */
export function principalOf({ tunnel }: WithPrincipal): string | null {
  return tunnel?.session.credential?.ownerId ?? null;
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
