// A backend: the tunnels that have its labels. Those of this node come first, and where it has none, those of others.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { EdgeProto } from '../../tunnel/endpoints/tunnel-group.ts';
import type { BackendConfig } from './edge-config.ts';
import type { EdgeRuntimeDeps } from './edge-runtime-deps.ts';

/** Picks the tunnel whose turn it is; undefined when none is online. A promise only when other nodes are asked. */
export type PickTunnel = () => LiveEndpoint | undefined | Promise<LiveEndpoint | undefined>;

/** @returns undefined when there is no backend, or it is disabled. */
export function backendTunnels(
  backend: BackendConfig | undefined,
  accountId: string,
  proto: EdgeProto,
  { endpoints, lookup }: Pick<EdgeRuntimeDeps, 'endpoints' | 'lookup'>,
): PickTunnel | undefined {
  if (!backend?.enabled) return undefined;
  const { labels } = backend;
  const group = endpoints.group(accountId, labels);
  if (!lookup.reachesNodes) return () => group.pick(proto);
  return () => group.pick(proto) ?? lookup.resolveLabels(accountId, labels, proto);
}
