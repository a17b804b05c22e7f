// A rate limiter with a sliding window for each of many keys.

import { createHash } from 'node:crypto';

const KEYS_MAX = 10_000;
/** The stored timestamps of one key, at least and at most; and of all keys, beyond which each key stores fewer. */
const TIMES = { min: 50, max: 1_000 };
const TIMES_OF_ALL = 200_000;
/** Longer keys are stored as digests, as keys from visitors may be long. */
const KEY_MAX = 64;

/** A limit. */
export interface RateLimit {
  /** The most events in a window. */
  capacity: number;
  /** The length of the window; milliseconds. */
  windowMs: number;
  /** The most keys; the least recently used ones are evicted. 10,000 when left out. */
  maxKeys?: number;
}

/**
 * Stores the timestamps of allowed events (a sliding log). An event no longer counts once its timestamp is outside of the
 * window, to the millisecond. When the capacity exceeds the timestamps that a key may store, adjacent ones are merged and
 * count as the last of them: an event then counts longer by a thousandth of the window (a fiftieth, with thousands of keys).
 * No window ever has more events than the capacity, and no wait is longer than the window.
 */
export class RateLimiter {
  readonly #capacity: number;
  readonly #windowMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  /** The logs by key, the least recently used first. */
  readonly #logs = new Map<string, EventLog>();

  constructor({ capacity, windowMs, maxKeys = KEYS_MAX }: RateLimit, now: () => number) {
    this.#capacity = capacity;
    this.#windowMs = windowMs;
    this.#keysMax = maxKeys;
    this.#now = now;
  }

  /** The number of stored keys. */
  get size(): number {
    return this.#logs.size;
  }

  /** Counts an event of a key. @returns 0 when it is allowed, otherwise the milliseconds until the next one is. */
  take(key: string): number {
    const now = this.#now();
    const visits = this.#touch(limiterKey(key));
    visits.forget(now, this.#windowMs);
    if (visits.total >= this.#capacity) return Math.max(Math.ceil(this.#windowMs - (now - visits.oldest)), 1);
    visits.add(now, this.#grainMs());
    return 0;
  }

  /** Counts events of a key that others have allowed, also beyond the capacity. */
  add(key: string, count: number): void {
    const now = this.#now();
    const visits = this.#touch(limiterKey(key));
    visits.forget(now, this.#windowMs);
    visits.add(now, this.#grainMs(), count);
  }

  /** The resolution: timestamps that are closer to each other are merged. */
  #grainMs(): number {
    const times = Math.min(Math.max(TIMES_OF_ALL / this.#logs.size, TIMES.min), TIMES.max);
    return this.#capacity <= times ? 0 : this.#windowMs / times;
  }

  /** The log of a key, which becomes the most recently used one. */
  #touch(key: string): EventLog {
    const known = this.#logs.get(key);
    const visits = known ?? new EventLog();
    if (known) this.#logs.delete(key);
    this.#logs.set(key, visits);
    if (this.#logs.size > this.#keysMax) {
      const [oldest = ''] = this.#logs.keys();
      this.#logs.delete(oldest);
    }
    return visits;
  }
}

/** The layout of an entry: its first and its last timestamp, and their number. */
const FIRST = 0;
const LAST = 1;
const COUNT = 2;
const ENTRY = 3;

/** The log of one key, the oldest event first. */
class EventLog {
  total = 0;
  /** The entries, one after the other. */
  readonly #log: number[] = [];
  /** The offset of the oldest entry in the window. */
  #start = 0;

  get oldest(): number {
    return this.#log[this.#start + LAST] as number;
  }

  add(time: number, grainMs: number, count = 1): void {
    const log = this.#log;
    const last = log.length - ENTRY;
    this.total += count;
    if (last >= this.#start && time - (log[last + FIRST] as number) < grainMs) {
      log[last + LAST] = time;
      log[last + COUNT] = (log[last + COUNT] as number) + count;
    } else log.push(time, time, count);
  }

  /** Drops the entries before the window that ends now. */
  forget(now: number, windowMs: number): void {
    const log = this.#log;
    for (; this.#start < log.length && now - this.oldest >= windowMs; this.#start += ENTRY)
      this.total -= log[this.#start + COUNT] as number;
    if (this.#start * 2 < log.length) return;
    log.splice(0, this.#start);
    this.#start = 0;
  }
}

/** A key as it is stored. */
export const limiterKey = (key: string): string => (key.length > KEY_MAX ? digest(key) : key);

const digest = (key: string) => createHash('sha256').update(key).digest('base64');
