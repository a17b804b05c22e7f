// The live endpoints of this node, by address.

import type { Labels, LiveEndpoint, Proto } from './endpoint.ts';
import type { TrafficMeter, TrafficRates } from './traffic-meter.ts';
import { LabelledTunnels, TunnelGroup } from './tunnel-group.ts';

/**
 * The key of an endpoint: `http:name` on the HTTP listener, `tls:name` on the HTTPS listener, or `tcp:port`. Internal endpoints
 * have `internal:account:proto:name`, which no visitor can reach, and a port behind it where that is not the one of the protocol.
 */
export type EndpointAddress = `http:${string}` | `tls:${string}` | `tcp:${number}` | `internal:${string}`;

/** The suffix of internal endpoints, which only traffic policies of the same account can forward to. */
const INTERNAL_SUFFIX = '.internal';

export function isInternalName(hostname: string): boolean {
  return hostname.endsWith(INTERNAL_SUFFIX);
}

/**
 * Whether an endpoint is a TCP port of the gateway, which is opened and closed for it. Internal endpoints are none: the port of theirs
 * is a part of the name.
 */
export function hasTcpPort({ proto, hostname }: Pick<LiveEndpoint, 'proto' | 'hostname'>): boolean {
  return proto === 'tcp' && !isInternalName(hostname);
}

/** The port of an internal endpoint that names none; undefined for TCP, which has to. */
export const INTERNAL_PORTS = { http: 80, https: 443, tls: 443, tcp: undefined } as const satisfies Record<
  Proto,
  number | undefined
>;

/** Where an internal endpoint is found. */
export type InternalPlace = Pick<LiveEndpoint, 'proto' | 'hostname' | 'port'>;

function internalAddress(accountId: string, { proto, hostname, port }: InternalPlace): EndpointAddress {
  const name = `internal:${accountId}:${proto}:${hostname}` as const;
  return port === INTERNAL_PORTS[proto] ? name : `${name}:${port}`;
}

/** The address of an endpoint. `https` and `tls` share a listener, and therefore share names. */
export function endpointAddress({
  accountId,
  proto,
  hostname,
  port,
}: Pick<LiveEndpoint, 'accountId' | 'proto' | 'hostname' | 'port'>): EndpointAddress {
  if (isInternalName(hostname)) return internalAddress(accountId, { proto, hostname, port });
  if (proto === 'tcp') return `tcp:${port}`;
  return proto === 'http' ? `http:${hostname}` : `tls:${hostname}`;
}

/** The addresses of the endpoints that would serve a name, the most specific first: its own, and those of the wildcards above it. */
export function addressesOfName(listener: 'http' | 'tls', hostname: string): EndpointAddress[] {
  const addresses: EndpointAddress[] = [`${listener}:${hostname}`];
  for (let dot = hostname.indexOf('.'); dot >= 0; dot = hostname.indexOf('.', dot + 1))
    addresses.push(`${listener}:*${hostname.slice(dot)}`);
  return addresses;
}

/** Parses the URL of an internal endpoint, such as `https://name.internal` or `tcp://name.internal:5432`; undefined when it is malformed. */
export function parseInternalUrl(url: string): InternalPlace | undefined {
  const [, scheme = '', name, digits] = /^(https?|tls|tcp):\/\/([^/:?#]+)(?::(\d{1,5}))?(?:[/?#]|$)/i.exec(url) ?? [];
  const proto = scheme.toLowerCase() as Proto;
  const port = digits === undefined ? INTERNAL_PORTS[proto] : Number(digits);
  return name && port ? { proto, hostname: name.toLowerCase(), port } : undefined;
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

/** The traffic of an endpoint as its meters have it: one for each session that serves it. @param now a monotonic clock, in milliseconds. */
export function trafficSnapshot(
  endpointId: string,
  accountId: string,
  meters: readonly TrafficMeter[],
  now: number,
): EndpointTrafficSnapshot {
  const rates = meters.map((meter) => meter.sampleRates(now));
  return {
    endpointId,
    accountId,
    requests: sum(meters.map(({ requests }) => requests)),
    openConnections: sum(meters.map(({ open }) => open)),
    requestsPerSecond: sum(rates.map(({ requestsPerSecond }) => requestsPerSecond)),
    bytesInPerSecond: sum(rates.map(({ bytesInPerSecond }) => bytesInPerSecond)),
    bytesOutPerSecond: sum(rates.map(({ bytesOutPerSecond }) => bytesOutPerSecond)),
  };
}

/** Finds the live endpoint or labelled tunnel that serves a visitor. */
export class EndpointRegistry {
  /** Tunnels without an address, which edges select by labels. */
  readonly labelled = new LabelledTunnels();
  readonly #pools = new Map<EndpointAddress, EndpointPool>();
  /** The endpoints of each id, the newest last: several sessions of an agent may serve one tunnel. */
  readonly #byId = new Map<string, LiveEndpoint[]>();
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
    this.#byId.set(endpoint.id, [...(this.#byId.get(endpoint.id) ?? []), endpoint]);
    const { proto, hostname } = endpoint;
    // The tunnel was bound before the name became one of the gateway's.
    if (proto !== 'tcp' && !isInternalName(hostname) && this.#ownNames.has(hostname)) return;
    const address = endpointAddress(endpoint);
    const pool = this.#pools.get(address);
    if (pool) pool.members.push(endpoint);
    else this.#pools.set(address, { members: [endpoint], next: 0 });
  }

  remove(endpoint: LiveEndpoint): void {
    const alike = (this.#byId.get(endpoint.id) ?? []).filter((other) => other !== endpoint);
    if (alike.length > 0) this.#byId.set(endpoint.id, alike);
    else this.#byId.delete(endpoint.id);
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

  /** The endpoint with this id; the newest one where several sessions serve it. */
  byId(id: string): LiveEndpoint | undefined {
    return this.#byId.get(id)?.at(-1);
  }

  /** A tunnel of this node. @param proto as which kind of endpoint a labelled tunnel is to serve. */
  byTunnelId(tunnelId: string, proto: Proto): LiveEndpoint | undefined {
    const labelled = this.labelled.byTunnelId(tunnelId);
    if (labelled) return labelled.endpointFor(proto === 'http' ? 'https' : proto);
    // A tunnel and its endpoint share what follows the prefix.
    return this.byId(tunnelId.replace('tn_', 'ep_'));
  }

  /** The traffic of an endpoint, of all sessions that serve it; undefined when it is not live on this node. */
  trafficOf(id: string): EndpointTrafficSnapshot | undefined {
    const all = this.#byId.get(id) ?? [];
    const [first] = all;
    const meters = all.flatMap(({ meter }) => meter ?? []);
    return first && meters.length > 0 ? trafficSnapshot(id, first.accountId, meters, this.#now()) : undefined;
  }

  /** Updates the rates of all meters. The node calls it about every second, so that the rates stay current. */
  sample(): void {
    const now = this.#now();
    for (const all of this.#byId.values()) for (const { meter } of all) meter?.sampleRates(now);
  }

  /** Whether an endpoint of this node serves an address. */
  isServed(address: EndpointAddress): boolean {
    return this.#pools.has(address);
  }

  /** The addresses that are served here. */
  get addresses(): EndpointAddress[] {
    return [...this.#pools.keys()];
  }

  /** The number of live endpoints. */
  get size(): number {
    let size = 0;
    for (const { members } of this.#pools.values()) size += members.length;
    return size;
  }

  /** The next endpoint at an address. */
  byAddress(address: EndpointAddress): LiveEndpoint | undefined {
    return this.#pick(address);
  }

  /** The labelled tunnels of an account that match a selector. The group follows tunnels that open and close. */
  group(accountId: string, selector: Labels): TunnelGroup {
    return new TunnelGroup(this.labelled, accountId, selector);
  }

  /**
   * How many cloud endpoints there are at an address that no tunnel of this node serves, and that they share with those of other nodes;
   * 0 where there is anything else, or nothing.
   */
  sharedAt(address: EndpointAddress): number {
    const members = this.#pools.get(address)?.members ?? [];
    return members.every(({ isPooled }) => isPooled) ? members.length : 0;
  }

  /** How many endpoints of this node serve an address, without those that are known to serve nobody now. */
  healthyAt(address: EndpointAddress): number {
    const members = this.#pools.get(address)?.members ?? [];
    return members.filter(({ isUnhealthy }) => !isUnhealthy).length;
  }

  /** The next one, passing over those that are known to serve nobody while another one may. */
  #pick(address: EndpointAddress): LiveEndpoint | undefined {
    const pool = this.#pools.get(address);
    if (!pool) return undefined;
    const { members } = pool;
    if (members.length === 1) return members[0];
    for (let left = members.length; left > 0; left--) {
      pool.next = (pool.next + 1) % members.length;
      const member = members[pool.next];
      if (!member?.isUnhealthy) return member;
    }
    return members[pool.next];
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
