// Where the body of a message ends. Bodies are relayed as they come: nothing is decoded, copied or kept. The exception is
// what frames chunks where it is oddly written: see `chunked-body.ts`.

import { pieceOf } from './bytes.ts';
import { ChunkedBody } from './chunked-body.ts';

/** The length of a body that its chunks state. */
export const CHUNKED = -1;
/** The length of a body that ends with the connection. */
export const UNTIL_CLOSE = Number.POSITIVE_INFINITY;
/** Answered for bytes that are no body of the kind announced. */
export const INVALID = -1;

/** The body of one message. */
export class Body {
  #left: number;
  #taken = 0;
  readonly #chunks: ChunkedBody | undefined;

  /** @param length bytes, `CHUNKED` or `UNTIL_CLOSE`. @param isOfAnswer see `ChunkedBody`. */
  constructor(length: number, isOfAnswer = false) {
    this.#left = length;
    if (length === CHUNKED) this.#chunks = new ChunkedBody(isOfAnswer);
  }

  get isComplete(): boolean {
    return this.#chunks ? this.#chunks.isComplete : this.#left === 0;
  }

  /** Whether only the end of the connection ends it. */
  get isUntilClose(): boolean {
    return this.#left === UNTIL_CLOSE;
  }

  /** Bytes of its content that were taken; what frames chunks is not counted. */
  get taken(): number {
    return this.#chunks ? this.#chunks.length : this.#taken;
  }

  /** Whether what was taken last goes on as it came. */
  get isAsItCame(): boolean {
    return this.#chunks?.isAsItCame ?? true;
  }

  /** What goes on of the bytes that were taken last: from where they were taken to the index that `take` returned. */
  relayed(bytes: Buffer, from: number, end: number): Buffer {
    return this.#chunks ? this.#chunks.relayed(bytes, from, end) : pieceOf(bytes, from, end);
  }

  /** @returns the index after the last byte of `bytes` that belongs to the body, or `INVALID`. */
  take(bytes: Buffer, from: number): number {
    if (this.#chunks) return this.#chunks.take(bytes, from);
    const there = bytes.length - from;
    if (there > this.#left) {
      const end = from + this.#left;
      this.#taken += this.#left;
      this.#left = 0;
      return end;
    }
    this.#left -= there;
    this.#taken += there;
    return bytes.length;
  }
}
