// Operations that cost far more than others: of each account a few at a time, and with rests between them, so that the
// others' requests, and visitors, are served meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors/errors.ts';

/** Operations of one account that run at once. */
const RUNNING_MAX = 2;
/** Those that wait for their turn; further ones are refused. */
const WAITING_MAX = 8;
/** A place is free again when it has rested for so many times as long as it was in use, */
const PAUSE_FACTOR = 2;
/** but never for longer than this, in milliseconds. */
const PAUSE_MAX_MS = 2000;
const RETRY_SECONDS = 2;

interface AccountQueue {
  running: number;
  waiting: (() => void)[];
}

/** Waits so many milliseconds. */
export type Pause = (ms: number) => Promise<unknown>;

/** Bounds the heavy operations of each account. Only accounts that have some under way are known. */
export class HeavyOperations {
  readonly #accounts = new Map<string, AccountQueue>();
  readonly #pause: Pause;

  constructor(pause: Pause = (ms) => sleep(ms, undefined, { ref: false })) {
    this.#pause = pause;
  }

  /** Runs an operation when it is its turn. @throws {ApiError} when too many of the account wait already. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#accounts.get(accountId) ?? { running: 0, waiting: [] };
    this.#accounts.set(accountId, queue);
    if (queue.running < RUNNING_MAX) queue.running++;
    else {
      if (queue.waiting.length >= WAITING_MAX)
        throw new ApiError('tooMuchHeavyWork', { max: WAITING_MAX, seconds: RETRY_SECONDS });
      await new Promise<void>((resolve) => queue.waiting.push(resolve)); // It is handed the place.
    }
    const started = performance.now();
    try {
      return await work();
    } finally {
      const ms = Math.min(PAUSE_MAX_MS, (performance.now() - started) * PAUSE_FACTOR);
      void this.#pause(ms).then(() => this.#release(accountId, queue));
    }
  }

  #release(accountId: string, queue: AccountQueue): void {
    const next = queue.waiting.shift();
    if (next) {
      next();
      return;
    }
    queue.running--;
    if (queue.running === 0) this.#accounts.delete(accountId);
  }
}
