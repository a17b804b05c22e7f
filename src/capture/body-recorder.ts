// Records the first bytes of a body while it is forwarded.

import { ChunkedDecoder } from '../edge/codec/chunked-decoder.ts';

/** The first size of the buffer, in bytes. It doubles when it is full. */
const INITIAL_CAPACITY = 1024;

/** The memory that recorders may use. */
export interface MemoryBudget {
  /** Takes memory. @returns false, and takes nothing, when the budget is exhausted. */
  take(bytes: number): boolean;
  /** Gives back memory. */
  free(bytes: number): void;
}

/** The recording of one body. */
export class BodyRecorder {
  readonly #max: number;
  readonly #budget: MemoryBudget;
  #bytes = EMPTY;
  #length = 0;
  #isFull = false;
  #chunkedDecoder: ChunkedDecoder | undefined;

  /** @param max the most bytes to record. */
  constructor(max: number, budget: MemoryBudget) {
    this.#max = max;
    this.#budget = budget;
  }

  /** The following bytes are a body with the chunked coding, which is recorded without chunk headers. */
  startChunked(): void {
    this.#chunkedDecoder = new ChunkedDecoder();
  }

  /** Records the next bytes of the body, which were validated before. The buffer may be reused afterwards. */
  take(bytes: Buffer, start = 0, end = bytes.length): void {
    if (this.#isFull) return;
    if (this.#chunkedDecoder) this.#chunkedDecoder.take(bytes, start, end, (data) => this.#copy(data, 0, data.length));
    else this.#copy(bytes, start, end);
  }

  /** Ends the recording. @returns the recorded bytes, which still count against the budget. */
  finish(): Buffer {
    const [bytes, length] = [this.#bytes, this.#length];
    this.#isFull = true;
    this.#bytes = EMPTY;
    this.#length = 0;
    if (bytes.length === length) return bytes;
    const exact = Buffer.allocUnsafeSlow(length);
    bytes.copy(exact, 0, 0, length);
    this.#budget.free(bytes.length - length);
    return exact;
  }

  /** Ends the recording and frees its memory. */
  discard(): void {
    this.#isFull = true;
    this.#budget.free(this.#bytes.length);
    this.#bytes = EMPTY;
    this.#length = 0;
  }

  #copy(data: Buffer, start: number, end: number): void {
    if (this.#isFull) return;
    const newLength = Math.min(this.#max, this.#length + end - start);
    if (newLength > this.#bytes.length && !this.#grow(newLength)) this.#isFull = true;
    const copied = Math.min(newLength, this.#bytes.length) - this.#length;
    data.copy(this.#bytes, this.#length, start, start + copied);
    this.#length += copied;
    if (this.#length === this.#max) this.#isFull = true;
  }

  #grow(least: number): boolean {
    const capacity = Math.min(this.#max, Math.max(least, 2 * this.#bytes.length, INITIAL_CAPACITY));
    if (!this.#budget.take(capacity - this.#bytes.length)) return false;
    const bytes = Buffer.allocUnsafeSlow(capacity); // A slice of Node's buffer pool would keep the whole pool alive.
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
    return true;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
