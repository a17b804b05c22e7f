// Runs a sweep every few seconds, never two at the same time, even if a slow database makes one take long.

export interface SweeperParts {
  sweep(): Promise<void>;
  /** The time from the end of a sweep to the start of the next, in milliseconds. */
  pauseMs: number;
  /** Called when a sweep fails, and again only after one has worked in between. */
  onFailure(error: unknown): void;
}

export class Sweeper {
  readonly #parts: SweeperParts;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  /** The first sweep is after a pause. */
  start(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#sweep(), this.#parts.pauseMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #sweep(): Promise<void> {
    try {
      await this.#parts.sweep();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed) this.#parts.onFailure(error);
      this.#isFailing = true;
    }
    this.start();
  }
}
