// Endpoints whose service speaks HTTP/2 without TLS ("prior knowledge"; RFC 9113, section 3.3). To whoever uses them they
// speak HTTP/1.1, like all others: this is the slow way, and the only one that has to know.

import { connect } from 'node:http2';
import { noopStreamEvents } from '../../../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode, type StreamEvents } from '../../../protocol/mux/stream.ts';
import type { LiveEndpoint } from '../../../tunnel/endpoints/endpoint.ts';
import { Http1Side } from './http1-side.ts';
import { StreamDuplex } from './stream-duplex.ts';
import { translate } from './translation.ts';

const STREAM_WINDOW = 256 * 1024;
const CONNECTION_WINDOW = 1024 * 1024;
/** Fields of an answer. Node would take 128. */
const HEADER_PAIRS_MAX = 1000;

const wrapped = new WeakMap<LiveEndpoint, LiveEndpoint>();

/** The endpoint, as one that speaks HTTP/1.1; the same one for the same. */
export function asHttp1Endpoint(endpoint: LiveEndpoint): LiveEndpoint {
  if (endpoint.upstreamProtocol === 'http1') return endpoint;
  const known = wrapped.get(endpoint);
  if (known) return known;
  const open: LiveEndpoint['open'] = async (visitor, events) => {
    const stream = await endpoint.open(visitor, noopStreamEvents);
    return typeof stream === 'string' ? stream : new Http2Upstream(stream, events);
  };
  const spoken: LiveEndpoint = Object.create(endpoint, {
    isOpen: { get: () => endpoint.isOpen },
    upstreamProtocol: { value: 'http1' },
    open: { value: open },
  });
  wrapped.set(endpoint, spoken);
  return spoken;
}

/** A stream that takes requests of HTTP/1.1, one after the other, and carries them over one that speaks HTTP/2. */
class Http2Upstream implements ByteStream {
  readonly #user: Http1Side;
  readonly #carrier: StreamDuplex;

  constructor(stream: ByteStream, events: StreamEvents) {
    this.#carrier = new StreamDuplex(stream);
    this.#user = new Http1Side(events, () => this.#carrier.code ?? ErrorCode.RESET);
    const session = connect('http://upstream', {
      createConnection: () => this.#carrier,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxHeaderListPairs: HEADER_PAIRS_MAX,
    });
    session.on('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(CONNECTION_WINDOW);
    });
    session.on('error', () => {}); // `close` follows.
    session.on('goaway', () => this.#user.endIfIdle());
    session.on('close', () => this.#user.endIfIdle()); // What is under way hears of it by itself.
    this.#user.on('close', () => session.close());
    translate(this.#user, session);
  }

  get events(): StreamEvents {
    return this.#user.events;
  }

  set events(events: StreamEvents) {
    this.#user.events = events;
  }

  write(chunk: Buffer): boolean {
    return this.#user.receive(chunk);
  }

  end(): void {
    this.#user.receiveEnd();
  }

  reset(_code?: ErrorCode): void {
    this.#user.events = noopStreamEvents;
    this.#user.abort();
    this.#carrier.destroy(); // The session ends with it. It must not be destroyed itself: see visitor-session.ts.
  }

  consumed(bytes: number): void {
    this.#user.consumed(bytes);
  }
}
