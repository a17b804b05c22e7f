// A visitor's connection of HTTP/2: its requests under way, and what it may do to us.

import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ByteBudget } from '../../protocol/byte-budget.ts';
import { guarded } from '../../protocol/defect.ts';
import { ClientResolver } from '../pipeline/clients.ts';
import { Deadline } from '../pipeline/deadline.ts';
import type { DrainingStreams } from '../pipeline/draining-streams.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { ConnectionLiveness } from './connection-liveness.ts';
import { Http2Exchange } from './exchange.ts';
import { IdleStreams } from './idle-streams.ts';
import type { Http2ConnectionContext } from './owner.ts';
import { UploadWindows } from './upload-windows.ts';

/** Requests that a visitor may take back at once, and how many more each second: each has cost us a stream ("rapid reset"). */
const RESETS_MAX = 200;
const RESETS_PER_SECOND = 20;

/** What all connections share. */
interface Shared {
  readonly draining: DrainingStreams;
  /** What their windows may have grown by. */
  readonly growth: ByteBudget;
}

export class Http2Connection implements Http2ConnectionContext {
  readonly front: ListenerContext;
  readonly place: ConnectionSlot;
  readonly clients: ClientResolver;
  readonly idle: IdleStreams;
  readonly draining: DrainingStreams;
  readonly uploads: UploadWindows;
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #pulse: ConnectionLiveness;
  readonly #exchanges = new Set<Http2Exchange>();
  readonly #deadline = new Deadline();
  #resetsLeft = RESETS_MAX;
  #resetsSince: number;
  #isShownOut = false;

  /**
   * @param place whose socket is what the visitor's TLS is spoken over.
   * @param onClose called once, when it is over.
   */
  constructor(
    session: ServerHttp2Session,
    socket: TLSSocket,
    place: ConnectionSlot,
    front: ListenerContext,
    { draining, growth }: Shared,
    onClose: (session: Http2Connection) => void,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#pulse = new ConnectionLiveness(session, socket, place.socket);
    this.front = front;
    this.place = place;
    this.draining = draining;
    this.uploads = new UploadWindows(session, place, growth, front.now());
    this.idle = new IdleStreams(draining);
    this.clients = new ClientResolver(socket, front);
    this.#resetsSince = front.now();
    this.#deadline.in(front.now(), front.settings.headTimeout);
    session.on('remoteSettings', () => this.#rest());
    session.on('stream', (stream: ServerHttp2Stream, _fields, _flags, rawHeaders?: string[]) =>
      this.#accept(stream, rawHeaders ?? []),
    );
    session.on('error', () => {}); // `close` follows.
    session.on('close', () => {
      this.idle.close(front.now());
      this.uploads.close();
      onClose(this);
    });
  }

  /** Takes no more requests, and ends with the last answer. */
  stop(): void {
    this.#session.close();
  }

  /** Ends it at once. */
  cut(): void {
    this.#socket.destroy();
  }

  sweep(now: number): void {
    if (this.#isShownOut || this.uploads.isTooMuch || this.#pulse.isLost()) return void this.#socket.destroy();
    this.uploads.adapt(now);
    for (const exchange of this.#exchanges) exchange.sweep(now);
    this.idle.sweep(now);
    if (this.#exchanges.size > 0 || !this.#deadline.isDue(now)) return;
    // One that was asked to end, or has never begun, is not asked again.
    if (this.#session.closed || this.#session.connecting) this.#socket.destroy();
    else this.#session.close();
    this.#deadline.in(now, this.front.settings.headTimeout);
  }

  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown {
    return this.#session.destroyed ? undefined : this.#session.state.remoteWindowSize;
  }

  /** @param wasBroken whether the visitor took a request back before its answer was complete. */
  forget(exchange: Http2Exchange, wasBroken: boolean): void {
    this.#exchanges.delete(exchange);
    if (this.#exchanges.size === 0) this.#rest();
    if (!wasBroken || this.#session.destroyed) return;
    const now = this.front.now();
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
    if (this.#exchanges.size === 0) this.place.rest();
    this.#deadline.in(this.front.now(), this.front.settings.idleTimeout);
  }

  #accept(stream: ServerHttp2Stream, rawHeaders: string[]): void {
    const exchange = new Http2Exchange(stream, rawHeaders, this);
    this.#exchanges.add(exchange);
    guarded(
      () => void stream.destroy(),
      () => exchange.start(),
    )();
  }
}
