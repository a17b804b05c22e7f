// The streams that a visitor's connection keeps to its endpoints: each serves one request after the other.

import { DEAF } from '../../protocol/mux-stream.ts';
import { type ByteStream, ErrorCode } from '../../protocol/stream.ts';
import type { LiveEndpoint } from '../../tunnel/endpoint.ts';
import type { VisitorError } from '../errors.ts';

/** A stream is not used again when it idled longer: servers close idle connections, some of them after 5 s. */
const IDLE_MAX = 4000;
/** A stream is given up so long before its upstream said that it would be. */
const IDLE_MARGIN = 1000;
/** How long a stream that was ended may take to end on its other side. */
const LEAVE_MS = 2000;

/** Streams that were ended on our side, of all visitors. */
export class LeavingStreams {
  readonly #streams = new Map<ByteStream, number>();

  get size(): number {
    return this.#streams.size;
  }

  /** Ends a stream; one that does not end on its other side is reset after a while. */
  add(stream: ByteStream, now: number): void {
    const forget = () => void this.#streams.delete(stream);
    stream.events = { ...DEAF, onData: (chunk) => stream.consumed(chunk.length), onEnd: forget, onReset: forget };
    this.#streams.set(stream, now + LEAVE_MS);
    stream.end();
  }

  sweep(now: number): void {
    for (const [stream, until] of this.#streams) {
      if (until > now) continue;
      this.#streams.delete(stream);
      cancel(stream);
    }
  }
}

interface Kept {
  endpoint: LiveEndpoint;
  until: number;
}

/** Streams of one visitor that nobody uses. */
export class IdleStreams {
  readonly #streams = new Map<ByteStream, Kept>();
  readonly #leaving: LeavingStreams;

  constructor(leaving: LeavingStreams) {
    this.#leaving = leaving;
  }

  /** A stream to the endpoint, if there is one; its events have to be set at once. */
  take(endpoint: LiveEndpoint, now: number): ByteStream | undefined {
    for (const [stream, kept] of this.#streams) {
      if (kept.endpoint !== endpoint || kept.until <= now) continue;
      this.#streams.delete(stream);
      return stream;
    }
    return undefined;
  }

  /** Keeps a stream whose answer is complete. @param timeout of the upstream for idle connections, in milliseconds. */
  keep(stream: ByteStream, endpoint: LiveEndpoint, now: number, timeout: number): void {
    const until = now + Math.min(IDLE_MAX, timeout - IDLE_MARGIN);
    if (until <= now) return void this.#leaving.add(stream, now);
    this.#streams.set(stream, { endpoint, until });
    const forget = () => void this.#streams.delete(stream);
    stream.events = {
      ...DEAF,
      // Nobody asked for it: it would be taken for the next answer.
      onData() {
        forget();
        cancel(stream);
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
      this.#leaving.add(stream, now);
    }
  }

  /** Lets go of all. */
  close(now: number): void {
    for (const stream of this.#streams.keys()) this.#leaving.add(stream, now);
    this.#streams.clear();
  }
}

/** Breaks a stream: what it carries is of no use to anybody any more. */
export function cancel(stream: ByteStream): void {
  stream.events = DEAF;
  stream.reset(ErrorCode.CANCELLED);
}

/** What became of a stream that broke before an answer came. */
export function errorOf(code: ErrorCode): VisitorError {
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
