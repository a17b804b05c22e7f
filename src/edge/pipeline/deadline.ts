// When a connection has waited too long. Looked at now and then, so that moving it costs nothing.

export class Deadline {
  #at = Number.POSITIVE_INFINITY;
  /** How long there may be no progress; 0 where progress doesn't matter. */
  #stallTimeout = 0;
  #hasProgress = false;

  /** It is due after so many milliseconds, whatever happens. */
  in(now: number, ms: number): void {
    this.#at = now + ms;
    this.#stallTimeout = 0;
  }

  /** It is due when there was no progress for so many milliseconds. */
  withoutProgress(now: number, ms: number): void {
    this.#at = now + ms;
    this.#stallTimeout = ms;
    this.#hasProgress = false;
  }

  progress(): void {
    this.#hasProgress = true;
  }

  isDue(now: number): boolean {
    if (this.#hasProgress && this.#stallTimeout > 0) {
      this.#hasProgress = false;
      this.#at = now + this.#stallTimeout;
    }
    return now >= this.#at;
  }
}
