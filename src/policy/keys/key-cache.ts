// Public keys that somebody else publishes: fetched when they are needed first, and kept for a while. What is kept is used
// while newer is fetched.

/** Keys that cannot be had, and so nothing that is signed with them can be judged. */
export class KeysUnavailable extends Error {}

/** In the place of what brings keys, where nothing is to be fetched. */
export async function refuseKeyFetch(): Promise<never> {
  throw new KeysUnavailable('nothing is fetched here');
}

/** Milliseconds. */
export interface KeyCacheTimes {
  /** After which newer ones are fetched when somebody asks, who need not wait for them. */
  fresh: number;
  /** For which they are used while newer ones are fetched, or cannot be had. */
  usable: number;
  /** Between an attempt that failed and the next. */
  pause: number;
}

/** What one place publishes. There is one fetch at a time, however many ask. */
export class KeyCache<T> {
  readonly #fetch: () => Promise<T>;
  readonly #times: KeyCacheTimes;
  readonly #now: () => number;
  #value: { is: T; since: number } | undefined;
  #failure: { message: string; at: number } | undefined;
  #underWay: Promise<void> | undefined;

  /**
   * @param fetch brings it; nothing is fetched before somebody asks.
   * @param now a clock that never goes back, in milliseconds.
   */
  constructor(fetch: () => Promise<T>, times: KeyCacheTimes, now: () => number) {
    this.#fetch = fetch;
    this.#times = times;
    this.#now = now;
  }

  /** What is kept and usable; undefined where there is nothing. What is not fresh is fetched meanwhile. */
  peek(mayFetch = () => true): T | undefined {
    const { fresh, usable } = this.#times;
    const age = this.#age();
    if (!this.#value || age >= usable) return undefined;
    if (age >= fresh) void this.#refresh(mayFetch);
    return this.#value.is;
  }

  /**
   * The same, but for waiting where nothing is at hand.
   * @param maxAge of what is taken without waiting for newer, in milliseconds. Left out: whatever is usable.
   * @param mayFetch asked before a fetch begins.
   * @throws {KeysUnavailable}
   */
  async get(maxAge = this.#times.usable, mayFetch = () => true): Promise<T> {
    if (this.#age() >= maxAge) await this.#refresh(mayFetch);
    const value = this.peek(mayFetch);
    if (value !== undefined) return value;
    throw new KeysUnavailable(
      this.#failure?.message ?? 'it is not fetched now: too many were fetched in the last minute',
    );
  }

  #age(): number {
    return this.#value ? this.#now() - this.#value.since : Number.POSITIVE_INFINITY;
  }

  async #refresh(mayFetch: () => boolean): Promise<void> {
    if (this.#failure && this.#now() - this.#failure.at < this.#times.pause) return;
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
