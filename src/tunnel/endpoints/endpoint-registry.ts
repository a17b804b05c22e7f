// The live endpoints of this node, by address.

import type { Labels, LiveEndpoint, Proto } from './endpoint.ts';
import type { TrafficMeter, TrafficRates } from './traffic-meter.ts';
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
export function parseInternalUrl(url: string): { proto: 'http' | 'https' | 'tls'; hostname: string } | undefined {
  const [, proto, hostname] = /^(https?|tls):\/\/([^/:]+)/i.exec(url)?.map((part) => part.toLowerCase()) ?? [];
  return proto && hostname ? { proto: proto as 'http' | 'https' | 'tls', hostname } : undefined;
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

/** The traffic of an endpoint as a meter has it. @param now a monotonic clock, in milliseconds. */
export function trafficSnapshot(
  endpointId: string,
  accountId: string,
  meter: TrafficMeter,
  now: number,
): EndpointTrafficSnapshot {
  const { requests, open: openConnections } = meter;
  return { endpointId, accountId, requests, openConnections, ...meter.sampleRates(now) };
}

/** Finds the live endpoint or labelled tunnel that serves a visitor. */
export class EndpointRegistry {
  /** Tunnels without an address, which edges select by labels. */
  readonly labelled = new LabelledTunnels();
  readonly #pools = new Map<EndpointAddress, EndpointPool>();
  /** While an agent resumes a tunnel, two endpoints may have the same id for a moment. The map has the newer one. */
  readonly #byId = new Map<string, LiveEndpoint>();
  readonly #changeListeners = new Set<(tunnelId: string) => void>();
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

  /** Calls the listener when a tunnel with an address is closed, or has other rules. */
  onChange(listener: (tunnelId: string) => void): void {
    this.#changeListeners.add(listener);
    this.labelled.onRemoved(listener);
  }

  /** Reports that a tunnel is closed, or has other rules. */
  reportChange(tunnelId: string): void {
    for (const listener of this.#changeListeners) listener(tunnelId);
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
    this.reportChange(endpoint.tunnelId);
    const address = endpointAddress(endpoint);
    const pool = this.#pools.get(address);
    if (!pool) return;
    pool.members = pool.members.filter((member) => member !== endpoint);
    if (pool.members.length === 0) this.#pools.delete(address);
  }

  /** The next endpoint for an exact name, otherwise for the most specific wildcard that matches. */
  byName(listener: 'http' | 'tls', hostname: string): LiveEndpoint | undefined {
    return this.byExactName(listener, hostname) ?? this.byWildcard(listener, hostname)?.endpoint;
  }

  /** The next endpoint for an exact name. */
  byExactName(listener: 'http' | 'tls', hostname: string): LiveEndpoint | undefined {
    return this.#pick(`${listener}:${hostname}`);
  }

  /**
   * The next endpoint for the most specific wildcard that matches a name.
   * @returns it with its rank: 1 for the nearest wildcard above the name, 2 for the one above that, and so on.
   */
  byWildcard(listener: 'http' | 'tls', hostname: string): { endpoint: LiveEndpoint; rank: number } | undefined {
    if (this.#ownNames.has(hostname)) return undefined;
    for (let dot = hostname.indexOf('.'), rank = 1; dot >= 0; dot = hostname.indexOf('.', dot + 1), rank++) {
      const endpoint = this.#pick(`${listener}:*${hostname.slice(dot)}`);
      if (endpoint) return { endpoint, rank };
    }
    return undefined;
  }

  byId(id: string): LiveEndpoint | undefined {
    return this.#byId.get(id);
  }

  /** A tunnel of this node. @param proto as which kind of endpoint a labelled tunnel is to serve. */
  byTunnelId(tunnelId: string, proto: Proto): LiveEndpoint | undefined {
    const labelled = this.labelled.byTunnelId(tunnelId);
    if (labelled) return labelled.endpointFor(proto === 'tls' ? 'tls' : 'https');
    // A tunnel and its endpoint share what follows the prefix.
    return this.#byId.get(tunnelId.replace('tn_', 'ep_'));
  }

  /** The traffic of an endpoint; undefined when it is not live on this node. */
  trafficOf(id: string): EndpointTrafficSnapshot | undefined {
    const { accountId, meter } = this.#byId.get(id) ?? {};
    return accountId === undefined || !meter ? undefined : trafficSnapshot(id, accountId, meter, this.#now());
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

  /** The next endpoint at an address. */
  byAddress(address: EndpointAddress): LiveEndpoint | undefined {
    return this.#pick(address);
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
