// Finds the edges that an object is a part of, so that a change reloads only the edges that it affects.

import type { Db } from '../database/client.ts';
import { isId } from '../ids.ts';

/**
 * Remembers which edge each loaded route belongs to, and which policy each IP policy rule: after a deletion, the database can no
 * longer say.
 */
export class OwnerIndex {
  readonly #owners = new Map<string, string>();
  readonly #partsOf = new Map<string, readonly string[]>();

  /** The edge of a route, or the policy of a rule. */
  ownerOf(id: string): string | undefined {
    return this.#owners.get(id);
  }

  /** Replaces the ids that belong to an owner. */
  set(owner: string, ids: readonly string[]): void {
    for (const id of this.#partsOf.get(owner) ?? []) this.#owners.delete(id);
    if (ids.length > 0) this.#partsOf.set(owner, ids);
    else this.#partsOf.delete(owner);
    for (const id of ids) this.#owners.set(id, owner);
  }

  clear(): void {
    this.#owners.clear();
    this.#partsOf.clear();
  }
}

const isEdge = (id: string) => ['edghts', 'edgtls', 'edgtcp', 'edgcld'].some((prefix) => isId(prefix, id));

/** The edges that these objects are, or are a part of, now or when they were loaded last. If all are edges, it needs no statement. */
export async function affectedEdges(db: Db, ids: readonly string[], owners: OwnerIndex): Promise<string[]> {
  const all = [...new Set(ids.flatMap((id) => [id, owners.ownerOf(id) ?? id]))];
  const edges = all.filter(isEdge);
  const parts = all.filter((id) => !isEdge(id));
  if (parts.length === 0) return edges;
  const rows = await db.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE policy AS (
      SELECT unnest(${parts}::text[]) AS id UNION SELECT policy_id FROM ip_policy_rule WHERE id = ANY(${parts})
    ), above AS (
      SELECT unnest(${parts}::text[]) COLLATE "C" AS id UNION SELECT backend_id FROM backend_member JOIN above ON id = member_id
    )
    SELECT edge_id AS id FROM route WHERE id = ANY(${parts})
    UNION SELECT edge_id FROM route JOIN above ON above.id = backend_id
    UNION SELECT edge.id FROM edge JOIN above ON above.id = backend_id
    UNION SELECT edge_id FROM mutual_tls_authority WHERE authority_id = ANY(${parts})
    UNION SELECT edge_id FROM edge_ip_policy JOIN policy ON policy.id = policy_id
    UNION SELECT edge_id FROM route JOIN route_ip_policy ON route_id = route.id JOIN policy ON policy.id = policy_id`;
  return [...new Set([...edges, ...rows.map(({ id }) => id)])];
}
