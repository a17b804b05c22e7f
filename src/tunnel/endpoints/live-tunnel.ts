import { EdgeType, writeProxyHeader } from '../../protocol/messages/proxy-header.ts';
import { openTypedStream, StreamType } from '../../protocol/messages/typed-stream.ts';
import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { proxyProtocolHeader } from '../network/proxy-protocol.ts';
import type { LiveEndpoint, OpenFailure, Proto, RequestedRules, TrafficRules, Visitor } from './endpoint.ts';
import { newTunnelLoad, type StreamSlots, type TunnelLoad } from './stream-slots.ts';
import { TrafficMeter } from './traffic-meter.ts';

/** An open tunnel of a session: opens streams to the agent for visitors. */
export class LiveTunnel implements LiveEndpoint {
  readonly id: string;
  readonly tunnelId: string;
  readonly accountId: string;
  readonly proto: Proto;
  readonly hostname: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly proxyProtocol: 0 | 1 | 2;
  readonly upstreamProtocol: 'http1' | 'http2';
  readonly sharesConnections: boolean;
  readonly forwardsTo: string | undefined;
  readonly tls: LiveEndpoint['tls'];
  readonly meter = new TrafficMeter();
  /** May be replaced at any time. New requests and connections use the new one. */
  rules: TrafficRules | undefined;
  /** Replaced together with `rules`. */
  requested: RequestedRules | undefined;
  readonly #session: MuxSession;
  readonly #slots: StreamSlots;
  readonly #load: TunnelLoad;
  #state: 'open' | 'left' | 'closed' = 'open';

  /** @param load the stream counts of the tunnel. Several endpoints of one tunnel share them. */
  constructor(
    settings: Omit<LiveEndpoint, 'isOpen' | 'open' | 'meter'>,
    session: MuxSession,
    slots: StreamSlots,
    load: TunnelLoad = newTunnelLoad(),
  ) {
    this.id = settings.id;
    this.tunnelId = settings.tunnelId;
    this.accountId = settings.accountId;
    this.proto = settings.proto;
    this.hostname = settings.hostname;
    this.port = settings.port;
    this.publicUrl = settings.publicUrl;
    this.proxyProtocol = settings.proxyProtocol;
    this.upstreamProtocol = settings.upstreamProtocol;
    // A header of the PROXY protocol is of one visitor.
    this.sharesConnections = settings.sharesConnections === true && settings.proxyProtocol === 0;
    this.forwardsTo = settings.forwardsTo;
    this.tls = settings.tls;
    this.rules = settings.rules;
    this.requested = settings.requested;
    this.#session = session;
    this.#slots = slots;
    this.#load = load;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Refuses new streams. Open streams continue. */
  close(): void {
    this.#state = 'closed';
  }

  /** Another session serves it from now on. New streams are only for visitors who have found it already. */
  leave(): void {
    this.#state = 'left';
  }

  /** Takes new streams again. */
  reopen(): void {
    this.#state = 'open';
  }

  async open(visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    if (this.#isOffline) return 'offline';
    const granted = this.#slots.acquire(this.#load);
    const isGranted = granted === true || (await granted);
    if (!isGranted) return this.#isOffline ? 'offline' : 'overloaded';
    if (this.#isOffline) {
      this.#slots.release();
      return 'offline';
    }
    return this.#openStream(visitor, events);
  }

  get #isOffline(): boolean {
    return this.#state === 'closed' || this.#session.isClosed;
  }

  #openStream(visitor: Visitor, events: StreamEvents): ByteStream {
    const header = writeProxyHeader({
      tunnelId: this.tunnelId,
      clientAddress: visitor.ip.includes(':') ? `[${visitor.ip}]:${visitor.port}` : `${visitor.ip}:${visitor.port}`,
      proto: this.proto,
      edgeType: EDGE_TYPES[this.proto],
      passthrough: visitor.passthrough,
    });
    const stream = openTypedStream(this.#session, StreamType.PROXY, header, events);
    const sequence = ++this.#load.opened;
    stream.onAcknowledged = () => this.#slots.markServed(this.#load, sequence);
    stream.onClosed = () => this.#slots.release();
    if (this.proxyProtocol !== 0)
      stream.write(proxyProtocolHeader(this.proxyProtocol, visitor, visitor.local.port, visitor.local.ip));
    return stream;
  }
}

const EDGE_TYPES: Record<Proto, string> = {
  http: EdgeType.NONE,
  https: EdgeType.HTTPS,
  tcp: EdgeType.TCP,
  tls: EdgeType.TLS,
};
