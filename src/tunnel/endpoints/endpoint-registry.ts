// The live endpoints of this node, by address.

import type { Labels, LiveEndpoint } from './endpoint.ts';
import type { TrafficRates } from './traffic-meter.ts';
import { LabelledTunnels, TunnelGroup } from './tunnel-group.ts';

/**
 * The key of an endpoint: `http:name` on the HTTP listener, `tls:name` on the HTTPS listener, or `tcp:port`. Internal endpoints
 * have `internal:account:proto:name`, which no visitor can reach.
 */
export type EndpointAddress = `http:${string}` | `tls:${string}` | `tcp:${number}` | `internal:${string}`;

/** The suffix of internal endpoints, which only traffic policies of the same account can forward to. */
const INTERNAL_SUFFIX = '.internal';

export function isInternalName(hostname: string): boolean {
  return hostname.endsWith(INTERNAL_SUFFIX);
}

/** The address of an endpoint. `https` and `tls` share a listener, and therefore share names. */
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

/** Parses the URL of an internal endpoint, such as `https://name.internal`; undefined when it is malformed. */
export function parseInternalUrl(url: string): { proto: string; hostname: string } | undefined {
  const [, proto, hostname] = /^(https?|tls):\/\/([^/:]+)/i.exec(url)?.map((part) => part.toLowerCase()) ?? [];
  return proto && hostname ? { proto, hostname } : undefined;
}

/** Endpoints that serve the same address, in round robin. */
interface EndpointPool {
  members: LiveEndpoint[];
  next: number;
}

/** The traffic of an endpoint on this node. */
export interface EndpointTrafficSnapshot extends TrafficRates {
  endpointId: string;
  accountId: string;
  /** HTTP requests, or connections of TCP and TLS, since the endpoint went live on this node. */
  requests: number;
  /** Requests or connections in progress. */
  openConnections: number;
}

/** Finds the live endpoint or labelled tunnel that serves a visitor. */
export class EndpointRegistry {
  /** Tunnels without an address, which edges select by labels. */
  readonly labelled = new LabelledTunnels();
  readonly #pools = new Map<EndpointAddress, EndpointPool>();
  /** While an agent resumes a tunnel, two endpoints may have the same id for a moment. The map has the newer one. */
  readonly #byId = new Map<string, LiveEndpoint>();
  readonly #now: () => number;
  readonly #ownNames: ReadonlySet<string>;

  /**
   * @param now a monotonic clock, in milliseconds.
   * @param ownNames the host names of the gateway itself. Requests for them never reach an endpoint.
   */
  constructor(now = () => performance.now(), ownNames: ReadonlySet<string> = new Set()) {
    this.#now = now;
    this.#ownNames = ownNames;
  }

  add(endpoint: LiveEndpoint): void {
    this.#byId.set(endpoint.id, endpoint);
    const { proto, hostname } = endpoint;
    // The tunnel was bound before the name became one of the gateway's.
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

  /** The next endpoint for an exact name, otherwise for the most specific wildcard that matches. */
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

  /** The traffic of an endpoint; undefined when it is not live on this node. */
  trafficOf(id: string): EndpointTrafficSnapshot | undefined {
    const { accountId, meter } = this.#byId.get(id) ?? {};
    if (accountId === undefined || !meter) return undefined;
    const { requests, open } = meter;
    return { endpointId: id, accountId, requests, openConnections: open, ...meter.sampleRates(this.#now()) };
  }

  /** Updates the rates of all meters. The node calls it about every second, so that the rates stay current. */
  sample(): void {
    const now = this.#now();
    for (const { meter } of this.#byId.values()) meter?.sampleRates(now);
  }

  /** The number of live endpoints. */
  get size(): number {
    let size = 0;
    for (const { members } of this.#pools.values()) size += members.length;
    return size;
  }

  /** The internal endpoint of an account for a URL such as `https://name.internal`. */
  byInternalUrl(accountId: string, url: string): LiveEndpoint | undefined {
    const parsed = parseInternalUrl(url);
    return parsed && this.#pick(`internal:${accountId}:${parsed.proto}:${parsed.hostname}`);
  }

  byPort(port: number): LiveEndpoint | undefined {
    return this.#pick(`tcp:${port}`);
  }

  /** The labelled tunnels of an account that match a selector. The group follows tunnels that open and close. */
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
