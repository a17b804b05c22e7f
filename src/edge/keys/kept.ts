// Public keys that somebody else publishes: fetched when they are needed first, and kept for a while.

/** Keys that cannot be had, and so nothing that is signed with them can be judged. */
export class KeysUnavailable extends Error {}

/** In the place of what brings keys, where nothing is to be fetched. */
export async function noKeys(): Promise<never> {
  throw new KeysUnavailable('nothing is fetched here');
}

/** Milliseconds. */
export interface Keeping {
  /** After which they are fetched again. */
  fresh: number;
  /** For which they are used while newer ones cannot be had. */
  usable: number;
  /** Between an attempt that failed and the next. */
  pause: number;
}

/** What one place publishes. There is one fetch at a time, however many ask. */
export class Kept<T> {
  readonly #fetch: () => Promise<T>;
  readonly #keeping: Keeping;
  readonly #now: () => number;
  #value: { is: T; since: number } | undefined;
  #failure: { message: string; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /**
   * @param fetch brings it; nothing is fetched before somebody asks.
   * @param now a clock that never goes back, in milliseconds.
   */
  constructor(fetch: () => Promise<T>, keeping: Keeping, now: () => number) {
    this.#fetch = fetch;
    this.#keeping = keeping;
    this.#now = now;
  }

  /**
   * @param maxAge of what is not fetched again, in milliseconds.
   * @param mayFetch asked before a fetch begins.
   * @throws {KeysUnavailable}
   */
  async current(maxAge = this.#keeping.fresh, mayFetch = () => true): Promise<T> {
    if (!this.#value || this.#age() >= maxAge) await this.#refresh(mayFetch);
    if (this.#value && this.#age() < this.#keeping.usable) return this.#value.is;
    throw new KeysUnavailable(this.#failure?.message ?? 'it is not fetched, as too much was in the last minute');
  }

  #age(): number {
    return this.#value ? this.#now() - this.#value.since : Number.POSITIVE_INFINITY;
  }

  async #refresh(mayFetch: () => boolean): Promise<void> {
    if (this.#failure && this.#now() - this.#failure.at < this.#keeping.pause) return;
    if (!this.#underWay && !mayFetch()) return;
    this.#underWay ??= this.#load().finally(() => {
      this.#underWay = undefined;
    });
    await this.#underWay;
  }

  async #load(): Promise<void> {
    try {
      this.#value = { is: await this.#fetch(), since: this.#now() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { message: error instanceof Error ? error.message : String(error), at: this.#now() };
    }
  }
}
