// A visitor's connection of HTTP/2: its requests under way, and what it may do to us.

import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ByteBudget } from '../../protocol/byte-budget.ts';
import { guarded } from '../../protocol/defect.ts';
import { ClientResolver } from '../pipeline/clients.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { VisitorTimeouts } from '../pipeline/visitor-timeouts.ts';
import type { SharedStreams } from '../upstream/shared-streams.ts';
import { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { ConnectionLiveness } from './connection-liveness.ts';
import { RequestStream, type RequestStreamOwner } from './request-stream.ts';
import { UploadWindows } from './upload-windows.ts';

/** Requests that a visitor may take back at once, and how many more each second: each has cost us a stream ("rapid reset"). */
const RESETS_MAX = 200;
const RESETS_PER_SECOND = 20;

/** What all connections share. */
interface Shared {
  readonly streams: SharedStreams;
  /** What their windows may have grown by. */
  readonly growth: ByteBudget;
}

export class Http2Connection implements RequestStreamOwner {
  readonly listener: ListenerContext;
  readonly slot: ConnectionSlot;
  readonly clients: ClientResolver;
  readonly upstreams: UpstreamPool;
  readonly uploads: UploadWindows;
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #liveness: ConnectionLiveness;
  readonly #streams = new Set<RequestStream>();
  readonly #timeouts: VisitorTimeouts;
  #resetsLeft = RESETS_MAX;
  #resetsSince: number;
  #isShownOut = false;

  /**
   * @param slot whose socket is what the visitor's TLS is spoken over.
   * @param onClose called once, when it is over.
   */
  constructor(
    session: ServerHttp2Session,
    socket: TLSSocket,
    slot: ConnectionSlot,
    listener: ListenerContext,
    { streams, growth }: Shared,
    onClose: (connection: Http2Connection) => void,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#liveness = new ConnectionLiveness(session, socket, slot.socket);
    const now = listener.now();
    this.listener = listener;
    this.slot = slot;
    this.uploads = new UploadWindows(session, slot, growth, now);
    this.upstreams = new UpstreamPool(streams, false);
    this.clients = new ClientResolver(socket, listener);
    this.#timeouts = new VisitorTimeouts(listener);
    this.#resetsSince = now;
    this.#timeouts.forHead(now);
    session.on('remoteSettings', () => this.#rest());
    session.on('stream', (stream: ServerHttp2Stream, _fields, _flags, rawHeaders?: string[]) =>
      this.#accept(stream, rawHeaders ?? []),
    );
    session.on('error', () => {}); // `close` follows.
    session.on('close', () => {
      this.upstreams.close(listener.now());
      this.uploads.close();
      onClose(this);
    });
  }

  /** Takes no more requests, and ends with the last response. */
  stop(): void {
    this.#session.close();
  }

  /** Ends it at once. */
  cut(): void {
    this.#socket.destroy();
  }

  sweep(now: number): void {
    if (this.#isShownOut || this.uploads.isTooMuch || this.#liveness.isLost()) return void this.#socket.destroy();
    this.uploads.adapt(now);
    for (const stream of this.#streams) stream.sweep(now);
    this.upstreams.sweep(now);
    if (this.#streams.size > 0 || !this.#timeouts.isDue(now)) return;
    // One that was asked to end, or has never begun, is not asked again.
    if (this.#session.closed || this.#session.connecting) this.#socket.destroy();
    else this.#session.close();
    this.#timeouts.forHead(now);
  }

  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown {
    return this.#session.destroyed ? undefined : this.#session.state.remoteWindowSize;
  }

  /** @param wasBroken whether the visitor took a request back before its response was complete. */
  forget(stream: RequestStream, wasBroken: boolean): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#rest();
    if (!wasBroken || this.#session.destroyed) return;
    const now = this.listener.now();
    const earned = ((now - this.#resetsSince) / 1000) * RESETS_PER_SECOND;
    this.#resetsLeft = Math.min(RESETS_MAX, this.#resetsLeft + earned) - 1;
    this.#resetsSince = now;
    if (this.#resetsLeft < 0 && !this.#isShownOut) this.#showOut();
  }

  /**
   * The visitor is told, and has until the next sweep to go. To destroy the session, when one of its streams was closed a
   * moment ago, makes Node 20 loop for ever and take all memory: only the socket may be.
   */
  #showOut(): void {
    this.#isShownOut = true;
    this.#session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    setImmediate(() => this.#socket.end()); // Behind the goodbye, which is sent when the bytes that came have been read.
  }

  #rest(): void {
    if (this.#streams.size === 0) this.slot.rest();
    this.#timeouts.forRequest(this.listener.now());
  }

  #accept(stream: ServerHttp2Stream, rawHeaders: string[]): void {
    const request = new RequestStream(stream, rawHeaders, this);
    this.#streams.add(request);
    guarded(
      () => void stream.destroy(),
      () => request.start(),
    )();
  }
}
