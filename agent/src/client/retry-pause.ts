// The pause of a leg before it connects again.

import type { ClientTiming } from './timing.ts';

/** A pause that can be shortened. */
export class RetryPause {
  readonly #now: ClientTiming['now'];
  #endsAt: number | null = null;
  #shorten: (delay: number) => void = () => {};

  /** @param now a monotonic clock, in milliseconds. */
  constructor({ now }: Pick<ClientTiming, 'now'>) {
    this.#now = now;
  }

  /** When it ends, by that clock; null when there is none. */
  get endsAt(): number | null {
    return this.#endsAt;
  }

  /**
   * Resolves after a delay in milliseconds, which may be infinite.
   * @param onBegun called with the instant at which it begins, when `endsAt` says when it ends.
   */
  async run(delay: number, onBegun: (begunAt: number) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let endsAt = Number.POSITIVE_INFINITY;
      const end = (at: number, rest: number) => {
        if (at + rest >= endsAt) return;
        endsAt = at + rest;
        this.#endsAt = endsAt;
        clearTimeout(timer);
        timer = setTimeout(resolve, rest);
      };
      this.#shorten = (rest) => end(this.#now(), rest);
      const begunAt = this.#now();
      end(begunAt, delay);
      onBegun(begunAt);
    });
    this.#shorten = () => {};
    this.#endsAt = null;
  }

  /** Lets it end after so many milliseconds at the latest. */
  shorten(delay: number): void {
    this.#shorten(delay);
  }
}
