// How long a request of HTTP/2 may wait, for each of the things that it waits for.

import type { ServerHttp2Stream } from 'node:http2';
import { Deadline } from '../pipeline/deadline.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';

/** What a stream takes beside the bytes that wait on it. */
const STREAM_BYTES = 8 * 1024;

/** The connection that the request came on. */
interface Session {
  readonly front: ListenerContext;
  readonly place: ConnectionSlot;
  /** Differs from what it was before when the visitor has taken bytes meanwhile. */
  progress(): unknown;
}

export class StreamTimeouts {
  readonly #session: Session;
  readonly #stream: ServerHttp2Stream;
  readonly #deadline = new Deadline();
  /** How far the connection was when it was looked at last. */
  #mark: unknown;
  /** Bytes of the answer that the visitor has not taken. */
  #behind = 0;

  constructor(session: Session, stream: ServerHttp2Stream) {
    this.#session = session;
    this.#stream = stream;
    stream.on('drain', () => this.hasCaughtUp());
  }

  /** The upstream has the request, or is being looked for. */
  forAnswer(): void {
    const { front } = this.#session;
    this.#deadline.in(front.now(), front.settings.upstreamTimeout);
  }

  /** A request or an answer is under way, or what is left of one. */
  forProgress(): void {
    const { front } = this.#session;
    this.#deadline.withoutProgress(front.now(), front.settings.stallTimeout);
  }

  /** Bytes went in or out. */
  progress(): void {
    this.#deadline.progress();
  }

  /** So many bytes more wait for the visitor. */
  isBehind(bytes: number): void {
    this.#isBehindBy(this.#behind + bytes);
  }

  /** None waits any more. */
  hasCaughtUp(): void {
    this.#isBehindBy(0);
  }

  #isBehindBy(bytes: number): void {
    const { place } = this.#session;
    if (bytes > this.#behind) place.hold(bytes - this.#behind);
    else if (bytes < this.#behind) place.release(this.#behind - bytes);
    this.#behind = bytes;
  }

  /** To be called now and then. @returns whether it has waited for too long. */
  sweep(now: number): boolean {
    // Little is not told when it comes, and may wait for long.
    const { writableLength } = this.#stream;
    this.#isBehindBy(writableLength > 0 ? writableLength + STREAM_BYTES : 0);
    return this.#deadline.isDue(now);
  }

  /** Whether the visitor has taken nothing at all since it was asked last; otherwise it has more time. */
  isStuck(): boolean {
    const mark = this.#session.progress();
    if (mark === this.#mark) return true;
    this.#mark = mark;
    this.forProgress();
    return false;
  }
}
