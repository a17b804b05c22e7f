// Limits of TLS handshakes, which cost the gateway about a millisecond of the thread that serves everybody, and the sender of a
// ClientHello that was recorded once nothing: how many each address may begin, and the pace of those beyond.

/** Addresses that are remembered. The one that has begun nothing for the longest is forgotten first: its bucket is the fullest. */
const ADDRESSES_MAX = 10_000;

/** The part of its time that the thread spends on them. */
const SHARE = 1 / 4;
/** The longest pause after one; milliseconds. What took longer was not the handshake alone. */
const PAUSE_MAX_MS = 50;

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

/** How many handshakes each address may begin before it has to wait for others: a token bucket for each. */
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

/** The pace of handshakes beyond the budget of their address: they get a share of the thread's time, however much each costs. */
export class HandshakePace {
  readonly #now: () => number;
  #freeAt = Number.NEGATIVE_INFINITY;

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long the next one has to wait; milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.#freeAt - this.#now());
  }

  /** Begins a handshake, and measures it: Node and OpenSSL compute the first answer before anything else is done. */
  run(begin: () => void): void {
    const began = this.#now();
    begin();
    // The socket is read in a tick that `begin` has asked for: this one comes after it.
    process.nextTick(() => {
      const now = this.#now();
      this.#freeAt = now + Math.min(PAUSE_MAX_MS, (now - began) * (1 / SHARE - 1));
    });
  }
}
