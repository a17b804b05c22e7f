// The queue of one account's binds: first in, first out, with limits for running and waiting ones.

import { limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { AgentError } from '../control/agent-errors.ts';

/** Binds that run at once: half of the batch that the database handles in one transaction. */
const CONCURRENT_MAX = 50;
/** Binds that may wait. Agents time out after about 15 s and retry, so a longer queue would run binds that nobody waits for. */
const WAITING_MAX = 2000;
/** The estimate of a bind's duration before the first measurement; milliseconds. */
const INITIAL_ESTIMATE_MS = 5;
/** The weight of the latest measurement in the moving average. */
const WEIGHT = 0.05;
/** The longest retry delay; seconds. Delays have jitter, so that refused agents do not all come back at once. */
const RETRY_AFTER_MAX = 30;

/** Runs the binds of one account with limited concurrency, and refuses them when too many wait. */
export class BindQueue {
  readonly #limit = limitConcurrency(CONCURRENT_MAX);
  readonly #waitingMax: number;
  readonly #now: () => number;
  /** Waiting and running binds. */
  #pending = 0;
  /** The mean time between two completed binds while others waited; milliseconds. */
  #meanIntervalMs = INITIAL_ESTIMATE_MS;
  #lastDoneAt: number | undefined;

  constructor(waitingMax = WAITING_MAX, now = () => performance.now()) {
    this.#waitingMax = waitingMax;
    this.#now = now;
  }

  /** @throws {AgentError} `busy` immediately, with the time after which to retry, when too many wait. */
  async run<T>(bind: () => Promise<T>): Promise<T> {
    if (this.#pending >= CONCURRENT_MAX + this.#waitingMax) throw this.#busy();
    this.#pending++;
    try {
      return await this.#limit(bind);
    } finally {
      this.#pending--;
      this.#measure();
    }
  }

  #busy(): AgentError {
    const seconds = (this.#pending * this.#meanIntervalMs * (1 + Math.random())) / 1000;
    return new AgentError(
      'busy',
      { max: this.#waitingMax },
      { retryAfter: Math.ceil(Math.min(seconds, RETRY_AFTER_MAX)) },
    );
  }

  #measure(): void {
    const now = this.#now();
    if (this.#lastDoneAt !== undefined)
      this.#meanIntervalMs += WEIGHT * (now - this.#lastDoneAt - this.#meanIntervalMs);
    this.#lastDoneAt = this.#pending > CONCURRENT_MAX ? now : undefined;
  }
}
