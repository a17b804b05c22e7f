// The beginning of a body, copied as it passes.

import { ChunkedDecoder } from '../edge/codec/chunked-decoder.ts';

/** What a copy begins with, in bytes; it doubles from there. */
const FIRST_CAPACITY = 1024;

/** Where a copy has its memory from. */
export interface MemoryBudget {
  /** @returns false when so much more cannot be had. */
  take(bytes: number): boolean;
  free(bytes: number): void;
}

export class BodyRecorder {
  readonly #max: number;
  readonly #room: MemoryBudget;
  #bytes = NOTHING;
  #length = 0;
  #isFull = false;
  #unchunk: ChunkedDecoder | undefined;

  /** @param max how many bytes are kept. */
  constructor(max: number, room: MemoryBudget) {
    this.#max = max;
    this.#room = room;
  }

  /** What is taken from now on is a body in chunks: these are left out. */
  startChunked(): void {
    this.#unchunk = new ChunkedDecoder();
  }

  /** Takes a piece of the body, found well formed; it may be changed afterwards. */
  take(bytes: Buffer, start = 0, end = bytes.length): void {
    if (this.#isFull) return;
    if (this.#unchunk) this.#unchunk.take(bytes, start, end, (data) => this.#copy(data, 0, data.length));
    else this.#copy(bytes, start, end);
  }

  /** Ends the copy. @returns what was kept: its bytes stay taken of the room. */
  finish(): Buffer {
    const [bytes, length] = [this.#bytes, this.#length];
    this.#isFull = true;
    this.#bytes = NOTHING;
    this.#length = 0;
    if (bytes.length === length) return bytes;
    const exact = Buffer.allocUnsafeSlow(length);
    bytes.copy(exact, 0, 0, length);
    this.#room.free(bytes.length - length);
    return exact;
  }

  /** Ends the copy; nothing of it is wanted. */
  discard(): void {
    this.#isFull = true;
    this.#room.free(this.#bytes.length);
    this.#bytes = NOTHING;
    this.#length = 0;
  }

  #copy(data: Buffer, start: number, end: number): void {
    if (this.#isFull) return;
    const wanted = Math.min(this.#max, this.#length + end - start);
    if (wanted > this.#bytes.length && !this.#grow(wanted)) this.#isFull = true;
    const taken = Math.min(wanted, this.#bytes.length) - this.#length;
    data.copy(this.#bytes, this.#length, start, start + taken);
    this.#length += taken;
    if (this.#length === this.#max) this.#isFull = true;
  }

  #grow(wanted: number): boolean {
    const capacity = Math.min(this.#max, Math.max(wanted, 2 * this.#bytes.length, FIRST_CAPACITY));
    if (!this.#room.take(capacity - this.#bytes.length)) return false;
    const bytes = Buffer.allocUnsafeSlow(capacity); // A slice of Node's pool would keep all of that.
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
    return true;
  }
}

const NOTHING: Buffer = Buffer.alloc(0);
