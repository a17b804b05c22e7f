// Starts the links to the other nodes of the cluster, and the lookup of endpoints over all of them.

import type { Logger } from 'pino';
import { ClusterCalls } from '../cluster/cluster-calls.ts';
import { ClusterEndpoints } from '../cluster/cluster-endpoints.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { describeOwnTunnels } from '../cluster/descriptions.ts';
import { IncomingVisits } from '../cluster/incoming-visits.ts';
import { newLinkCounters } from '../cluster/link-counters.ts';
import { createLinkListener } from '../cluster/link-listener.ts';
import { type Movable, moveEndpoints } from '../cluster/moving-endpoints.ts';
import { type ClusterAuthority, issueNodeIdentity, type NodeIdentity } from '../cluster/node-identity.ts';
import type { CallHandler, LinkDeps } from '../cluster/node-link.ts';
import { NodeLinks } from '../cluster/node-links.ts';
import type { NodeLinkSettings } from '../cluster/settings.ts';
import { listen } from '../edge/addresses.ts';
import { RemotePorts, type RemotePortsDeps } from '../edge/tcp/remote-ports.ts';
import type { SharedState } from '../http/module.ts';
import { SharedBreakers } from '../http/shared-breakers.ts';
import { openRedisLimits, type RedisLimits } from '../policy/redis-limits.ts';
import { SharedLimiters } from '../policy/shared-limiters.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { NodeSource } from '../tunnel/control/nodes.ts';
import type { RouteSource } from '../tunnel/control/routes.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { TunnelModules } from '../tunnel/tunnel-modules.ts';
import { startCertificateRenewal } from './certificate-renewal.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The part of this node in the cluster. */
export interface ClusterMember extends NodeSource {
  nodeId: string;
  authority: ClusterAuthority;
  /** Tells the other nodes where they reach this one, as `host:port`. */
  announceAddress(address: string): Promise<void>;
}

export interface ClusterPlaneParts {
  member: ClusterMember;
  endpoints: EndpointRegistry;
  routes: RouteSource;
  modules: Pick<TunnelModules, 'make'>;
  log: Logger;
  now(): number;
}

/** The links. Other parts add the handlers of their calls to `methods`. */
export interface ClusterPlane extends ClusterAccess {
  lookup: ClusterEndpoints;
  links: NodeLinks;
  /** The server that counts rate limits, where there is one. */
  limits: Pick<RedisLimits, 'isConnected'> | undefined;
  shared: SharedState;
  counters: LinkDeps['counters'];
  /** Prepares the others for the agents of this node, whose sessions are about to end. */
  moveEndpoints(): Promise<void>;
  /** Listens for the other nodes, and tells them where. */
  open(): Promise<void>;
}

/** Prepares the links. @returns the plane; `open` is to be called when this node can serve visits of others. */
export async function startClusterPlane(
  parts: Lifecycle,
  settings: NodeLinkSettings,
  { member, endpoints, routes, modules, log, now }: ClusterPlaneParts,
): Promise<ClusterPlane> {
  const { nodeId, authority } = member;
  let identity = await issueNodeIdentity(authority, nodeId);
  const own = describeOwnTunnels(endpoints);
  const methods = new Map<string, CallHandler>(own.methods);
  const counters = newLinkCounters();
  const incoming = new IncomingVisits();
  const deps: LinkDeps = {
    ...settings,
    methods,
    findTunnel: endpoints.byTunnelId.bind(endpoints),
    counters,
    incoming,
    onFailure: (peer, error) =>
      log.warn({ nodeId: peer, err: describeFailure(error) }, 'another node cannot be reached'),
  };
  const links = await parts.start({
    name: 'node links',
    start: () => new NodeLinks({ identity: () => identity, deps }),
    // The visits of others end like those of this node's own visitors: none of their streams gets another request.
    drain(_, drainMs) {
      void own.forgetAll();
      return incoming.end(drainMs);
    },
    stop: (links) => links.close(),
  });
  const onFailure = (tunnelId: string, error: unknown) =>
    log.error({ tunnelId, err: describeFailure(error) }, 'a tunnel of another node cannot be served');
  const lookup = new ClusterEndpoints({ endpoints, routes, links, modules, counters, onFailure, now });
  for (const [method, handler] of [...lookup.tunnels.methods, lookup.moving.method]) methods.set(method, handler);
  const calls = new ClusterCalls({ nodes: member, links });
  const exact = await startExactLimits(parts, settings.limitsUrl, log);
  const limiters = await parts.start({
    name: 'shared rate limits',
    start: () => new SharedLimiters({ cluster: { calls, methods }, exact, shareMs: settings.limitShareMs, now }),
    stop: (limiters) => limiters.close(),
  });
  const breakers = new SharedBreakers({ calls, methods }, now);
  return {
    calls,
    shared: {
      takeLimit: (id, limit, key) => limiters.take(id, limit, key),
      joinBreaker: (id, breaker) => breakers.join(id, breaker),
    },
    lookup,
    links,
    limits: exact,
    methods,
    counters,
    moveEndpoints: () => moveEndpoints({ calls, own, incoming }, movablesOf(endpoints)),
    async open() {
      const listener = await parts.start({
        name: 'node listener',
        start: () => createLinkListener(identity, deps, (link) => links.accept(link)),
        stop: (listener) => listener.close(),
      });
      const { port } = await listen(listener.server, settings.port, settings.host);
      const dialer = {
        setIdentity(renewed: NodeIdentity) {
          identity = renewed;
        },
      };
      await startCertificateRenewal(parts, {
        name: 'the node',
        issue: () => issueNodeIdentity(authority, nodeId),
        listeners: [dialer, listener],
        onFailure: (error) => log.error({ err: describeFailure(error) }, 'the node’s certificate cannot be renewed'),
      });
      const host = settings.address.includes(':') ? `[${settings.address}]` : settings.address;
      await member.announceAddress(`${host}:${port}`);
    },
  };
}

function movablesOf({ addresses, labelled }: EndpointRegistry): Movable[] {
  return [...addresses, ...labelled.accountIds.map((id) => `labels:${id}` as const)];
}

async function startExactLimits(
  parts: Lifecycle,
  url: string | undefined,
  log: Logger,
): Promise<RedisLimits | undefined> {
  if (url === undefined) return undefined;
  return parts.start({
    name: 'exact rate limits',
    start: () =>
      openRedisLimits(url, (isConnected, error) => {
        if (isConnected) log.info('Redis (LIMITS_URL) counts rate limits');
        else
          log.warn(
            { err: describeFailure(error) },
            'Redis (LIMITS_URL) does not answer: the nodes share what they count of rate limits',
          );
      }),
    stop: (limits) => limits.close(),
  });
}

/** Listens on the TCP ports of other nodes' endpoints. */
export async function startRemotePorts(parts: Lifecycle, deps: RemotePortsDeps): Promise<void> {
  const remotePorts = await parts.start({
    name: 'TCP ports of other nodes',
    start: () => new RemotePorts(deps),
    stop: (ports) => ports.close(),
  });
  await remotePorts.start();
}
