// One name of an edge, as an endpoint among those of tunnels.

import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { publicUrl } from '../../tunnel/bind/bind-name.ts';
import type { LiveEndpoint, OpenFailure, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import type { EndpointRules } from '../pipeline/endpoint-rules.ts';
import type { PickTunnel } from './backend.ts';

/** What the endpoints of one edge have in common. */
export interface EdgeEndpointDeps {
  edgeId: string;
  accountId: string;
  proto: 'https' | 'tls';
  /** The port that URLs show. */
  port: number;
  tls: 'passthrough' | 'gateway';
  rules: EndpointRules;
  /** Where whole connections go; undefined where it is for each request to say. */
  pick: PickTunnel | undefined;
}

export class EdgeEndpoint implements LiveEndpoint {
  readonly id: string;
  readonly tunnelId = '';
  readonly accountId: string;
  readonly edgeId: string;
  readonly proto: 'https' | 'tls';
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly proxyProtocol = 0;
  readonly upstreamProtocol = 'http1';
  readonly tls: 'passthrough' | 'gateway';
  readonly rules: EndpointRules;
  readonly meter: TrafficMeter;
  readonly #pick: PickTunnel | undefined;
  #isOpen = true;

  /** @param meter of the endpoint, where the edge had it before and was changed. */
  constructor(
    { hostname, endpointId }: { hostname: string; endpointId: string },
    edge: EdgeEndpointDeps,
    meter = new TrafficMeter(),
  ) {
    this.id = endpointId;
    this.accountId = edge.accountId;
    this.edgeId = edge.edgeId;
    this.proto = edge.proto;
    this.hostname = hostname;
    this.port = edge.port;
    this.publicUrl = publicUrl(edge.proto, hostname, edge.port);
    this.tls = edge.tls;
    this.rules = edge.rules;
    this.meter = meter;
    this.#pick = edge.pick;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The edge is gone, or another one by now. */
  close(): void {
    this.#isOpen = false;
  }

  /** To the tunnel whose turn it is. */
  async open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    const tunnel = this.#isOpen ? await this.#pick?.() : undefined;
    return tunnel ? tunnel.open(visitor, events) : 'offline';
  }
}
