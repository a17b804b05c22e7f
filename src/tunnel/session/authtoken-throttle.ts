// Who tries authtokens out gets on slowly, and the database has little of it.

import { limitConcurrency } from '../../protocol/concurrency-limit.ts';
import { addressBlock } from '../network/peer.ts';

/** Admissions that are worked on at once: the database does a batch of them in one go. The others wait. */
const CONCURRENT_ADMISSIONS_MAX = 100;
/** Refusals that an address has free at once, and then in a second. An agent with an old token tries now and then. */
const FREE_REFUSALS = 20;
const FREE_PER_SECOND = 1;
/** How long the answer to any further one is held back; milliseconds. A connection waits meanwhile, and they are few. */
const DELAY_MS = 3000;
/** Addresses that are remembered; the one that was refused longest ago is forgotten first. */
const ADDRESSES_MAX = 10_000;

interface RefusalBucket {
  count: number;
  at: number;
}

export class AuthtokenThrottle {
  /** Whoever comes is admitted, or refused, in turn: agents that come back all at once are not turned away for it. */
  readonly limitAdmissions = limitConcurrency(CONCURRENT_ADMISSIONS_MAX);
  readonly #now: () => number;
  readonly #refusals = new Map<string, RefusalBucket>();

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** An authtoken was refused. Resolves when its bearer may be told; who has a right one is never held back. */
  async delayRefusal(ip: string): Promise<void> {
    if (!this.#isFree(addressBlock(ip))) await new Promise((resolve) => setTimeout(resolve, DELAY_MS).unref());
  }

  #isFree(block: string): boolean {
    const now = this.#now();
    const { count, at } = this.#refusals.get(block) ?? { count: 0, at: now };
    this.#refusals.delete(block);
    const left = Math.max(0, count - ((now - at) / 1000) * FREE_PER_SECOND);
    this.#refusals.set(block, { count: Math.min(left + 1, 2 * FREE_REFUSALS), at: now });
    if (this.#refusals.size > ADDRESSES_MAX) this.#refusals.delete(this.#refusals.keys().next().value ?? '');
    return left + 1 <= FREE_REFUSALS; // A whole one must have room: what leaks in a moment is not one more.
  }
}
