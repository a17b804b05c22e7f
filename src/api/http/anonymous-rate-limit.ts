// How often those may ask who are nobody: without an API key, or with one that is not valid. They are counted by their
// address. Callers with a valid key behind the same address never hear of it.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { addressBlock } from '../../tunnel/network/peer.ts';
import { ApiError } from '../errors/errors.ts';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
/** Of so many addresses the last count is known; some 200 bytes each. */
const ADDRESSES_MAX = 20_000;
/**
 * So many unknown keys a second are looked up for an address that has no requests left: one of them may be a new
 * colleague's, behind the same address.
 */
const LOOKUPS_OVER_LIMIT_MAX = 5;

interface Count {
  /** Requests in this minute, which began so many milliseconds after the epoch. */
  requests: number;
  minuteStart: number;
  /** Keys that were looked up in this second when no requests were left. */
  lookups: number;
  secondStart: number;
}

/** Counts by address; of IPv6 by /64, as whoever has one address there has them all. */
export class AnonymousRateLimit {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #counts = new LRUCache<string, Count>(boundedTo(ADDRESSES_MAX));

  /** @param limit requests a minute. @param now the wall clock, in milliseconds. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a request of nobody. @throws {ApiError} when there were too many in this minute. */
  count(ip: string): void {
    const count = this.#countOf(ip);
    if (++count.requests > this.#limit) throw this.#refusal(count);
  }

  /** Before a key is looked up that was never seen to be valid. @throws {ApiError} likewise. */
  checkLookup(ip: string): void {
    const count = this.#countOf(ip);
    if (count.requests < this.#limit) return;
    const now = this.#now();
    if (now - count.secondStart >= SECOND_MS) Object.assign(count, { secondStart: now, lookups: 0 });
    if (++count.lookups > LOOKUPS_OVER_LIMIT_MAX) throw this.#refusal(count);
  }

  #countOf(ip: string): Count {
    const key = addressBlock(ip);
    const now = this.#now();
    const known = this.#counts.get(key);
    if (known && now - known.minuteStart < MINUTE_MS) return known;
    const count = { requests: 0, minuteStart: now, lookups: 0, secondStart: now };
    this.#counts.set(key, count);
    return count;
  }

  #refusal({ minuteStart }: Count): ApiError {
    const seconds = Math.max(1, Math.ceil((minuteStart + MINUTE_MS - this.#now()) / 1000));
    return new ApiError('strangerRateLimited', { limit: this.#limit, seconds });
  }
}
