// A tunnel of another node, as an endpoint of this one: its visitors go over the link to that node.

import type { ByteStream, StreamEvents } from '../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure, TrafficRules, Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { TrafficMeter } from '../tunnel/endpoints/traffic-meter.ts';
import type { TunnelDescription } from './descriptions.ts';
import type { NodePeer } from './node-peer.ts';

/** Finds where the visitors of a tunnel go that is not where it was; undefined when it is nowhere. */
export type Reroute = (lost: RemoteTunnel) => Promise<LiveEndpoint | undefined>;

export class RemoteTunnel implements LiveEndpoint {
  readonly description: TunnelDescription;
  readonly nodeId: string;
  readonly id: string;
  readonly tunnelId: string;
  readonly accountId: string;
  readonly proto: LiveEndpoint['proto'];
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  /** The node of the tunnel writes the header of the PROXY protocol. */
  readonly proxyProtocol = 0;
  readonly upstreamProtocol: LiveEndpoint['upstreamProtocol'];
  /** Undefined of a node that does not know of them. */
  readonly sharesConnections: boolean | undefined;
  readonly forwardsTo: string | undefined;
  readonly tls: LiveEndpoint['tls'];
  readonly rules: TrafficRules | undefined;
  readonly meter: TrafficMeter;
  readonly #peer: NodePeer;
  readonly #reroute: Reroute;
  #isOpen = true;

  /** @param rules made of the modules in the description. @param meter counts the visitors who came to this node. */
  constructor(
    description: TunnelDescription,
    rules: TrafficRules | undefined,
    meter: TrafficMeter,
    peer: NodePeer,
    reroute: Reroute,
  ) {
    this.description = description;
    this.nodeId = peer.nodeId;
    this.id = description.id;
    this.tunnelId = description.tunnelId;
    this.accountId = description.accountId;
    this.proto = description.proto;
    this.hostname = description.hostname;
    this.port = description.port;
    this.publicUrl = description.publicUrl;
    this.upstreamProtocol = description.upstreamProtocol;
    this.sharesConnections = description.sharesConnections;
    this.forwardsTo = description.forwardsTo;
    this.tls = description.tls;
    this.rules = rules;
    this.meter = meter;
    this.#peer = peer;
    this.#reroute = reroute;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Refuses new streams: the tunnel is closed, or has other rules. Open streams continue. */
  close(): void {
    this.#isOpen = false;
  }

  async open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    const opened = await this.openHere(visitor, events);
    if (opened !== undefined) return opened;
    // Nothing has reached an agent. The visitor is sent elsewhere once.
    const other = await this.#reroute(this);
    if (!(other instanceof RemoteTunnel)) return other ? other.open(visitor, events) : 'offline';
    return (await other.openHere(visitor, events)) ?? 'offline';
  }

  /** Opens a stream on the node that it is known to be at. @returns undefined when it is not there, or cannot be reached. */
  async openHere(visitor: Visitor, events: StreamEvents): Promise<ByteStream | 'overloaded' | undefined> {
    const link = this.#isOpen ? await this.#peer.link() : undefined;
    const { tunnelId, proto } = this;
    const opened = await link?.visit({ tunnelId, proto, visitor }, events);
    if (opened === 'overloaded' || typeof opened === 'object') return opened;
    this.close();
    return undefined;
  }
}
