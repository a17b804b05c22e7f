// Which endpoints are live on this node, by the name or port that visitors come to.

import type { Labels, LiveEndpoint } from './endpoint.ts';
import type { TrafficRates } from './traffic-meter.ts';
import { LabelledTunnels, TunnelGroup } from './tunnel-group.ts';

/**
 * What a visitor asks for: `http:name` on the HTTP listener, `tls:name` on the HTTPS one, or `tcp:port`. Internal endpoints
 * have `internal:account:proto:name`, which no visitor can ask for.
 */
export type EndpointAddress = `http:${string}` | `tls:${string}` | `tcp:${number}` | `internal:${string}`;

/** What the names of endpoints end with that only traffic policies of their own account lead to. */
const INTERNAL_SUFFIX = '.internal';

export function isInternalName(hostname: string): boolean {
  return hostname.endsWith(INTERNAL_SUFFIX);
}

/** The address that an endpoint answers at. `https` and `tls` share a listener, and therefore names. */
export function endpointAddress({
  accountId,
  proto,
  hostname,
  port,
}: Pick<LiveEndpoint, 'accountId' | 'proto' | 'hostname' | 'port'>): EndpointAddress {
  if (proto === 'tcp') return `tcp:${port}`;
  if (isInternalName(hostname)) return `internal:${accountId}:${proto}:${hostname}`;
  return proto === 'http' ? `http:${hostname}` : `tls:${hostname}`;
}

/** Which endpoint a URL such as `https://name.internal` names; undefined when it names none. */
export function parseInternalUrl(url: string): { proto: string; hostname: string } | undefined {
  const [, proto, hostname] = /^(https?|tls):\/\/([^/:]+)/i.exec(url)?.map((part) => part.toLowerCase()) ?? [];
  return proto && hostname ? { proto, hostname } : undefined;
}

/** Endpoints that serve the same address, taken in turn. */
interface EndpointPool {
  members: LiveEndpoint[];
  next: number;
}

/** What passes through an endpoint of this node. */
export interface EndpointTraffic extends TrafficRates {
  endpointId: string;
  accountId: string;
  /** Since it is live here: HTTP requests, or connections of TCP and TLS. */
  requests: number;
  /** Those of them that are under way. */
  openConnections: number;
}

export class EndpointRegistry {
  /** Those that have no address, for edges to choose. */
  readonly labelled = new LabelledTunnels();
  readonly #pools = new Map<EndpointAddress, EndpointPool>();
  /** A tunnel that its agent has resumed may be there twice for a moment: the newer one counts. */
  readonly #byId = new Map<string, LiveEndpoint>();
  readonly #now: () => number;
  readonly #ownNames: ReadonlySet<string>;

  /**
   * @param now a clock that never goes back, in milliseconds.
   * @param ownNames at which the gateway itself answers: no visitor who asks for one is led to an endpoint.
   */
  constructor(now = () => performance.now(), ownNames: ReadonlySet<string> = new Set()) {
    this.#now = now;
    this.#ownNames = ownNames;
  }

  add(endpoint: LiveEndpoint): void {
    this.#byId.set(endpoint.id, endpoint);
    const { proto, hostname } = endpoint;
    // It was configured before the gateway had the name.
    if (proto !== 'tcp' && !isInternalName(hostname) && this.#ownNames.has(hostname)) return;
    const address = endpointAddress(endpoint);
    const pool = this.#pools.get(address);
    if (pool) pool.members.push(endpoint);
    else this.#pools.set(address, { members: [endpoint], next: 0 });
  }

  remove(endpoint: LiveEndpoint): void {
    if (this.#byId.get(endpoint.id) === endpoint) this.#byId.delete(endpoint.id);
    const address = endpointAddress(endpoint);
    const pool = this.#pools.get(address);
    if (!pool) return;
    pool.members = pool.members.filter((member) => member !== endpoint);
    if (pool.members.length === 0) this.#pools.delete(address);
  }

  /** The endpoint whose turn it is: of the very name, else of the nearest wildcard above it. */
  byName(listener: 'http' | 'tls', hostname: string): LiveEndpoint | undefined {
    const found = this.#pick(`${listener}:${hostname}`);
    if (found) return found;
    if (this.#ownNames.has(hostname)) return undefined;
    for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1)) {
      const wildcard = this.#pick(`${listener}:*${hostname.slice(dot)}`);
      if (wildcard) return wildcard;
    }
    return undefined;
  }

  byId(id: string): LiveEndpoint | undefined {
    return this.#byId.get(id);
  }

  /** What passes through an endpoint; undefined when it is not live here. */
  trafficOf(id: string): EndpointTraffic | undefined {
    const { accountId, meter } = this.#byId.get(id) ?? {};
    if (accountId === undefined || !meter) return undefined;
    const { requests, open } = meter;
    return { endpointId: id, accountId, requests, openConnections: open, ...meter.sampleRates(this.#now()) };
  }

  /** Looks at the meters of all: to be called every second or so, so that rates are of the last seconds. */
  sample(): void {
    const now = this.#now();
    for (const { meter } of this.#byId.values()) meter?.sampleRates(now);
  }

  /** Endpoints that are live. */
  get size(): number {
    let size = 0;
    for (const { members } of this.#pools.values()) size += members.length;
    return size;
  }

  /** The internal endpoint of an account that a URL such as `https://name.internal` names. */
  byInternalUrl(accountId: string, url: string): LiveEndpoint | undefined {
    const named = parseInternalUrl(url);
    return named && this.#pick(`internal:${accountId}:${named.proto}:${named.hostname}`);
  }

  byPort(port: number): LiveEndpoint | undefined {
    return this.#pick(`tcp:${port}`);
  }

  /** The labelled tunnels of an account that a selector chooses, as they come and go. */
  group(accountId: string, selector: Labels): TunnelGroup {
    return new TunnelGroup(this.labelled, accountId, selector);
  }

  #pick(address: EndpointAddress): LiveEndpoint | undefined {
    const pool = this.#pools.get(address);
    if (!pool) return undefined;
    pool.next = (pool.next + 1) % pool.members.length;
    return pool.members[pool.next];
  }
}
