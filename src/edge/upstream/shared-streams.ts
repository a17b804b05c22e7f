// The streams to upstreams that no visitor has: idle ones, which serve the next visitor, and those that end.

import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { DrainingStreams } from './draining-streams.ts';
import type { UpstreamStream } from './upstream-stream.ts';

/**
 * How long a stream waits for its next visitor, in milliseconds: no known server closes a connection within a second of its last
 * response.
 */
const IDLE_MAX = 1000;
/** Limits of idle streams, of one endpoint and of all: each is a connection of the agent to its upstream. */
const ENDPOINT_MAX = 64;
const ALL_MAX = 4096;

export class SharedStreams {
  /** What was ended on our side. */
  readonly draining = new DrainingStreams();
  readonly #idle = new Map<LiveEndpoint, UpstreamStream[]>();
  #count = 0;

  /** Whether there is nothing to sweep. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.draining.size === 0;
  }

  /**
   * The stream to an endpoint that served last; undefined when none is idle, or that is of no use to a request which cannot be
   * sent twice.
   */
  take(endpoint: LiveEndpoint, isRepeatable: boolean, now: number): UpstreamStream | undefined {
    const idle = this.#idle.get(endpoint);
    for (let stream = idle?.at(-1); stream; stream = idle?.at(-1)) {
      const isUseless = stream.isUseless(now);
      if (!isUseless && !stream.isFit(isRepeatable, now)) return undefined;
      idle?.pop();
      this.#count--;
      if (!isUseless) return stream;
      stream.end(this.draining, now);
    }
    return undefined;
  }

  /** Takes an idle stream whose visitor is gone, for the next one; ends it when it is of one visitor only, or one too many. */
  give(stream: UpstreamStream, now: number): void {
    const idle = this.#idle.get(stream.endpoint) ?? [];
    if (!stream.isForAll || stream.isUseless(now) || idle.length >= ENDPOINT_MAX || this.#count >= ALL_MAX)
      return void stream.end(this.draining, now);
    stream.release();
    stream.idleUntil = Math.min(stream.idleUntil, now + IDLE_MAX);
    this.#idle.set(stream.endpoint, idle);
    idle.push(stream);
    this.#count++;
  }

  /** Ends those that have waited for too long. */
  sweep(now: number): void {
    for (const [endpoint, idle] of this.#idle) {
      const useful = idle.filter((stream) => !stream.isUseless(now));
      if (useful.length === idle.length && useful.length > 0) continue;
      for (const stream of idle) if (stream.isUseless(now)) stream.end(this.draining, now);
      this.#count -= idle.length - useful.length;
      if (useful.length > 0) this.#idle.set(endpoint, useful);
      else this.#idle.delete(endpoint);
    }
    this.draining.sweep(now);
  }

  /** Ends all that are idle: there will be no more visitors. */
  close(now: number): void {
    for (const idle of this.#idle.values()) for (const stream of idle) stream.end(this.draining, now);
    this.#idle.clear();
    this.#count = 0;
  }
}
