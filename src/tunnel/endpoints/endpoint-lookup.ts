// Finds the endpoint that serves a visitor: at once on this node, or by asking what other nodes serve.

import type { Labels, LiveEndpoint } from './endpoint.ts';
import type { EndpointAddress, EndpointRegistry } from './endpoint-registry.ts';
import type { EdgeProto } from './tunnel-group.ts';

/**
 * A name that nothing serves here: it is nobody's, or its agent is offline, or it is live on a node that cannot be reached. Also offline
 * is what is `covered` by a wildcard one label above that somebody holds, and what is `beneath` one by more labels.
 */
export type NameStatus = 'unknown' | 'offline' | 'covered' | 'beneath' | 'elsewhere';

export interface EndpointLookup {
  /** Whether visitors reach the tunnels of other nodes, too. */
  readonly reachesNodes: boolean;
  /** The endpoint of a name, if that is known without asking. */
  byName(listener: 'http' | 'tls', hostname: string): LiveEndpoint | undefined;
  /** The endpoint of a name for which `byName` has nothing. Rejects when it cannot be looked up. */
  resolveName(listener: 'http' | 'tls', hostname: string): Promise<LiveEndpoint | NameStatus>;
  /** The endpoint of an address that this node does not serve. It never rejects. */
  resolveAddress(address: EndpointAddress): Promise<LiveEndpoint | undefined>;
  /** Whether other nodes are known to serve an address. What is not known is asked beside that, so that it is known soon. */
  isServedElsewhere(address: EndpointAddress): boolean;
  /** A tunnel of other nodes that has the labels. It never rejects. */
  resolveLabels(accountId: string, selector: Labels, proto: EdgeProto): Promise<LiveEndpoint | undefined>;
}

/** The lookup of a node that reaches no others: it serves what is its own. */
export function localLookup(
  endpoints: EndpointRegistry,
  routes: { lookUp(target: { listener: 'http' | 'tls'; hostname: string }): Promise<{ status: NameStatus }> },
): EndpointLookup {
  return {
    reachesNodes: false,
    byName: (listener, hostname) => endpoints.byName(listener, hostname),
    resolveName: async (listener, hostname) => (await routes.lookUp({ listener, hostname })).status,
    resolveAddress: async () => undefined,
    isServedElsewhere: () => false,
    resolveLabels: async () => undefined,
  };
}
