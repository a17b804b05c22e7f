// How many event streams one caller may have open.

import { ApiError } from '../errors.ts';

/** A dashboard has a few in each of its tabs; a program has one or two. */
const SUBSCRIPTIONS_MAX = 100;

/** Counts by key, browser session or address. */
export class SubscriptionLimit {
  readonly #open = new Map<string, number>();

  /** @returns what gives the place back, once. @throws {ApiError} when the caller has as many as one may have. */
  take(caller: string): () => void {
    const open = this.#open.get(caller) ?? 0;
    if (open >= SUBSCRIPTIONS_MAX) throw new ApiError('tooManySubscriptions', { max: SUBSCRIPTIONS_MAX, seconds: 1 });
    this.#open.set(caller, open + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    };
  }
}
