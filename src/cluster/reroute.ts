// Where visitors go when the node that they were to go to cannot serve their tunnel: another tunnel of the same service.

import type { RouteSource, Routes, RouteTarget, TunnelRoute } from '../tunnel/control/routes.ts';
import type { LiveEndpoint, Proto } from '../tunnel/endpoints/endpoint.ts';
import { type EndpointRegistry, endpointAddress, isInternalName } from '../tunnel/endpoints/endpoint-registry.ts';
import { describe, isSameService, type TunnelDescription } from './descriptions.ts';
import type { LinkCounters } from './link-counters.ts';
import type { Movable, MovingEndpoints } from './moving-endpoints.ts';
import type { RemoteTunnel, Reroute } from './remote-tunnel.ts';

/** The most tunnels that are tried for a visitor. */
const TRIED_MAX = 8;

export interface RerouteDeps {
  endpoints: Pick<EndpointRegistry, 'byTunnelId'>;
  routes: RouteSource;
  moving: MovingEndpoints;
  counters: Pick<LinkCounters, 'rerouted'>;
  /** The tunnel of a route; undefined when its node does not have it. */
  tunnel(route: TunnelRoute, proto: Proto): Promise<RemoteTunnel | undefined>;
  /** As the lookup of the route source, with what was found before while the database is away. */
  routesOf(target: RouteTarget): Promise<Routes>;
}

/**
 * Makes the function that finds where the visitors of a tunnel go when its node does not serve it. While the tunnel is moving, they
 * wait for it. Only the same service gets them, on whichever node it is.
 */
export function rerouteBy(deps: RerouteDeps): Reroute {
  const { endpoints, moving, counters } = deps;
  const labelled = shareLookups(deps.routes);

  const routesOf = async ({ tunnelId, accountId, description }: RemoteTunnel): Promise<readonly TunnelRoute[]> => {
    const target = targetOf(description);
    if (!target) return labelled(accountId, tunnelId);
    deps.routes.forgetRoutes(target);
    return (await deps.routesOf(target)).routes;
  };

  const find = async (lost: RemoteTunnel): Promise<LiveEndpoint | undefined> => {
    const { description, tunnelId, nodeId } = lost;
    const own = endpoints.byTunnelId(tunnelId, description.proto);
    if (own?.isOpen && isSameService(describe(own), description)) return own;
    const routes = await routesOf(lost).catch(() => []);
    // Another node first: the same one has just failed.
    const others = routes.toSorted((one, other) => Number(one.node.id === nodeId) - Number(other.node.id === nodeId));
    for (const route of others.slice(0, TRIED_MAX)) {
      const tunnel = await deps.tunnel(route, isLabelled(description) ? description.proto : 'http');
      if (tunnel && isSameService(tunnel.description, description)) return tunnel;
    }
    return undefined;
  };

  return async (lost) => {
    const found = await moving.find([movableOf(lost.description)], () => find(lost));
    if (found) counters.rerouted++;
    return found;
  };
}

/**
 * The nodes that have a labelled tunnel. Its visitors wait for the same one: which others may serve them, their edges' selectors
 * say. All who wait share one lookup.
 */
function shareLookups(routes: RouteSource): (accountId: string, tunnelId: string) => Promise<readonly TunnelRoute[]> {
  const pending = new Map<string, Promise<readonly TunnelRoute[]>>();
  return async (accountId, tunnelId) => {
    let found = pending.get(accountId);
    if (!found) {
      found = routes.lookUpLabels(accountId, {}).finally(() => pending.delete(accountId));
      pending.set(accountId, found);
    }
    return (await found).filter((route) => route.tunnelId === tunnelId);
  };
}

/** What a tunnel is looked up by; undefined for labelled ones, which edges choose by a selector. */
function targetOf(tunnel: TunnelDescription): RouteTarget | undefined {
  if (isLabelled(tunnel)) return undefined;
  const { proto, hostname } = tunnel;
  if (proto === 'tcp' || isInternalName(hostname)) return { address: endpointAddress(tunnel) };
  return { listener: proto === 'http' ? 'http' : 'tls', hostname };
}

const movableOf = (tunnel: TunnelDescription): Movable =>
  isLabelled(tunnel) ? `labels:${tunnel.accountId}` : endpointAddress(tunnel);

/** Labelled tunnels have no address of their own. */
const isLabelled = ({ port }: TunnelDescription) => port === 0;
