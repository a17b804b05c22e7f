// The stream that a visitor's connection keeps to its endpoint, over as many requests as it lasts.

import type { Socket } from 'node:net';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import { cancelStream } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream, ErrorCode, StreamEvents } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { type DrainingStreams, errorOfReset, idleTime } from '../pipeline/draining-streams.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { isSameVisitor } from '../visitors/connections.ts';

/** Whom a stream serves: told what it brings, and what becomes of it. */
export interface UpstreamUser extends Omit<StreamEvents, 'onReset'> {
  onOpen(): void;
  onOpenFailure(failure: OpenFailure): void;
  /** The stream broke. */
  onBreak(error: VisitorError): void;
}

/** The visitor's connection, which the stream belongs to. */
export interface UpstreamOwner {
  readonly socket: Socket;
  readonly front: ListenerContext;
  readonly place: ConnectionSlot;
  readonly connections: { readonly draining: DrainingStreams };
  /** The stream is over. */
  onLost(upstream: UpstreamStream): void;
}

export class UpstreamStream implements StreamEvents {
  readonly endpoint: LiveEndpoint;
  /** Whom the stream serves now. */
  exchange: UpstreamUser | undefined;
  /** Until when it may serve another one. */
  idleUntil = 0;
  readonly #connection: UpstreamOwner;
  /** Whom it was opened for. */
  #visitor: Visitor | undefined;
  #stream: ByteStream | undefined;
  /** Bytes that the visitor's socket has not taken, and that the peer gets no new credit for. */
  #held = 0;
  /** Whether the peer will send nothing more. */
  #hasEnded = false;
  #isOver = false;

  constructor(connection: UpstreamOwner, endpoint: LiveEndpoint) {
    this.#connection = connection;
    this.endpoint = endpoint;
  }

  /** Opens the stream for an exchange, and tells it. */
  open(visitor: Visitor, exchange: UpstreamUser): void {
    this.exchange = exchange;
    this.#visitor = visitor;
    this.endpoint.open(visitor, this).then(
      guarded(
        () => void this.#connection.socket.destroy(),
        (opened) => this.#opened(opened),
      ),
      () => this.#opened('offline'),
    );
  }

  /** Whether another request of the visitor to the endpoint, or to one at the same address, may be sent here. */
  canReuse(endpoint: LiveEndpoint, now: number, visitor: Visitor): boolean {
    const { isOpen, hostname, accountId, proto } = this.endpoint;
    // Internal names are of one account: another has the same ones, for other endpoints.
    const isSame = hostname === endpoint.hostname && accountId === endpoint.accountId && proto === endpoint.proto;
    return isOpen && isSame && now < this.idleUntil && isSameVisitor(visitor, this.#visitor);
  }

  /** Whether it idles, and is to be given up: its time is over, or its tunnel waits for its last visitors to go. */
  isUseless(now: number): boolean {
    return !this.exchange && (now >= this.idleUntil || !this.endpoint.isOpen);
  }

  /** @returns false when the next bytes should wait for the exchange to be told of room. */
  write(bytes: Buffer): boolean {
    return this.#stream?.write(bytes) ?? true;
  }

  /**
   * The exchange is complete, on both sides.
   * @param timeout milliseconds after which the upstream closes an idle connection.
   */
  keepIdle(now: number, timeout: number): void {
    if (this.#hasEnded || !this.endpoint.isOpen) return void this.release();
    this.exchange = undefined;
    this.idleUntil = now + idleTime(timeout);
  }

  /** Bytes were read, and sent on as far as they go anywhere: the peer gets new credit when the visitor has taken them. */
  read(bytes: number): void {
    this.#held += bytes;
    const { socket } = this.#connection;
    // Above the mark, the socket is sure to say when all is written. Below it, what waits is too little to matter.
    if (socket.writableLength < socket.writableHighWaterMark) return void this.taken();
    this.#connection.place.hold(bytes);
  }

  /** The visitor's socket has taken what it was given. */
  taken(): void {
    const held = this.#held;
    if (held === 0) return;
    this.#held = 0;
    this.#stream?.consumed(held);
  }

  /** Ends the stream, after a complete answer. */
  release(): void {
    const stream = this.#over();
    const { connections, front } = this.#connection;
    if (this.#hasEnded) stream?.end();
    else if (stream) connections.draining.add(stream, front.now());
  }

  /** Breaks the stream: what it carries is of no use any more. */
  cancel(): void {
    const stream = this.#over();
    if (stream) cancelStream(stream);
  }

  /** Gives the stream to somebody else, with credit for all that was read. */
  detach(): ByteStream {
    this.taken();
    return this.#over() as ByteStream;
  }

  onData(chunk: Buffer): void {
    // Nobody asked for more: what comes now would be taken for the answer to the next request.
    if (this.exchange) this.exchange.onData(chunk);
    else this.cancel();
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.exchange) this.exchange.onEnd();
    else this.release();
  }

  onReset(code: ErrorCode): void {
    const { exchange } = this;
    this.#over();
    exchange?.onBreak(errorOfReset(code));
  }

  onDrain(): void {
    this.exchange?.onDrain();
  }

  #opened(opened: ByteStream | OpenFailure): void {
    if (typeof opened === 'string') {
      const { exchange } = this;
      this.#over();
      exchange?.onOpenFailure(opened);
    } else if (this.#isOver) {
      cancelStream(opened);
    } else {
      this.#stream = opened;
      this.exchange?.onOpen();
    }
  }

  #over(): ByteStream | undefined {
    const stream = this.#stream;
    this.#isOver = true;
    this.#stream = undefined;
    this.exchange = undefined;
    this.#connection.onLost(this);
    return stream;
  }
}
