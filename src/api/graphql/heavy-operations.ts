// Operations that cost far more than others: of each account a few at a time, and with rests between them, so that the
// others' requests, and visitors, are served meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors/errors.ts';

/** Operations of one account that run at once. */
const RUNNING_MAX = 2;
/** Those that wait for their turn; further ones are refused. */
const WAITING_MAX = 8;
/** A place is free again when it has rested for so many times as long as it was in use, */
const REST_FACTOR = 2;
/** but never for longer than this, in milliseconds. */
const REST_MAX_MS = 2000;
const RETRY_SECONDS = 2;

interface Places {
  taken: number;
  waiting: (() => void)[];
}

/** Waits so many milliseconds. */
export type Rest = (ms: number) => Promise<unknown>;

/** Bounds the heavy operations of each account. Only accounts that have some under way are known. */
export class HeavyOperations {
  readonly #accounts = new Map<string, Places>();
  readonly #rest: Rest;

  constructor(rest: Rest = (ms) => sleep(ms, undefined, { ref: false })) {
    this.#rest = rest;
  }

  /** Runs an operation when it is its turn. @throws {ApiError} when too many of the account wait already. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const places = this.#accounts.get(accountId) ?? { taken: 0, waiting: [] };
    this.#accounts.set(accountId, places);
    if (places.taken < RUNNING_MAX) places.taken++;
    else {
      if (places.waiting.length >= WAITING_MAX)
        throw new ApiError('tooMuchHeavyWork', { max: WAITING_MAX, seconds: RETRY_SECONDS });
      await new Promise<void>((resolve) => places.waiting.push(resolve)); // It is handed the place.
    }
    const started = performance.now();
    try {
      return await work();
    } finally {
      const ms = Math.min(REST_MAX_MS, (performance.now() - started) * REST_FACTOR);
      void this.#rest(ms).then(() => this.#free(accountId, places));
    }
  }

  #free(accountId: string, places: Places): void {
    const next = places.waiting.shift();
    if (next) {
      next();
      return;
    }
    places.taken--;
    if (places.taken === 0) this.#accounts.delete(accountId);
  }
}
