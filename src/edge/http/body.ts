// Where the body of a message ends. Bodies are relayed as they come: nothing is decoded, copied or kept.

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

  /** @param length bytes, `CHUNKED` or `UNTIL_CLOSE`. */
  constructor(length: number) {
    this.#left = length;
    if (length === CHUNKED) this.#chunks = new ChunkedBody();
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
