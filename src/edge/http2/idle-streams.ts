// The streams that a visitor's connection keeps to its endpoints: each serves one request after the other.

import { cancelStream, noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { type DrainingStreams, idleTime } from '../pipeline/draining-streams.ts';
import { isSameVisitor } from '../visitors/connections.ts';

/** What a stream was opened for. */
interface Purpose {
  readonly endpoint: LiveEndpoint;
  readonly visitor: Visitor;
}

interface Kept extends Purpose {
  readonly until: number;
}

/** Streams of one connection that nobody uses. */
export class IdleStreams {
  readonly #streams = new Map<ByteStream, Kept>();
  readonly #draining: DrainingStreams;

  constructor(draining: DrainingStreams) {
    this.#draining = draining;
  }

  /** A stream for the same, if there is one; its events have to be set at once. */
  take({ endpoint, visitor }: Purpose, now: number): ByteStream | undefined {
    for (const [stream, kept] of this.#streams) {
      if (kept.endpoint !== endpoint || kept.until <= now || !isSameVisitor(visitor, kept.visitor)) continue;
      this.#streams.delete(stream);
      return stream;
    }
    return undefined;
  }

  /** Keeps a stream whose answer is complete. @param timeout of the upstream for idle connections, in milliseconds. */
  keep(stream: ByteStream, { endpoint, visitor }: Purpose, now: number, timeout: number): void {
    const until = now + idleTime(timeout);
    if (until <= now || !endpoint.isOpen) return void this.#draining.add(stream, now);
    this.#streams.set(stream, { endpoint, visitor, until });
    const forget = () => void this.#streams.delete(stream);
    stream.events = {
      ...noopStreamEvents,
      // Nobody asked for it: it would be taken for the next answer.
      onData() {
        forget();
        cancelStream(stream);
      },
      onEnd: () => {
        forget();
        stream.end();
      },
      onReset: forget,
    };
  }

  /** Lets go of those that have waited for too long. */
  sweep(now: number): void {
    for (const [stream, { until, endpoint }] of this.#streams) {
      if (until > now && endpoint.isOpen) continue;
      this.#streams.delete(stream);
      this.#draining.add(stream, now);
    }
  }

  /** Lets go of all. */
  close(now: number): void {
    for (const stream of this.#streams.keys()) this.#draining.add(stream, now);
    this.#streams.clear();
  }
}
