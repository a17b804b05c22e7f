// Backends that send each visit to one of others: by weight, or to the first that is online. Whether one is online is seen when
// its turn comes, so that an agent that comes or goes counts with the next visit.

import type { Labels } from '../../tunnel/endpoints/endpoint.ts';
import type { BackendChoice, BackendNode } from './edge-config.ts';

type Found<T> = T | undefined;
type Pick<T> = () => Found<T> | Promise<Found<T>>;

export interface BackendChoiceParts<T> {
  /** The tunnels that have the labels. */
  tunnels(labels: Labels): Pick<T>;
  /** An address that the gateway connects to itself. */
  address(node: Extract<BackendNode, { kind: 'address' }>): T;
  /** What a fixed response is to the visitor; undefined where it cannot be given. */
  response(node: Extract<BackendNode, { kind: 'response' }>): Found<T>;
  /** From 0 to less than 1, as `Math.random`. */
  random(): number;
}

/**
 * Makes the choice between backends. A visit looks at each backend once at most, however often it is named: what was offline a
 * moment ago is taken for offline, and no circle of names keeps a visit.
 * @returns picks what serves a visit; undefined when nothing that can be chosen is online.
 */
export function chooseBackend<T extends object>({ root, nodes }: BackendChoice, parts: BackendChoiceParts<T>): Pick<T> {
  const leaves = new Map<string, Pick<T>>();
  for (const [id, node] of Object.entries(nodes)) {
    if (node.kind === 'tunnels') leaves.set(id, parts.tunnels(node.labels));
    if (node.kind !== 'response' && node.kind !== 'address') continue;
    const found = node.kind === 'address' ? parts.address(node) : parts.response(node);
    leaves.set(id, () => found);
  }
  const pick = (id: string, seen: Set<string>): Found<T> | Promise<Found<T>> => {
    if (seen.has(id)) return undefined;
    seen.add(id);
    const leaf = leaves.get(id);
    if (leaf) return leaf();
    const node = nodes[id];
    if (node?.kind === 'failover') return firstOnline(node.members.values(), (member) => pick(member, seen));
    if (node?.kind === 'weighted')
      return firstOnline(drawn(node.members, parts.random), (member) => pick(member, seen));
    return undefined;
  };
  return () => pick(root, new Set());
}

/** The first that gives something; a promise only from where one has to be waited for. */
function firstOnline<T extends object>(
  ids: Iterator<string>,
  pick: (id: string) => Found<T> | Promise<Found<T>>,
): Found<T> | Promise<Found<T>> {
  for (let next = ids.next(); !next.done; next = ids.next()) {
    const found = pick(next.value);
    if (found instanceof Promise) return found.then((later) => later ?? firstOnline(ids, pick));
    if (found) return found;
  }
  return undefined;
}

/** Members in a random order, each place drawn by weight among those that are left, so that those offline leave their share. */
function* drawn(members: readonly { id: string; weight: number }[], random: () => number): Generator<string> {
  const left = members.filter(({ weight }) => weight > 0);
  while (left.length > 0) {
    let rest = random() * left.reduce((sum, { weight }) => sum + weight, 0);
    const at = left.findIndex(({ weight }) => {
      rest -= weight;
      return rest < 0;
    });
    const [member] = left.splice(at, 1); // Of rounding alone none is found: then it is the last one.
    if (member) yield member.id;
  }
}
