// A cache of published keys. They are fetched at the first use and refreshed in the background (stale-while-revalidate).

/** The keys cannot be fetched, so that no signature can be verified. */
export class KeysUnavailable extends Error {}

/** A fetch function that always fails, for contexts in which nothing may be fetched. */
export async function refuseKeyFetch(): Promise<never> {
  throw new KeysUnavailable('nothing is fetched here');
}

/** The times of a cache, in milliseconds. */
export interface KeyCacheTimes {
  /** The age from which a use starts a refresh in the background. */
  fresh: number;
  /** The age up to which keys are used while a refresh is in progress or fails. */
  usable: number;
  /** The pause after a failed fetch. */
  pause: number;
}

/** The keys of one URL. Concurrent uses share one fetch. */
export class KeyCache<T> {
  readonly #fetch: () => Promise<T>;
  readonly #times: KeyCacheTimes;
  readonly #now: () => number;
  #value: { is: T; since: number } | undefined;
  #failure: { message: string; at: number } | undefined;
  #fetching: Promise<void> | undefined;

  /**
   * @param fetch fetches the keys. It is not called before the first use.
   * @param now a monotonic clock, in milliseconds.
   */
  constructor(fetch: () => Promise<T>, times: KeyCacheTimes, now: () => number) {
    this.#fetch = fetch;
    this.#times = times;
    this.#now = now;
  }

  /** The usable keys; undefined when there are none. Stale keys are refreshed in the background. */
  peek(mayFetch = () => true): T | undefined {
    const { fresh, usable } = this.#times;
    const age = this.#age();
    if (!this.#value || age >= usable) return undefined;
    if (age >= fresh) void this.#refresh(mayFetch);
    return this.#value.is;
  }

  /**
   * The usable keys. It waits for a fetch when there are none.
   * @param maxAge the largest age of keys that are returned without a fetch, in milliseconds; that of usable keys when
   * left out.
   * @param mayFetch called before a fetch, which it can prevent.
   * @throws {KeysUnavailable} when the fetch fails.
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
    if (!this.#fetching && !mayFetch()) return;
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    await this.#fetching;
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
