// The circuit breaker: an upstream that keeps failing is left alone for a while (specification section 2.3).

import type { BreakerTransition, FollowingBreaker, UpstreamOutcome, Verdict } from './module.ts';
import { OutcomeWindow } from './outcome-window.ts';

export interface CircuitBreakerOptions {
  /** How long it stays open before one request is let through to see; milliseconds. */
  trippedMs: number;
  /** How long an outcome counts; milliseconds. */
  windowMs: number;
  /** Pieces that the window is counted in, and forgotten by. */
  numBuckets: number;
  /** Completed requests in the window before it may trip. */
  volumeThreshold: number;
  /** The share of failures that trips it, from 0 to 1; one at least has to have failed. */
  errorThreshold: number;
}

export interface CircuitBreakerSnapshot {
  state: 'closed' | 'open' | 'probing';
  /** Completed requests in the window, and how many of them failed. */
  requests: number;
  failures: number;
  /** Milliseconds until a request is let through; undefined when it is not open. */
  openUntil: number | undefined;
}

/** What everybody is told who comes while the trial is under way: nobody knows how long that takes. */
const PROBING_WAIT_MS = 1000;
/** A trial of which nothing was heard for so long, and for `trippedMs`, is followed by another one. */
const TRIAL_MS = 60_000;
/** So much longer those stay open that another node has opened, which is to make the trial; it may have no visitor to try. */
const FOLLOWER_GRACE_MS = 1000;

/** Lets a breaker follow those of other nodes. @returns what tells them of its transitions; undefined as long as it cannot be joined. */
export type JoinBreakers = (breaker: FollowingBreaker) => ((transition: BreakerTransition) => void) | undefined;

/**
 * Counts completed requests only. Closed, all pass; open, none; after `trippedMs` a single one is tried, and its outcome
 * closes or opens it again. The outcome of a request that began in another state than the one it ends in says nothing of
 * the upstream as it is now, and does not count. There are no timers: an idle breaker is a few numbers.
 *
 * Over several nodes, each counts for itself, and one that trips opens all. The node where it tripped makes the trial, and the
 * others learn of its end; if they hear nothing, each makes one of its own.
 */
export class CircuitBreaker implements FollowingBreaker {
  readonly #settings: CircuitBreakerOptions;
  readonly #now: () => number;
  readonly #window: OutcomeWindow;
  /** What requests have that began since the state was entered: whoever has another one is of an earlier state. */
  #ticket = 1;
  #state: CircuitBreakerSnapshot['state'] = 'closed';
  /** Until when nobody is let in, unless it is closed. */
  #until = 0;
  /** Whether the trial that is under way is this node's. */
  #isOwnTrial = false;
  #join: JoinBreakers | undefined;
  #announce: ((transition: BreakerTransition) => void) | undefined;

  /** @param join left out where there are no other nodes. */
  constructor(settings: CircuitBreakerOptions, now: () => number, join?: JoinBreakers) {
    this.#settings = settings;
    this.#join = join;
    this.#now = now;
    this.#window = new OutcomeWindow(settings.windowMs, settings.numBuckets);
  }

  /** @returns a ticket, to be given back with the outcome; undefined when the request must not go on. */
  begin(): number | undefined {
    if (this.#join) {
      this.#announce = this.#join(this);
      if (this.#announce) this.#join = undefined;
    }
    if (this.#state === 'closed') return this.#ticket;
    const now = this.#now();
    if (now < this.#until) return undefined;
    this.#change('probing', now, this.#trialMs);
    this.#isOwnTrial = true;
    return this.#ticket;
  }

  /** Does what the breaker of another node does. */
  follow({ state, forMs }: BreakerTransition): void {
    const now = this.#now();
    if (state === 'closed') {
      if (this.#state === 'closed') return;
      this.#window.clear();
      this.#enter('closed', now);
    } else if (state === 'probing') {
      if (!this.#isOwnTrial) this.#enter('probing', now + this.#trialMs);
    } else if (this.#state !== 'open') this.#enter('open', now + forMs + FOLLOWER_GRACE_MS);
  }

  /** Lets the breakers of other nodes close that it has opened: it is not used any more, and another one may take its place. */
  leave(): void {
    if (this.#state !== 'closed') this.#announce?.({ state: 'closed', forMs: 0 });
  }

  /** Whether a request is under way to see whether upstream is well again. */
  get isProbing(): boolean {
    return this.#state === 'probing';
  }

  /** Milliseconds after which a request that was not let in may try again. */
  get retryAfterMs(): number {
    if (this.#state === 'probing') return PROBING_WAIT_MS;
    return this.#state === 'open' ? Math.max(this.#until - this.#now(), 0) : 0;
  }

  /** Has to be told of every request that began. @param outcome a status, or that there was none. */
  end(ticket: number, outcome: UpstreamOutcome): void {
    if (ticket !== this.#ticket) return;
    const hasFailed = outcome === 'failed' || (outcome !== 'unasked' && outcome >= 500);
    if (this.#state === 'probing') this.#judge(outcome, hasFailed);
    else if (outcome !== 'unasked') this.#count(hasFailed);
  }

  snapshot(): CircuitBreakerSnapshot {
    const now = this.#now();
    this.#window.moveTo(now);
    const { requests, failures } = this.#window;
    const openUntil = this.#state === 'open' ? Math.max(this.#until - now, 0) : undefined;
    return { state: this.#state, requests, failures, openUntil };
  }

  #count(hasFailed: boolean): void {
    const now = this.#now();
    const window = this.#window;
    window.add(now, hasFailed);
    const { volumeThreshold, errorThreshold, trippedMs } = this.#settings;
    if (window.requests < volumeThreshold || window.failures === 0) return;
    // Divided, since 0.07 of 100 is more than 7 when it is multiplied.
    if (window.failures / window.requests >= errorThreshold) this.#change('open', now, trippedMs);
  }

  #judge(outcome: UpstreamOutcome, hasFailed: boolean): void {
    const now = this.#now();
    if (outcome === 'unasked') return void this.#change('open', now, 0); // The next one is the trial.
    if (hasFailed) return void this.#change('open', now, this.#settings.trippedMs);
    this.#window.clear();
    this.#change('closed', now, 0);
  }

  get #trialMs(): number {
    return Math.max(this.#settings.trippedMs, TRIAL_MS);
  }

  /** Enters a state, and tells the other nodes. */
  #change(state: CircuitBreakerSnapshot['state'], now: number, forMs: number): void {
    this.#enter(state, now + forMs);
    this.#announce?.({ state, forMs });
  }

  #enter(state: CircuitBreakerSnapshot['state'], until: number): void {
    this.#state = state;
    this.#until = until;
    this.#isOwnTrial = false;
    this.#ticket++;
  }
}

/** The answer while a breaker is open. */
export function circuitOpenRefusal(breaker: CircuitBreaker): Verdict {
  const seconds = Math.max(Math.ceil(breaker.retryAfterMs / 1000), 1);
  const reason = `the circuit breaker is open for another ${seconds} s`;
  return { kind: 'refuse', error: 'circuitOpen', fields: [['Retry-After', String(seconds)]], reason };
}
