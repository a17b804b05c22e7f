// How many TLS handshakes each address may begin before it has to wait for others: a token bucket for each. A handshake costs the
// gateway a millisecond of the thread that serves everybody, and the sender of a ClientHello that was recorded once nothing.

/** Addresses that are remembered. The one that has begun nothing for the longest is forgotten first: its bucket is the fullest. */
const ADDRESSES_MAX = 10_000;

export interface HandshakeBudget {
  /** Handshakes that an address may begin at once. */
  burst: number;
  /** Handshakes that it may begin in a second after that. */
  perSecond: number;
}

interface Bucket {
  tokens: number;
  /** When they were counted; milliseconds. */
  at: number;
}

export class HandshakeBudgets {
  readonly #budget: HandshakeBudget;
  readonly #now: () => number;
  /** In the order of their last use. A full bucket need not be here. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(budget: HandshakeBudget, now: () => number) {
    this.#budget = budget;
    this.#now = now;
  }

  /** Whether the address may begin a handshake. */
  has(block: string): boolean {
    return this.#tokensOf(block) >= 1;
  }

  /** Counts a handshake. @returns whether it was within the budget; one that is not takes nothing from it. */
  spend(block: string): boolean {
    const tokens = this.#tokensOf(block);
    if (tokens < 1) return false;
    this.#set(block, tokens - 1);
    return true;
  }

  /** Gives back what a handshake took. */
  refund(block: string): void {
    if (this.#buckets.has(block)) this.#set(block, Math.min(this.#budget.burst, this.#tokensOf(block) + 1));
  }

  #tokensOf(block: string): number {
    const { burst, perSecond } = this.#budget;
    const bucket = this.#buckets.get(block);
    return bucket ? Math.min(burst, bucket.tokens + ((this.#now() - bucket.at) / 1000) * perSecond) : burst;
  }

  #set(block: string, tokens: number): void {
    this.#buckets.delete(block);
    this.#buckets.set(block, { tokens, at: this.#now() });
    if (this.#buckets.size > ADDRESSES_MAX) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
  }
}
