// Throttles authentication, so that guessing authtokens is slow and causes little load on the database.

import { limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { addressBlock } from '../network/peer.ts';

/** The most admissions at the same time; the database handles a batch of them in one query. Further ones wait. */
const CONCURRENT_ADMISSIONS_MAX = 100;
/**
 * The leaky bucket of undelayed refusals: burst, and refusals per second. An agent with an old token retries now and
 * then.
 */
const REFUSAL_BURST = 20;
const REFUSALS_PER_SECOND = 1;
/** The delay of each further refusal; milliseconds. It occupies a connection, whose number is limited. */
const DELAY_MS = 3000;
/** The most addresses with a bucket. The least recently refused one is evicted first. */
const ADDRESSES_MAX = 10_000;

interface RefusalBucket {
  count: number;
  at: number;
}

/** Limits concurrent admissions, and delays refusals for each block of addresses. */
export class AuthtokenThrottle {
  /** Queues admissions: agents that reconnect all at once wait instead of being refused. */
  readonly limitAdmissions = limitConcurrency(CONCURRENT_ADMISSIONS_MAX);
  readonly #now: () => number;
  readonly #refusals = new Map<string, RefusalBucket>();

  /** @param now a monotonic clock, in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a refused authtoken. Resolves when the response may be sent; valid authtokens are never delayed. */
  async delayRefusal(ip: string): Promise<void> {
    if (!this.#takeFromBucket(addressBlock(ip))) await new Promise((resolve) => setTimeout(resolve, DELAY_MS).unref());
  }

  #takeFromBucket(block: string): boolean {
    const now = this.#now();
    const { count, at } = this.#refusals.get(block) ?? { count: 0, at: now };
    this.#refusals.delete(block);
    const level = Math.max(0, count - ((now - at) / 1000) * REFUSALS_PER_SECOND);
    this.#refusals.set(block, { count: Math.min(level + 1, 2 * REFUSAL_BURST), at: now });
    if (this.#refusals.size > ADDRESSES_MAX) this.#refusals.delete(this.#refusals.keys().next().value ?? '');
    return level + 1 <= REFUSAL_BURST; // The bucket leaks continuously, so it must have room for a whole refusal.
  }
}
