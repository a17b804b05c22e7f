// One name of an edge, or the address of a cloud endpoint, as an endpoint among those of tunnels.

import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { publicUrl } from '../../tunnel/bind/bind-name.ts';
import type { LiveEndpoint, OpenFailure, Proto, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import {
  type EndpointAddress,
  endpointAddress,
  isInternalName,
  parseInternalUrl,
} from '../../tunnel/endpoints/endpoint-registry.ts';
import { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import type { EndpointRules } from '../pipeline/rules/endpoint-rules.ts';
import type { PickTunnel } from './backend.ts';
import type { AnsweredName, CloudAddress, PublicPorts } from './edge-config.ts';

/** What the endpoints of one edge have in common. */
export interface EdgeEndpointDeps {
  edgeId: string;
  accountId: string;
  proto: Proto;
  publicPorts: PublicPorts;
  tls: 'passthrough' | 'gateway';
  rules: EdgeRules;
  /** Whether somebody is known to serve an internal address. */
  isServed(address: EndpointAddress): boolean;
  /** Where whole connections go; undefined where it is for each request to say. */
  pick: PickTunnel | undefined;
}

/** The rules of an edge, with what they say of its health. */
export interface EdgeRules extends EndpointRules {
  /** Whether it turns every visitor away. */
  readonly isBroken: boolean;
  /** The URLs of the internal endpoints that serve all visitors; none where others serve some. */
  readonly servedOnlyBy: readonly string[];
}

export class EdgeEndpoint implements LiveEndpoint {
  readonly id: string;
  readonly tunnelId = '';
  readonly accountId: string;
  readonly edgeId: string;
  readonly proto: Proto;
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly proxyProtocol = 0;
  readonly upstreamProtocol = 'http1';
  readonly isPooled: boolean;
  readonly tls: 'passthrough' | 'gateway';
  readonly rules: EndpointRules;
  readonly meter: TrafficMeter;
  readonly #pick: PickTunnel | undefined;
  readonly #isBroken: boolean;
  /** The addresses of those that serve all its visitors. */
  readonly #servers: readonly EndpointAddress[];
  readonly #isServed: (address: EndpointAddress) => boolean;
  #isBeingAsked = false;
  #isOpen = true;

  /** @param meter of the endpoint, where the edge had it before and was changed. */
  constructor(name: AnsweredName | CloudAddress, edge: EdgeEndpointDeps, meter = new TrafficMeter()) {
    const { hostname, port = 0, endpointId } = name;
    this.id = endpointId;
    this.accountId = edge.accountId;
    this.edgeId = edge.edgeId;
    this.proto = edge.proto;
    this.hostname = hostname;
    this.port = edge.proto === 'tcp' || isInternalName(hostname) ? port : shownPort(edge);
    this.isPooled = 'isPooled' in name && name.isPooled;
    this.publicUrl = publicUrl(edge.proto, hostname, this.port);
    this.tls = edge.tls;
    this.rules = edge.rules;
    this.#isBroken = edge.rules.isBroken;
    this.#servers = edge.rules.servedOnlyBy.map((url) => addressOf(url, edge.accountId));
    this.#isServed = edge.isServed;
    this.meter = meter;
    this.#pick = edge.pick;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isUnhealthy(): boolean {
    if (this.#isBroken || this.#servers.length === 0) return this.#isBroken;
    if (this.#isBeingAsked) return true; // They lead back here, and nobody serves.
    this.#isBeingAsked = true;
    try {
      return !this.#servers.some((address) => this.#isServed(address));
    } finally {
      this.#isBeingAsked = false;
    }
  }

  /** The edge is gone, or another one by now. */
  close(): void {
    this.#isOpen = false;
  }

  /** To the tunnel whose turn it is; a cloud endpoint has none. */
  async open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    const tunnel = this.#isOpen ? await this.#pick?.() : undefined;
    return tunnel ? tunnel.open(visitor, events) : 'offline';
  }
}

const shownPort = ({ proto, publicPorts }: EdgeEndpointDeps) =>
  proto === 'http' ? publicPorts.publicHttpPort : publicPorts.publicHttpsPort;

function addressOf(url: string, accountId: string): EndpointAddress {
  const place = parseInternalUrl(url);
  if (!place) throw new Error(`the policy was compiled with ${url}, which is no URL of an internal endpoint`);
  return endpointAddress({ accountId, ...place });
}
