// How much a peer may send on one stream before it must wait, and how that grows with the distance.
//
// The protocol fixes 256 KiB: over a round trip of 100 ms that is 2.5 MB/s. Where both sides have said that they can
// (member `StreamWindow` of Auth and its answer), the reader of a stream grants more than was consumed, as long as
// whole windows are used up within a round trip or two.

/** What every stream begins with, in bytes. */
export const INITIAL_WINDOW = 256 * 1024;
/** What a stream may grow to, in bytes. */
export const STREAM_WINDOW_MAX = 16 * 1024 * 1024;
/** What the streams of one session may have grown by, together, in bytes. It bounds what stalled readers can hold. */
export const SESSION_WINDOW_MAX = 64 * 1024 * 1024;

/** What the streams of a session share. */
export interface WindowBudget {
  /** The largest window that a stream may have; `INITIAL_WINDOW` where nothing else was agreed. */
  max: number;
  /** Bytes that streams may still grow by. */
  left: number;
  /** The shortest of the last measured round trips in milliseconds; undefined before the first. */
  roundTrip: number | undefined;
}

/** The window of one stream, as its reader sees it. */
export class WindowGrowth {
  readonly #budget: WindowBudget;
  #window = INITIAL_WINDOW;
  /** What was consumed since then. */
  #consumed = 0;
  #since = -1;

  constructor(budget: WindowBudget) {
    this.#budget = budget;
  }

  /**
   * Notes that `bytes` were consumed. @returns by how many bytes the window grows.
   *
   * It doubles when half of it was used up in less than two round trips: then the writer was waiting for us, and not
   * we for the writer.
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

  /** The stream is over: others may grow instead. */
  release(): void {
    this.#budget.left += this.#window - INITIAL_WINDOW;
    this.#window = INITIAL_WINDOW;
  }
}
