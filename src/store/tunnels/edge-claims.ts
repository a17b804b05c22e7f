// Names that an edge wants: it may have those that no agent serves. Agents are refused the names of edges, so that a name
// is never served by both.

import type { Address } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Db } from '../database/client.ts';
import { freeClaims } from './claims.ts';

/**
 * The names, of these, that agents serve right now. No agent gets another of them until the end of the transaction, in
 * which the edge has to get its hostports. Names that were kept for an agent are kept no longer.
 */
export async function namesOfAgents(db: Db, accountId: string, names: string[]): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const addresses = names.flatMap((name): Address[] => [`http:${name}`, `tls:${name}`]);
  // What is not there cannot be locked. The claims are nobody's, and gone when this is over.
  await db.$executeRaw`
    INSERT INTO claim (address, account_id, credential_id, pooling)
    SELECT address, ${accountId}, '', false FROM unnest(${addresses}::text[]) AS address ORDER BY address
    ON CONFLICT (address) DO UPDATE SET address = EXCLUDED.address`;
  const served = await db.$queryRaw<{ address: string }[]>`
    SELECT e.address FROM endpoint e JOIN node n ON n.id = e.node_id
    WHERE e.address = ANY(${addresses}) AND n.lease_until > now()`;
  await freeClaims(db, addresses);
  return new Set(served.map(({ address }) => address.slice(address.indexOf(':') + 1)));
}
