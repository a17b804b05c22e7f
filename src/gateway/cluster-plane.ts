// Starts the links to the other nodes of the cluster, and the lookup of endpoints over all of them.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { ClusterCalls } from '../cluster/cluster-calls.ts';
import { ClusterEndpoints } from '../cluster/cluster-endpoints.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { describeOwnTunnels } from '../cluster/descriptions.ts';
import { IncomingVisits } from '../cluster/incoming-visits.ts';
import { newLinkCounters } from '../cluster/link-counters.ts';
import { createLinkListener, createLocalLinkListener } from '../cluster/link-listener.ts';
import { LocalSockets } from '../cluster/local-sockets.ts';
import { type Movable, moveEndpoints } from '../cluster/moving-endpoints.ts';
import type { NodeIdentity } from '../cluster/node-identity.ts';
import type { CallHandler, LinkDeps } from '../cluster/node-link.ts';
import { NodeLinks } from '../cluster/node-links.ts';
import type { NodeLinkSettings, RemoteNodeSettings } from '../cluster/settings.ts';
import type { SharedState } from '../http/module.ts';
import { SharedBreakers } from '../http/shared-breakers.ts';
import { openRedisLimits, type RedisLimits } from '../policy/redis-limits.ts';
import { SharedLimiters } from '../policy/shared-limiters.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { NodeSource } from '../tunnel/control/nodes.ts';
import type { RouteSource } from '../tunnel/control/routes.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { TunnelModules } from '../tunnel/tunnel-modules.ts';
import { startCertificateRenewal } from './certificates/certificate-renewal.ts';
import type { Lifecycle } from './lifecycle.ts';

/** The part of this node in the cluster. */
export interface ClusterMember extends NodeSource {
  nodeId: string;
  /** Issues a certificate by which nodes of other machines recognize this one. */
  issueIdentity(): Promise<NodeIdentity>;
  /** Tells the other nodes where they reach this one: `host:port`, or the path of a unix socket behind `unix:`. */
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
  /** Lets the visitors of all nodes wait for endpoints whose agents are about to connect elsewhere. */
  holdVisitors(movables: readonly Movable[]): Promise<void>;
  /** Lets the visitors of this node wait no longer for endpoints that have stayed. */
  releaseVisitors(movables: readonly Movable[]): void;
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
  const { nodeId } = member;
  const { remote, localDirectory } = settings;
  let identity = remote && (await member.issueIdentity());
  const local = localDirectory === undefined ? undefined : new LocalSockets(localDirectory);
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
    start: () => new NodeLinks({ nodeId, identity: () => identity, local, deps }),
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
  for (const [method, handler] of [...lookup.tunnels.methods, ...lookup.moving.methods]) methods.set(method, handler);
  const calls = new ClusterCalls({ nodes: member, links, isOfMachine: (id) => local?.has(id) === true });
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
    holdVisitors(movables) {
      lookup.moving.hold(movables);
      return lookup.moving.announce(calls, movables);
    },
    releaseVisitors: (movables) => lookup.moving.release(movables),
    moveEndpoints: () => moveEndpoints({ moving: lookup.moving, calls, own, incoming }, movablesOf(endpoints)),
    async open() {
      lookup.moving.join(calls);
      if (local) {
        await startLocalListener(parts, { deps, links, local, nodeId });
        await member.announceAddress(`unix:${local.pathOf(nodeId)}`);
      }
      if (!remote || !identity) return;
      const dialer = {
        setIdentity(renewed: NodeIdentity) {
          identity = renewed;
        },
      };
      const port = await startRemoteListener(parts, { remote, identity, dialer, member, deps, links, log });
      const host = remote.address.includes(':') ? `[${remote.address}]` : remote.address;
      await member.announceAddress(`${host}:${port}`);
    },
  };
}

interface ListenerParts {
  deps: LinkDeps;
  links: NodeLinks;
}

/** Listens for the nodes of this machine. */
async function startLocalListener(
  parts: Lifecycle,
  { deps, links, local, nodeId }: ListenerParts & { local: LocalSockets; nodeId: string },
): Promise<void> {
  const server = await parts.start({
    name: 'local node listener',
    start: () => createLocalLinkListener(deps, (link) => links.accept(link)),
    stop: (server) => void server.close(),
  });
  await local.listen(server, nodeId);
}

interface RemoteListenerParts extends ListenerParts {
  remote: RemoteNodeSettings;
  identity: NodeIdentity;
  /** Gets each renewed certificate, too. */
  dialer: { setIdentity(identity: NodeIdentity): void };
  member: ClusterMember;
  log: Logger;
}

/** Listens for nodes of other machines. @returns the port. */
async function startRemoteListener(
  parts: Lifecycle,
  { remote, identity, dialer, member, deps, links, log }: RemoteListenerParts,
): Promise<number> {
  const listener = await parts.start({
    name: 'node listener',
    start: () => createLinkListener(identity, deps, (link) => links.accept(link)),
    stop: (listener) => listener.close(),
  });
  // Each process of this gateway has a port of its own.
  listener.server.listen({ port: remote.port, host: remote.host, exclusive: true });
  await once(listener.server, 'listening');
  const { port } = listener.server.address() as AddressInfo;
  await startCertificateRenewal(parts, {
    name: 'the node',
    issue: () => member.issueIdentity(),
    listeners: [dialer, listener],
    onFailure: (error) => log.error({ err: describeFailure(error) }, 'the node’s certificate cannot be renewed'),
  });
  return port;
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
