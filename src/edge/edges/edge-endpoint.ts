// One name of an edge, as an endpoint among those of tunnels.

import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { publicUrl } from '../../tunnel/bind/bind-name.ts';
import type { LiveEndpoint, OpenFailure, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { TrafficMeter } from '../../tunnel/endpoints/traffic-meter.ts';
import type { EdgeProto } from '../../tunnel/endpoints/tunnel-group.ts';
import type { EndpointRules } from '../pipeline/rules/endpoint-rules.ts';
import type { PickTunnel } from './backend.ts';
import type { AnsweredName } from './edge-config.ts';

/** What the endpoints of one edge have in common. */
export interface EdgeEndpointDeps {
  edgeId: string;
  accountId: string;
  proto: EdgeProto;
  /** The port that the URLs of names show. */
  publicHttpsPort: number;
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
  readonly proto: EdgeProto;
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
  constructor({ hostname, port = 0, endpointId }: AnsweredName, edge: EdgeEndpointDeps, meter = new TrafficMeter()) {
    this.id = endpointId;
    this.accountId = edge.accountId;
    this.edgeId = edge.edgeId;
    this.proto = edge.proto;
    this.hostname = hostname;
    this.port = edge.proto === 'tcp' ? port : edge.publicHttpsPort;
    this.publicUrl = publicUrl(edge.proto, hostname, this.port);
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
