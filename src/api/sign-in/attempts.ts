// Failed attempts to sign in: after a few of them, each waits longer than the one before.

import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';

/** So many may fail before anybody waits. */
const FREE = 5;
const WAIT_MAX_MS = 15 * 60 * 1000;
/** What failed is forgotten when nothing was tried for so long. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;
const KEYS_MAX = 50_000;
const KEY_MAX = 256;

interface Failures {
  count: number;
  /** When the next attempt may be made; milliseconds. */
  next: number;
}

/** Counts per e-mail address and per client address. @param now the wall clock, in milliseconds. */
export class Attempts {
  readonly #now: () => number;
  readonly #failures: LRUCache<string, Failures>;

  constructor(now: () => number) {
    this.#now = now;
    this.#failures = new LRUCache({ max: KEYS_MAX, ttl: FORGOTTEN_MS, perf: { now } });
  }

  /**
   * Makes an attempt. It counts as failed while it is under way, so that many at once do not get round the waiting.
   * A success makes the failures of the e-mail address forgotten, and those of the client address one fewer: who has an
   * account must not be able to try others’ for ever.
   * @param work gives null when it failed. What it throws is nobody’s failure.
   * @throws {ApiError} when it is too early for another one.
   */
  async make<T>(email: string | null, ip: string, work: () => Promise<T | null>): Promise<T | null> {
    const byIp = `ip ${network(ip)}`;
    const byEmail = email === null ? null : `email ${email.slice(0, KEY_MAX)}`;
    const keys = byEmail === null ? [byIp] : [byIp, byEmail];
    const wait = Math.max(...keys.map((key) => (this.#failures.get(key)?.next ?? 0) - this.#now()));
    if (wait > 0) throw new ApiError('tooManyAttempts', { seconds: Math.ceil(wait / 1000) });

    for (const key of keys) this.#count(key);
    try {
      const result = await work();
      if (result === null) return null;
      if (byEmail !== null) this.#failures.delete(byEmail);
      this.#takeBack(byIp);
      return result;
    } catch (error) {
      for (const key of keys) this.#takeBack(key);
      throw error;
    }
  }

  #count(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const wait = count < FREE ? 0 : Math.min(WAIT_MAX_MS, 1000 * 2 ** (count - FREE));
    this.#failures.set(key, { count, next: wait === 0 ? 0 : this.#now() + wait });
  }

  #takeBack(key: string): void {
    const { count = 1 } = this.#failures.get(key) ?? {};
    if (count > 1) this.#failures.set(key, { count: count - 1, next: 0 });
    else this.#failures.delete(key);
  }
}

/** Whoever has one address of IPv6 has 2^64 of them. */
function network(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail ? tail.split(':') : [];
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  return [...groups, ...zeros, ...after].slice(0, 4).join(':');
}
