// How streams to upstreams end, and what visitors are told of it.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { cancelStream, noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode } from '../../protocol/mux/stream.ts';

/** A stream is not used again when it idled longer: servers close idle connections, some of them after 5 s. */
const IDLE_MAX = 4000;
/** A stream is given up so long before its upstream said that it would be. */
const IDLE_MARGIN = 1000;
/** How long a stream that was ended may take to end on its other side. */
const DRAIN_MS = 2000;

/** How many milliseconds a stream may wait for its next request. @param timeout of the upstream for idle connections. */
export function idleTime(timeout: number): number {
  return Math.min(IDLE_MAX, timeout - IDLE_MARGIN);
}

/** Streams that were ended on our side, of all visitors. */
export class DrainingStreams {
  readonly #streams = new Map<ByteStream, number>();

  get size(): number {
    return this.#streams.size;
  }

  /** Ends a stream; one that does not end on its other side is reset after a while. */
  add(stream: ByteStream, now: number): void {
    const forget = () => void this.#streams.delete(stream);
    stream.events = {
      ...noopStreamEvents,
      onData: (chunk) => stream.consumed(chunk.length),
      onEnd: forget,
      onReset: forget,
    };
    this.#streams.set(stream, now + DRAIN_MS);
    stream.end();
  }

  sweep(now: number): void {
    for (const [stream, until] of this.#streams) {
      if (until > now) return; // The others came later.
      this.#streams.delete(stream);
      cancelStream(stream);
    }
  }
}

/** What a visitor who waits for an answer is told of a stream that broke. */
export function errorOfReset(code: ErrorCode): VisitorError {
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
