// How many answers a network gets over UDP, whose senders can be forged: whoever forges them wants us to flood that network.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../runtime/lru-bound.ts';

export interface ResponseRateLimits {
  /** Answers to one network in a second, over time. */
  perSecond: number;
  /** Answers to one network that has been silent, at once. */
  burst: number;
  /** Networks that are remembered; the one that has not asked for longest is forgotten first. */
  networks: number;
}

interface Bucket {
  tokens: number;
  at: number;
  /** Questions over the limit since the last one that was answered with TC. */
  isNextSlipped: boolean;
}

/**
 * `answer` as usual. Over the limit every second question is answered without records and with TC (`slip`), so that a resolver
 * whose address is forged can still come over TCP; the others are dropped.
 */
export type RateVerdict = 'answer' | 'slip' | 'drop';

/** A token bucket for each network. */
export class ResponseRateLimiter {
  readonly #limits: ResponseRateLimits;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  /** @param now milliseconds that never go back. */
  constructor(limits: ResponseRateLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#buckets = new LRUCache(boundedTo(limits.networks));
  }

  /** How many networks are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  take(network: string): RateVerdict {
    const { perSecond, burst } = this.#limits;
    const now = this.#now();
    let bucket = this.#buckets.get(network);
    if (!bucket) {
      bucket = { tokens: burst, at: now, isNextSlipped: true };
      this.#buckets.set(network, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1000);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return 'answer';
    }
    const isSlipped = bucket.isNextSlipped;
    bucket.isNextSlipped = !isSlipped;
    return isSlipped ? 'slip' : 'drop';
  }
}
