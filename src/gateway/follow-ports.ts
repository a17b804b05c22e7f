// Starts what listens on TCP ports for others than the agents of this node: for those of other nodes, and for TCP edges.

import type { Logger } from 'pino';
import type { LiveEdges } from '../edge/edges/live-edges.ts';
import { FollowedPorts, type FollowedPortsDeps } from '../edge/tcp/followed-ports.ts';
import type { RouteSource } from '../tunnel/control/routes.ts';
import type { TcpPorts } from '../tunnel/control/tcp-ports.ts';
import type { Lifecycle } from './lifecycle.ts';

/** How long the port of an endpoint on another node stays open after it is gone: its agent may come back. In milliseconds. */
const REMOTE_KEEP_MS = 30_000;

export interface FollowPortsDeps {
  ports: TcpPorts;
  /** Undefined where no other node is reached. */
  routes: RouteSource | undefined;
  edges: LiveEdges;
  log: Logger;
  onFailure(error: unknown): void;
}

/** Done when the ports of now are open, as far as they can be. */
export async function followPorts(
  parts: Lifecycle,
  { ports, routes, edges, log, onFailure }: FollowPortsDeps,
): Promise<void> {
  const follow = async (name: string, deps: Pick<FollowedPortsDeps, 'source' | 'keepMs' | 'onBusy'>) => {
    const followed = await parts.start({
      name,
      start: () => new FollowedPorts({ ...deps, ports, onFailure }),
      stop: (followed) => followed.close(),
    });
    await followed.start();
  };
  if (routes) {
    const source = { ports: () => routes.remotePorts(), onChange: routes.onRemotePortsChange.bind(routes) };
    await follow('TCP ports of other nodes', { source, keepMs: REMOTE_KEEP_MS });
  }
  await follow('TCP ports of edges', {
    source: { ports: () => edges.tcpPorts, onChange: edges.onApplied.bind(edges) },
    keepMs: 0,
    onBusy: (port) => log.warn({ port }, 'another process has the port of a TCP edge; trying again'),
  });
}
