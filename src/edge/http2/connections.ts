// Visitors who speak HTTP/2 (RFC 9113).

import { performServerHandshake, type ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { ByteBudget } from '../../protocol/byte-budget.ts';
import { reportDefect } from '../../protocol/defect.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { EdgeSettings } from '../settings.ts';
import { SharedStreams } from '../upstream/shared-streams.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { Http2Connection } from './connection.ts';
import { GROWN_WINDOW_MAX, STREAM_WINDOW, STREAMS_MAX } from './upload-windows.ts';

/** How late a deadline may be noticed; settings that are short make it shorter. */
const SWEEP_MS = 250;
/** No less than what the requests of a connection may send together: Node gives it back before anything is read. */
const CONNECTION_WINDOW = 2 * GROWN_WINDOW_MAX;
/** What the windows of all connections may have grown by, in bytes. */
const GROWTH_MAX = 64 * 1024 * 1024;

const OPTIONS: ServerOptions = {
  settings: {
    maxConcurrentStreams: STREAMS_MAX,
    initialWindowSize: STREAM_WINDOW,
    // Above what a request's head may have, so that one that is too large is told so.
    maxHeaderListSize: 64 * 1024,
    enableConnectProtocol: false,
  },
  maxHeaderListPairs: 1000,
  // Megabytes. What waits for a visitor is bounded by the windows of the streams that it comes from; beyond this limit Node
  // would refuse new requests because of an old one that is not read.
  maxSessionMemory: 128,
  maxSettings: 32,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // Above what the largest head of an answer may come to, by nghttp2's estimate: 12 bytes more for each field. One that does
  // not fit would end the connection.
  maxSendHeaderBlockLength: 512 * 1024,
};

export class Http2Connections {
  readonly #connections = new Set<Http2Connection>();
  readonly #streams = new SharedStreams();
  readonly #growth = new ByteBudget(GROWTH_MAX);
  readonly #now: () => number;
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** @param now a clock that never goes back, in milliseconds. */
  constructor({ upstreamTimeout, headTimeout, stallTimeout, idleTimeout }: EdgeSettings, now: () => number) {
    this.#now = now;
    this.#interval = Math.min(SWEEP_MS, upstreamTimeout / 4, headTimeout / 4, stallTimeout / 4, idleTimeout / 4);
  }

  /**
   * Serves a visitor, whose TLS handshake has agreed on HTTP/2.
   * @param slot whose socket is what that TLS is spoken over.
   */
  accept(socket: TLSSocket, slot: ConnectionSlot, listener: ListenerContext): void {
    this.#timer ??= setInterval(() => this.#sweep(), this.#interval).unref();
    listener.counters.connections++;
    socket.allowHalfOpen = false; // HTTP/2 has ends of its own.
    const session = performServerHandshake(socket, OPTIONS);
    session.setLocalWindowSize(CONNECTION_WINDOW);
    const shared = { streams: this.#streams, growth: this.#growth };
    const connection = new Http2Connection(session, socket, slot, listener, shared, () =>
      this.#connections.delete(connection),
    );
    this.#connections.add(connection);
    if (this.#isStopping) connection.stop();
  }

  /** Takes no more requests; connections end with their last answer. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#connections) connection.stop();
  }

  #sweep(): void {
    const now = this.#now();
    for (const connection of this.#connections) {
      try {
        connection.sweep(now);
      } catch (error) {
        reportDefect(error);
        connection.cut();
      }
    }
    if (this.#isStopping) this.#streams.close(now);
    this.#streams.sweep(now);
    if (this.#connections.size > 0 || !this.#streams.isEmpty) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
