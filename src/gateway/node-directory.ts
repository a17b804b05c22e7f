// The nodes of the gateway, as they say themselves.

import type { NodeDirectory, NodeFacts } from '../api/dependencies.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { GATEWAY_VERSION } from '../tunnel/session/auth-response.ts';

const NODE_FACTS = 'nodeFacts';

/** @param startedAt when this node has started, in milliseconds of the wall clock. */
export function nodeDirectory(ownId: string, cluster: ClusterAccess | undefined, startedAt: number): NodeDirectory {
  const own: NodeFacts = { version: GATEWAY_VERSION, startedAt };
  cluster?.methods.set(NODE_FACTS, async (): Promise<NodeFacts> => own);
  return {
    ownId,
    async reachable() {
      const others = await cluster?.calls.callAll<NodeFacts>(NODE_FACTS, {});
      return new Map([[ownId, own], ...(others?.answers ?? [])]);
    },
  };
}
