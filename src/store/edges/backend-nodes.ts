// Reads the backends that are no tunnel groups, with all that they lead to, for the data plane.

import type { BackendChoice, BackendNode } from '../../edge/edges/edge-config.ts';
import { readHostPort } from '../../net/host-port.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** What the column `response` holds of a backend that is a fixed HTTP response. */
export interface StoredResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

const select = {
  ...{ id: true, kind: true, labels: true, response: true, address: true, tls: true },
  members: { select: { memberId: true, weight: true }, orderBy: { position: 'asc' } },
} as const;

type BackendRow = Prisma.BackendGetPayload<{ select: typeof select }>;

/** All backends that these lead to, themselves among them, by their ids. Needs no statement where there are none. */
export async function readBackendNodes(db: Db, ids: readonly string[]): Promise<Map<string, BackendNode>> {
  const nodes = new Map<string, BackendNode>();
  // Level by level, so that what several lead to is read once, and a circle ends.
  for (let next = [...new Set(ids)]; next.length > 0; ) {
    const rows = await db.backend.findMany({ where: { id: { in: next } }, select });
    for (const row of rows) nodes.set(row.id, nodeOf(row));
    const members = rows.flatMap((row) => row.members.map(({ memberId }) => memberId));
    next = [...new Set(members)].filter((id) => !nodes.has(id));
  }
  return nodes;
}

/** One backend, with those of `nodes` that it leads to. */
export function choiceOf(root: string, nodes: ReadonlyMap<string, BackendNode>): BackendChoice {
  const reached: Record<string, BackendNode> = {};
  const reach = (id: string) => {
    const node = nodes.get(id);
    if (!node || id in reached) return;
    reached[id] = node;
    for (const member of memberIdsOf(node)) reach(member);
  };
  reach(root);
  return { root, nodes: reached };
}

function memberIdsOf(node: BackendNode): readonly string[] {
  if (node.kind === 'failover') return node.members;
  return node.kind === 'weighted' ? node.members.map(({ id }) => id) : [];
}

function nodeOf({ kind, labels, response, address, tls, members }: BackendRow): BackendNode {
  const at = address === null ? undefined : readHostPort(address);
  if (at) return { kind: 'address', ...at, tls: tls === true };
  if (kind === 'WEIGHTED')
    return { kind: 'weighted', members: members.map(({ memberId: id, weight }) => ({ id, weight: weight ?? 0 })) };
  if (kind === 'FAILOVER') return { kind: 'failover', members: members.map(({ memberId }) => memberId) };
  if (kind === 'TUNNEL_GROUP') return { kind: 'tunnels', labels: labels as Record<string, string> };
  const { statusCode: status, headers, body } = response as unknown as StoredResponse;
  return { kind: 'response', status, headers, body };
}
