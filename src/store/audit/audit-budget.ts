// How often strangers and agents may leave entries in the audit trail: they could fill it otherwise.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../../runtime/lru-bound.ts';

const MINUTE_MS = 60_000;
/** Of so many users and credentials the count is known. */
const KEYS_MAX = 10_000;

interface Minute {
  start: number;
  recorded: number;
  /** How many there was no room for. */
  skipped: number;
}

export class AuditBudget {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #minutes = new LRUCache<string, Minute>(boundedTo(KEYS_MAX));

  /** @param perMinute entries of one key, at each node. @param now the wall clock, in milliseconds. */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /**
   * Takes the room for one entry.
   * @returns how many there was no room for since the last one; null when there is none for this one.
   */
  take(key: string): number | null {
    const now = this.#now();
    const last = this.#minutes.get(key);
    if (last && now - last.start < MINUTE_MS) {
      if (last.recorded === this.#perMinute) {
        last.skipped++;
        return null;
      }
      last.recorded++;
      return 0;
    }
    this.#minutes.set(key, { start: now, recorded: 1, skipped: 0 });
    return last?.skipped ?? 0;
  }
}
