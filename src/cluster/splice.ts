// Joins two byte streams: what comes on one goes out on the other, with the flow control of both.

import { type ByteStream, ErrorCode, type StreamEvents } from '../protocol/mux/stream.ts';

/** Counts the bytes that pass. */
export interface SpliceCounters {
  bytes: number;
}

/**
 * Joins two streams until both directions have ended, or one stream is reset: the other is reset then with the same code.
 * @param counters gets the bytes of both directions.
 */
export function splice(one: ByteStream, other: ByteStream, counters: SpliceCounters): void {
  const there = new Direction(one, other, counters);
  const back = new Direction(other, one, counters);
  there.opposite = back;
  back.opposite = there;
  one.events = there;
  other.events = back;
}

/** One direction: the events of the stream that is read. */
class Direction implements StreamEvents {
  opposite: Direction | undefined;
  readonly #from: ByteStream;
  readonly #to: ByteStream;
  readonly #counters: SpliceCounters;
  /** The bytes that wait to be written, and for which the sender has no new credit yet. */
  #held = 0;

  constructor(from: ByteStream, to: ByteStream, counters: SpliceCounters) {
    this.#from = from;
    this.#to = to;
    this.#counters = counters;
  }

  onData(chunk: Buffer): void {
    this.#counters.bytes += chunk.length;
    // A slow reader slows down the writer at the other end.
    if (this.#to.write(chunk)) this.#from.consumed(chunk.length);
    else this.#held += chunk.length;
  }

  onEnd(): void {
    this.#to.end();
  }

  onReset(code: ErrorCode): void {
    // The session of one stream is none of the other's.
    this.#to.reset(code === ErrorCode.SESSION_CLOSED ? ErrorCode.REMOTE_GONE_AWAY : code);
  }

  /** The stream that is read takes more: so the opposite direction goes on, which writes to it. */
  onDrain(): void {
    this.opposite?.release();
  }

  release(): void {
    const held = this.#held;
    this.#held = 0;
    this.#from.consumed(held);
  }
}
