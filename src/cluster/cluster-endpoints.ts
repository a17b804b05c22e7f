// Finds the endpoint of a visitor over all nodes. Own tunnels come first; for others, the control plane says which node has them,
// and that node describes them. What was found is kept, so that further visitors are served at once. Cloud endpoints, which every node
// has, take turns with the tunnels of other nodes where they are pooled with them.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../runtime/lru-bound.ts';
import type { RouteSource, Routes, RouteTarget, TunnelRoute } from '../tunnel/control/routes.ts';
import type { Labels, LiveEndpoint, Proto } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointLookup, NameStatus } from '../tunnel/endpoints/endpoint-lookup.ts';
import { addressesOfName, type EndpointAddress, type EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { EdgeProto } from '../tunnel/endpoints/tunnel-group.ts';
import type { LinkCounters } from './link-counters.ts';
import { MovingEndpoints } from './moving-endpoints.ts';
import type { NodeLinks } from './node-links.ts';
import type { RemoteTunnel } from './remote-tunnel.ts';
import { RemoteTunnels, type RemoteTunnelsDeps } from './remote-tunnels.ts';
import { rerouteBy } from './reroute.ts';

/** The most names and selectors whose endpoints are kept. */
const KEPT_MAX = 10_000;
/** How long what was found is used before it is looked up again, which happens beside its further use; milliseconds. */
const EXACT_TTL_MS = 60_000;
/** The same where others may come to serve it, too: wildcards, pools and labels. */
const SHARED_TTL_MS = 1000;
/** Of several nodes that serve an address, as many are known at once. */
const MEMBERS_MAX = 8;

/** What was found for a name or a selector. */
interface Found {
  /** The routes that led to it. None: the most specific endpoint is a wildcard of this node. */
  routes: readonly TunnelRoute[];
  /** The remote tunnels, in round robin. */
  members: readonly RemoteTunnel[];
  next: number;
  until: number;
}

export interface ClusterEndpointsDeps extends Omit<RemoteTunnelsDeps, 'reroute'> {
  endpoints: EndpointRegistry;
  routes: RouteSource;
  links: NodeLinks;
  counters: LinkCounters;
}

export class ClusterEndpoints implements EndpointLookup {
  readonly reachesNodes = true;
  readonly tunnels: RemoteTunnels;
  readonly moving: MovingEndpoints;
  readonly #deps: ClusterEndpointsDeps;
  readonly #found = new LRUCache<string, Found>(boundedTo(KEPT_MAX));
  /** When those addresses are looked up again that no other node was found to serve. */
  readonly #askedAgainAt = new LRUCache<string, number>(boundedTo(KEPT_MAX));
  /** Lookups in progress, by what they are for. */
  readonly #pending = new Map<string, Promise<Found | NameStatus>>();

  constructor(deps: ClusterEndpointsDeps) {
    this.#deps = deps;
    this.moving = new MovingEndpoints(deps.now);
    this.tunnels = new RemoteTunnels({
      ...deps,
      reroute: rerouteBy({
        ...deps,
        moving: this.moving,
        tunnel: (route, proto) => this.tunnels.get(route, proto),
        routesOf: (target) => this.#routesOf(keyOf(target), () => deps.routes.lookUp(target)),
      }),
    });
  }

  byName(listener: 'http' | 'tls', hostname: string): LiveEndpoint | undefined {
    const { endpoints } = this.#deps;
    const address = `${listener}:${hostname}` as const;
    const own = endpoints.sharedAt(address) > 0 ? undefined : endpoints.byExactName(listener, hostname);
    if (own) return own;
    const found = this.#known(address, () => this.#lookUpName(listener, hostname));
    if (!found) return undefined;
    return this.#turnOf(found, address) ?? endpoints.byWildcard(listener, hostname)?.endpoint;
  }

  async resolveName(listener: 'http' | 'tls', hostname: string): Promise<LiveEndpoint | NameStatus> {
    const address = `${listener}:${hostname}` as const;
    return this.moving.find<NameStatus>(addressesOfName(listener, hostname), async () => {
      const found = await this.#once(address, () => this.#lookUpName(listener, hostname)).catch((error) => {
        if (this.#deps.endpoints.sharedAt(address) === 0) throw error;
        return 'offline' as const; // Of other nodes. This one has some.
      });
      const member = typeof found === 'object' ? this.#turnOf(found, address) : undefined;
      const endpoint = member ?? this.#deps.endpoints.byName(listener, hostname);
      return endpoint ?? (typeof found === 'string' ? found : 'offline');
    });
  }

  async resolveAddress(address: EndpointAddress): Promise<LiveEndpoint | undefined> {
    return this.moving.find([address], async () => {
      const turn = (found: Found) => this.#turnOf(found, address);
      const found = await this.#resolveShared(address, () => this.#lookUpTarget({ address }, 'http'), turn);
      return found ?? this.#deps.endpoints.byAddress(address);
    });
  }

  isServedElsewhere(address: EndpointAddress): boolean {
    const lookUp = () => this.#lookUpTarget({ address }, 'http');
    const known = this.#known(address, lookUp);
    if (known && known.members.length > 0) return true;
    if (this.#deps.now() >= (this.#askedAgainAt.get(address) ?? 0)) {
      this.#askedAgainAt.set(address, this.#deps.now() + SHARED_TTL_MS);
      this.#once(address, lookUp).catch(() => undefined);
    }
    return false;
  }

  async resolveLabels(accountId: string, selector: Labels, proto: EdgeProto): Promise<LiveEndpoint | undefined> {
    return this.moving.find([`labels:${accountId}`], async () => {
      const found = await this.#resolveLabels(accountId, selector, proto);
      return found ?? this.#deps.endpoints.group(accountId, selector).pick(proto);
    });
  }

  #resolveLabels(accountId: string, selector: Labels, proto: EdgeProto): Promise<LiveEndpoint | undefined> {
    const key = `labels ${proto} ${accountId} ${JSON.stringify(selector)}`;
    return this.#resolveShared(key, async () => {
      const { routes } = await this.#routesOf(key, async () => {
        const routes = await this.#deps.routes.lookUpLabels(accountId, selector);
        return { status: 'offline', routes, mayChange: true };
      });
      const members = await this.#membersOf(routes, proto);
      return this.#keep(key, members.length > 0 ? routes : [], members, SHARED_TTL_MS);
    });
  }

  async #resolveShared(
    key: string,
    lookUp: () => Promise<Found | NameStatus>,
    turnOf: (found: Found) => LiveEndpoint | undefined = memberOf,
  ): Promise<LiveEndpoint | undefined> {
    const known = this.#known(key, lookUp);
    const member = known && turnOf(known);
    if (member) return member;
    const found = await this.#once(key, lookUp).catch(() => undefined);
    return typeof found === 'object' ? turnOf(found) : undefined;
  }

  /** Whose turn it is, of what was found at other nodes and of the cloud endpoints that share the address with that. */
  #turnOf(found: Found, address: EndpointAddress): LiveEndpoint | undefined {
    const { endpoints } = this.#deps;
    if (endpoints.sharedAt(address) === 0) return memberOf(found);
    const turns = found.members.length + endpoints.healthyAt(address);
    // What cannot serve says best itself why it cannot.
    if (turns === 0) return endpoints.byAddress(address);
    found.next = (found.next + 1) % turns;
    return found.members[found.next] ?? endpoints.byAddress(address);
  }

  /** What is kept and can be used. When it is old, it is looked up again beside that. */
  #known(key: string, lookUp: () => Promise<Found | NameStatus>): Found | undefined {
    const found = this.#found.get(key);
    if (!found) return undefined;
    if (found.members.some(({ isOpen }) => !isOpen)) {
      found.members = found.members.filter(({ isOpen }) => isOpen);
      found.until = 0;
    }
    if (found.members.length === 0 && found.routes.length > 0) return undefined;
    // Without the database, what is known goes on.
    if (this.#deps.now() >= found.until) this.#once(key, lookUp).catch(() => undefined);
    return found;
  }

  #once(key: string, lookUp: () => Promise<Found | NameStatus>): Promise<Found | NameStatus> {
    const pending = this.#pending.get(key);
    if (pending) return pending;
    const started = lookUp().finally(() => this.#pending.delete(key));
    this.#pending.set(key, started);
    return started;
  }

  async #lookUpName(listener: 'http' | 'tls', hostname: string): Promise<Found | NameStatus> {
    const { endpoints } = this.#deps;
    const found = await this.#lookUpTarget({ listener, hostname }, 'http', (rank) => {
      const own = endpoints.byWildcard(listener, hostname);
      return own !== undefined && own.rank <= rank;
    });
    if (typeof found === 'object' || !endpoints.byWildcard(listener, hostname)) return found;
    return this.#keep(`${listener}:${hostname}`, [], [], SHARED_TTL_MS);
  }

  /** @param isOwn whether an endpoint of this node is more specific than a route of this rank, or as specific. */
  async #lookUpTarget(
    target: RouteTarget,
    proto: Proto,
    isOwn: (rank: number) => boolean = () => false,
  ): Promise<Found | NameStatus> {
    const { routes: source, endpoints } = this.#deps;
    const key = keyOf(target);
    const none = (status: NameStatus) =>
      endpoints.sharedAt(key) > 0 ? this.#keep(key, [], [], SHARED_TTL_MS) : status;
    for (let attempt = 0; ; attempt++) {
      const { status, routes, mayChange } = await this.#routesOf(key, () => source.lookUp(target));
      const [first] = routes;
      if (first && isOwn(first.rank)) return this.#keep(key, [], [], SHARED_TTL_MS);
      const members = await this.#membersOf(routes, proto);
      if (members.length > 0) return this.#keep(key, routes, members, mayChange ? SHARED_TTL_MS : EXACT_TTL_MS);
      this.#found.delete(key);
      if (status !== 'elsewhere') return none(status);
      // The routes were wrong, or no node that has them can be reached. What is remembered of them is asked for anew once.
      source.forgetRoutes(target);
      if (attempt === 1) return none(status);
    }
  }

  /**
   * The routes of a key. While the database is away, and then until the leases that have lapsed meanwhile are renewed, it knows of
   * none: then those that were found before are tried. The nodes themselves say whether they have the tunnels.
   */
  async #routesOf(key: string, lookUp: () => Promise<Routes>): Promise<Routes> {
    const before = this.#found.get(key)?.routes ?? [];
    if (before.length === 0) return lookUp();
    const found = await lookUp().catch((): Routes => ({ status: 'offline', routes: [], mayChange: true }));
    return found.routes.length > 0 ? found : { ...found, routes: before };
  }

  async #membersOf(routes: readonly TunnelRoute[], proto: Proto): Promise<RemoteTunnel[]> {
    const some = routes.slice(0, MEMBERS_MAX);
    const members = await Promise.all(some.map((route) => this.tunnels.get(route, proto)));
    return members.filter((tunnel) => tunnel !== undefined);
  }

  #keep(key: string, routes: readonly TunnelRoute[], members: readonly RemoteTunnel[], ttlMs: number): Found {
    const found: Found = { routes, members, next: 0, until: this.#deps.now() + ttlMs };
    this.#found.set(key, found);
    return found;
  }
}

const keyOf = (target: RouteTarget): EndpointAddress =>
  'address' in target ? target.address : `${target.listener}:${target.hostname}`;

/** The next member, in round robin; undefined when there is none. */
function memberOf(found: Found): RemoteTunnel | undefined {
  if (found.members.length === 0) return undefined;
  found.next = (found.next + 1) % found.members.length;
  return found.members[found.next];
}
