// The streams that a visitor's connection keeps to its endpoints: each serves one request after the other. With the connection they
// go to the next visitor, where the agent allows that.

import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import type { SharedStreams } from './shared-streams.ts';
import { UpstreamStream, type UpstreamUser } from './upstream-stream.ts';

/** A stream is not used again when it idled longer: servers close idle connections, some of them after 5 s. */
const IDLE_MAX = 4000;
/** A stream is given up so long before its upstream said that it would be. */
const IDLE_MARGIN = 1000;

export class UpstreamPool {
  readonly #shared: SharedStreams;
  readonly #isSingle: boolean;
  #idle: UpstreamStream[] = [];

  /**
   * @param isSingle whether there is one request at a time: one stream is kept then, and further requests for the same
   * address stay with its tunnel.
   */
  constructor(shared: SharedStreams, isSingle: boolean) {
    this.#shared = shared;
    this.#isSingle = isSingle;
  }

  /**
   * A stream for the request of a visitor: an idle one, or a new one, of which `user` learns when it is open.
   * @param isRepeatable whether the request may be sent a second time: others take only what has just been used.
   */
  obtain(
    endpoint: LiveEndpoint,
    visitor: Visitor,
    user: UpstreamUser,
    isRepeatable: boolean,
    now: number,
  ): UpstreamStream {
    const idle = this.#idle;
    let to = endpoint;
    for (let at = 0; at < idle.length; at++) {
      const stream = idle[at] as UpstreamStream;
      const isRight = this.#isSingle ? stream.isForAddressOf(endpoint, visitor) : stream.isFor(endpoint, visitor);
      if (!isRight || stream.isUseless(now)) continue;
      to = stream.endpoint;
      if (!stream.isFit(isRepeatable, now)) continue;
      if (idle.length === 1) idle.pop();
      else idle.splice(at, 1);
      stream.user = user;
      return stream;
    }
    if (this.#isSingle) this.close(now);
    const stream = to.sharesConnections ? this.#shared.take(to, isRepeatable, now) : undefined;
    if (!stream) return this.open(to, visitor, user);
    stream.serve(visitor, user);
    return stream;
  }

  /** Opens a stream for the request of a visitor. `user` learns when it is open. */
  open(endpoint: LiveEndpoint, visitor: Visitor, user: UpstreamUser): UpstreamStream {
    return new UpstreamStream(endpoint, visitor, user);
  }

  /**
   * Keeps a stream whose request is complete on both sides.
   * @param timeout milliseconds after which the upstream closes an idle connection; 0 when it takes no more requests.
   */
  keep(stream: UpstreamStream, now: number, timeout: number): void {
    stream.user = undefined;
    stream.head.release();
    stream.usedAt = now;
    stream.idleUntil = now + Math.min(IDLE_MAX, timeout - IDLE_MARGIN);
    if (stream.isUseless(now)) stream.end(this.#shared.draining, now);
    else this.#idle.push(stream);
  }

  /** The visitor has taken all that was written. */
  release(): void {
    for (const stream of this.#idle) stream.release();
  }

  /** Ends those that have waited for too long. */
  sweep(now: number): void {
    if (!this.#idle.some((stream) => stream.isUseless(now))) return;
    for (const stream of this.#idle) if (stream.isUseless(now)) stream.end(this.#shared.draining, now);
    this.#idle = this.#idle.filter(({ isOver }) => !isOver);
  }

  /** The visitor leaves all of them. */
  close(now: number): void {
    for (const stream of this.#idle) this.#shared.give(stream, now);
    this.#idle.length = 0;
  }
}
