// Binds of one account: some at once, others in the order in which they come, and not without end.

import { limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { AgentError } from '../control/agent-errors.ts';

/** Binds that are worked on at once: the database does a batch of them in one go, of which this is a half. */
const CONCURRENT_MAX = 50;
/** How many may wait. Agents give up after some 15 s, and ask once more: what nobody waits for any more is not to be done. */
const WAITING_MAX = 2000;
/** What the time that a bind takes is thought to be before there was one; milliseconds. */
const INITIAL_ESTIMATE_MS = 5;
/** How much the last one counts in the average. */
const WEIGHT = 0.05;
/** Seconds; those who are refused are told times apart, so that they do not all come back at once. */
const RETRY_AFTER_MAX = 30;

export class BindQueue {
  readonly #limit = limitConcurrency(CONCURRENT_MAX);
  readonly #waitingMax: number;
  readonly #now: () => number;
  /** Those that wait, and those that are worked on. */
  #pending = 0;
  /** The mean time between two binds that were done while others waited; milliseconds. */
  #meanIntervalMs = INITIAL_ESTIMATE_MS;
  #doneAt: number | undefined;

  constructor(waitingMax = WAITING_MAX, now = () => performance.now()) {
    this.#waitingMax = waitingMax;
    this.#now = now;
  }

  /** @throws {AgentError} at once, when too many wait: `busy`, with the time after which to ask again. */
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
    if (this.#doneAt !== undefined) this.#meanIntervalMs += WEIGHT * (now - this.#doneAt - this.#meanIntervalMs);
    this.#doneAt = this.#pending > CONCURRENT_MAX ? now : undefined;
  }
}
