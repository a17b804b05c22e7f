// A stream to an endpoint, over as many requests as it lasts: of one visitor after the other, where the agent allows that.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import { cancelStream } from '../../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode, type StreamEvents } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { ResponseHead } from '../codec/response-head.ts';
import { isSameVisitor } from '../visitors/connections.ts';
import type { DrainingStreams } from './draining-streams.ts';

/** No known service closes a connection so soon after a response; milliseconds. */
const JUST_USED_MS = 300;

/** The request that a stream serves, and that gets its events. */
export interface UpstreamUser extends Omit<StreamEvents, 'onReset'> {
  onOpen(): void;
  onOpenFailure(failure: OpenFailure): void;
  /** The stream broke. */
  onBreak(error: VisitorError): void;
  /** An unexpected exception was thrown by `onOpen` or `onOpenFailure`. */
  onDefect(): void;
}

export class UpstreamStream implements StreamEvents {
  readonly endpoint: LiveEndpoint;
  /** The heads of its responses, one after the other. */
  readonly head = new ResponseHead();
  /** The request that it serves now. */
  user: UpstreamUser | undefined;
  /** Until when it may serve another one. */
  idleUntil = 0;
  /** When the last of its responses was complete; -1 before there was one. */
  usedAt = -1;
  /** Whether a request on it has proven who its visitor is, to the connection and not only to itself. */
  isAuthenticated = false;
  /** Whether nothing comes or goes on it any more. */
  isOver = false;
  #visitor: Visitor;
  #stream: ByteStream | undefined;
  /** Bytes that the visitor has not taken, and that the peer gets no new credit for. */
  #held = 0;
  /** Whether the peer will send nothing more. */
  #hasEnded = false;

  /** Opens the stream for a visitor's request, which gets `onOpen` or `onOpenFailure`. */
  constructor(endpoint: LiveEndpoint, visitor: Visitor, user: UpstreamUser) {
    this.endpoint = endpoint;
    this.user = user;
    this.#visitor = visitor;
    endpoint.open(visitor, this).then(
      guarded(
        () => user.onDefect(),
        (opened) => this.#opened(opened),
      ),
      () => this.#opened('offline'),
    );
  }

  /** Whether it has served a request before the one that it serves now. */
  get isReused(): boolean {
    return this.usedAt >= 0;
  }

  /**
   * Whether a request may take it, once it idles: one that cannot be sent a second time takes none whose service may just be closing
   * it, but where the connection itself is authenticated, which another one would not be.
   */
  isFit(isRepeatable: boolean, now: number): boolean {
    return isRepeatable || this.isAuthenticated || now - this.usedAt <= JUST_USED_MS;
  }

  /** Whether other visitors may use it. */
  get isForAll(): boolean {
    return this.endpoint.sharesConnections === true && !this.isAuthenticated;
  }

  /** An idle one serves a request of another visitor. */
  serve(visitor: Visitor, user: UpstreamUser): void {
    this.#visitor = visitor;
    this.user = user;
  }

  /** Whether it serves the same visitor at the same endpoint. */
  isFor(endpoint: LiveEndpoint, visitor: Visitor): boolean {
    return this.endpoint === endpoint && isSameVisitor(visitor, this.#visitor);
  }

  /** Whether it serves the same visitor at an endpoint at the same address. */
  isForAddressOf(endpoint: LiveEndpoint, visitor: Visitor): boolean {
    const { hostname, port, accountId, proto } = this.endpoint;
    // Internal names are of one account: another has the same ones, for other endpoints.
    const isSameName = hostname === endpoint.hostname && port === endpoint.port;
    const isSame = isSameName && accountId === endpoint.accountId && proto === endpoint.proto;
    return isSame && isSameVisitor(visitor, this.#visitor);
  }

  /** Whether an idle one is of no use any more: its time is over, or its tunnel waits for its last visitors to go. */
  isUseless(now: number): boolean {
    return this.isOver || this.#hasEnded || now >= this.idleUntil || !this.endpoint.isOpen;
  }

  /** @returns false when the next bytes should wait for `onDrain`. */
  write(bytes: Buffer): boolean {
    return this.#stream?.write(bytes) ?? true;
  }

  /** So many bytes were read that the peer gets no new credit for until `release`. */
  hold(bytes: number): void {
    this.#held += bytes;
  }

  /** The visitor has taken what was read: the peer gets new credit for it. */
  release(): void {
    const held = this.#held;
    if (held === 0) return;
    this.#held = 0;
    this.#stream?.consumed(held);
  }

  /** Ends the stream, after a complete response. */
  end(draining: DrainingStreams, now: number): void {
    const stream = this.#over();
    if (this.#hasEnded) stream?.end();
    else if (stream) draining.add(stream, now);
  }

  /** Breaks the stream: what it carries is of no use any more. */
  cancel(): void {
    const stream = this.#over();
    if (stream) cancelStream(stream);
  }

  /** Hands the stream over, with credit for all that was read. */
  detach(): ByteStream {
    this.release();
    return this.#over() as ByteStream;
  }

  onData(chunk: Buffer): void {
    // Nobody asked for more: what comes now would be taken for the response to the next request.
    if (this.user) this.user.onData(chunk);
    else this.cancel();
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.user) this.user.onEnd();
    else this.#over()?.end();
  }

  onReset(code: ErrorCode): void {
    const { user } = this;
    this.#over();
    user?.onBreak(errorOfReset(code));
  }

  onDrain(): void {
    this.user?.onDrain();
  }

  #opened(opened: ByteStream | OpenFailure): void {
    if (typeof opened === 'string') {
      const { user } = this;
      this.#over();
      user?.onOpenFailure(opened);
    } else if (this.isOver) {
      cancelStream(opened);
    } else {
      this.#stream = opened;
      this.user?.onOpen();
    }
  }

  #over(): ByteStream | undefined {
    const stream = this.#stream;
    this.isOver = true;
    this.#stream = undefined;
    this.user = undefined;
    return stream;
  }
}

/** The error for a visitor who waits for a response on a stream that broke. */
function errorOfReset(code: ErrorCode): VisitorError {
  switch (code) {
    case ErrorCode.REFUSED:
      return 'upstreamRefused';
    case ErrorCode.ACCEPT_QUEUE_FULL:
    case ErrorCode.STREAMS_EXHAUSTED:
    case ErrorCode.ENHANCE_CALM:
      return 'overloaded';
    case ErrorCode.SESSION_CLOSED:
    case ErrorCode.REMOTE_GONE_AWAY:
      return 'offline';
    default:
      return 'upstreamClosed';
  }
}
