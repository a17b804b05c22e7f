// Sweeps every few seconds, one sweep after the other: also where a database that is away lets one take long.

export interface SweeperParts {
  sweep(): Promise<void>;
  /** From the end of a sweep to the next one; milliseconds. */
  pauseMs: number;
  /** Told when a sweep fails, but not again before one has worked in between. */
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
