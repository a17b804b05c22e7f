// How often something may happen for each of many keys, in a window that slides.

import { createHash } from 'node:crypto';

const KEYS_MAX = 10_000;
/** Times that are kept of one key, at least and at most; and of all keys, from where on each has fewer. */
const TIMES = { min: 50, max: 1_000 };
const TIMES_OF_ALL = 200_000;
/** Longer keys are kept as their digest: what visitors send may be long. */
const KEY_MAX = 64;

export interface RateLimit {
  /** How often in a window. */
  capacity: number;
  /** Milliseconds. */
  windowMs: number;
  /** Of more keys than these, those that were used longest ago are forgotten. Default 10,000. */
  maxKeys?: number;
}

/**
 * Keeps when somebody was let in: a place is free again when the time that it was taken at is out of the window, to the
 * millisecond. Where the capacity is larger than the times that a key may have, those that are near to each other count as
 * the last of them: a place is free later then, by a thousandth of the window (a fiftieth, with thousands of keys), and no
 * window ever has more than the capacity. Nobody is told to wait longer than the window.
 */
export class RateLimiter {
  readonly #capacity: number;
  readonly #windowMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  /** Those that were used longest ago are first. */
  readonly #visits = new Map<string, TakenTimes>();

  constructor({ capacity, windowMs, maxKeys = KEYS_MAX }: RateLimit, now: () => number) {
    this.#capacity = capacity;
    this.#windowMs = windowMs;
    this.#keysMax = maxKeys;
    this.#now = now;
  }

  /** Keys that are kept. */
  get size(): number {
    return this.#visits.size;
  }

  /** Takes a place, if there is one. @returns 0 when there was; else the milliseconds until one is free. */
  take(key: string): number {
    const now = this.#now();
    const visits = this.#touch(key.length > KEY_MAX ? digest(key) : key);
    visits.forget(now, this.#windowMs);
    if (visits.total >= this.#capacity) return Math.max(Math.ceil(this.#windowMs - (now - visits.oldest)), 1);
    visits.add(now, this.#grainMs());
    return 0;
  }

  /** How near to each other times are that count as one. */
  #grainMs(): number {
    const times = Math.min(Math.max(TIMES_OF_ALL / this.#visits.size, TIMES.min), TIMES.max);
    return this.#capacity <= times ? 0 : this.#windowMs / times;
  }

  /** What is kept of a key. */
  #touch(key: string): TakenTimes {
    const known = this.#visits.get(key);
    const visits = known ?? new TakenTimes();
    if (known) this.#visits.delete(key);
    this.#visits.set(key, visits);
    if (this.#visits.size > this.#keysMax) {
      const [oldest = ''] = this.#visits.keys();
      this.#visits.delete(oldest);
    }
    return visits;
  }
}

/** Numbers of an entry: the first and the last of its times, and how many they are. */
const FIRST = 0;
const LAST = 1;
const COUNT = 2;
const ENTRY = 3;

/** When places were taken for one key, the first one first. */
class TakenTimes {
  total = 0;
  /** Entry after entry. */
  readonly #log: number[] = [];
  /** Where the oldest that counts begins. */
  #start = 0;

  get oldest(): number {
    return this.#log[this.#start + LAST] as number;
  }

  add(time: number, grainMs: number): void {
    const log = this.#log;
    const last = log.length - ENTRY;
    this.total++;
    if (last >= this.#start && time - (log[last + FIRST] as number) < grainMs) {
      log[last + LAST] = time;
      log[last + COUNT] = (log[last + COUNT] as number) + 1;
    } else log.push(time, time, 1);
  }

  /** Leaves out what was before the window that ends now. */
  forget(now: number, windowMs: number): void {
    const log = this.#log;
    for (; this.#start < log.length && now - this.oldest >= windowMs; this.#start += ENTRY)
      this.total -= log[this.#start + COUNT] as number;
    if (this.#start * 2 < log.length) return;
    log.splice(0, this.#start);
    this.#start = 0;
  }
}

const digest = (key: string) => createHash('sha256').update(key).digest('base64');
