// The flow-control windows of streams, and their growth with the bandwidth-delay product.
//
// The protocol fixes a window of 256 KiB, which limits a round trip of 100 ms to 2.5 MB/s. When both sides support it
// (member
// `StreamWindow` of Auth and its response), the reader of a stream grants more than was consumed as long as the writer
// uses up the window within two round trips.

/** The window of a new stream, in bytes. */
export const INITIAL_WINDOW = 256 * 1024;
/** The largest window of a stream, in bytes. */
export const STREAM_WINDOW_MAX = 16 * 1024 * 1024;
/** The bytes by which all windows of one session may grow together. It bounds the memory that stalled readers can hold. */
export const SESSION_WINDOW_MAX = 64 * 1024 * 1024;

/** The window limits that the streams of a session share. */
export interface WindowBudget {
  /** The largest window of a stream; `INITIAL_WINDOW` unless both sides negotiated more. */
  max: number;
  /** The bytes by which windows may still grow. */
  left: number;
  /** The shortest of the last measured round trips, in milliseconds; undefined before the first. */
  roundTrip: number | undefined;
}

/** The receive window of one stream. */
export class WindowGrowth {
  readonly #budget: WindowBudget;
  #window = INITIAL_WINDOW;
  /** The bytes consumed since `#since`. */
  #consumed = 0;
  /** The start of the current measurement; -1 before the first. */
  #since = -1;

  constructor(budget: WindowBudget) {
    this.#budget = budget;
  }

  /**
   * Counts consumed bytes. @returns the bytes by which the window grows.
   *
   * The window doubles when half of it was consumed in less than two round trips: then the writer waits for credit, and not
   * the reader for data.
   */
  afterConsuming(bytes: number, now: number): number {
    const { max, left, roundTrip } = this.#budget;
    if (this.#window >= max || roundTrip === undefined) return 0;
    if (this.#since < 0) this.#since = now;
    this.#consumed += bytes;
    if (this.#consumed < this.#window / 2) return 0;
    const isFast = now - this.#since < 2 * roundTrip;
    this.#since = now;
    this.#consumed = 0;
    if (!isFast) return 0;
    const growth = Math.min(this.#window, max - this.#window, left);
    this.#window += growth;
    this.#budget.left -= growth;
    return growth;
  }

  /** Returns the growth of a closed stream to the budget. */
  release(): void {
    this.#budget.left += this.#window - INITIAL_WINDOW;
    this.#window = INITIAL_WINDOW;
  }
}
