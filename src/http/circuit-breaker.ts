// The circuit breaker: an upstream that keeps failing is left alone for a while (specification section 2.3).

import type { BreakerLink, BreakerTransition, FollowingBreaker, UpstreamOutcome, Verdict } from './module.ts';
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
  /** Completed requests in the window, and how many of them failed: of this process, without other workers. */
  requests: number;
  failures: number;
  /** Milliseconds until a request is let through; undefined when it is not open. */
  openUntil: number | undefined;
}

/** What everybody is told who comes while the trial is under way: nobody knows how long that takes. */
const PROBING_WAIT_MS = 1000;
/** No trial follows another one sooner; milliseconds. */
const TRIAL_MIN_MS = 1000;
/** So much longer those stay open that another node has opened, which is to make the trial; it may have no visitor to try. */
const FOLLOWER_GRACE_MS = 1000;

/** Lets a breaker follow those of other nodes. @returns what tells them of it; undefined as long as it cannot be joined. */
export type JoinBreakers = (breaker: FollowingBreaker) => BreakerLink | undefined;

/**
 * Counts completed requests only. Closed, all pass; open, none; after `trippedMs` one is tried, and its outcome closes or opens
 * it again. As long as a trial has no answer, another one follows after each `trippedMs`: a long poll, or a request that is never
 * answered, must not keep visitors from a service that is well. The first good answer closes, whichever trial it is of; a failure
 * counts of the last trial only. A request whose body still comes may take as long as its visitor likes: it is tried, but in a
 * turn of its own, and holds up no other. The outcome of a request that began before it opened says nothing of the upstream as it
 * is now, and does not count. There are no timers: an idle breaker is a few numbers.
 *
 * Workers of one machine count together, each what it hears of the others a moment later. Other nodes count for themselves. One that
 * trips opens all. The node where it tripped makes the trial, and the
 * others learn of its end; if they hear nothing, each makes one of its own.
 */
export class CircuitBreaker implements FollowingBreaker {
  readonly #settings: CircuitBreakerOptions;
  readonly #now: () => number;
  readonly #window: OutcomeWindow;
  /** Of the other workers of this machine. */
  readonly #others: OutcomeWindow;
  /** What requests have that began since the state was entered: whoever has another one is of an earlier state. */
  #ticket = 1;
  #state: CircuitBreakerSnapshot['state'] = 'closed';
  /** Until when nobody is let in, unless it is closed; and until when nobody whose body still comes. */
  #until = 0;
  #bodyUntil = 0;
  /** The first ticket that trials have had since it was closed, and the last one of a trial whose body was to come. */
  #firstTrial = 0;
  #bodyTrial = 0;
  /** Whether the trial that is under way is this node's. */
  #isOwnTrial = false;
  #join: JoinBreakers | undefined;
  #link: BreakerLink | undefined;

  /** @param join left out where there are no other nodes. */
  constructor(settings: CircuitBreakerOptions, now: () => number, join?: JoinBreakers) {
    this.#settings = settings;
    this.#join = join;
    this.#now = now;
    this.#window = new OutcomeWindow(settings.windowMs, settings.numBuckets);
    this.#others = new OutcomeWindow(settings.windowMs, settings.numBuckets);
  }

  /**
   * @param hasBodyToCome whether the visitor has not sent all of the request yet.
   * @returns a ticket, to be given back with the outcome; undefined when the request must not go on.
   */
  begin(hasBodyToCome = false): number | undefined {
    if (this.#join) {
      this.#link = this.#join(this);
      if (this.#link) this.#join = undefined;
    }
    if (this.#state === 'closed') return this.#ticket;
    const now = this.#now();
    if (now < (hasBodyToCome ? this.#bodyUntil : this.#until)) return undefined;
    if (hasBodyToCome) {
      this.#bodyUntil = now + this.#trialMs;
      this.#bodyTrial = ++this.#ticket;
      return this.#ticket;
    }
    this.#change('probing', now, this.#trialMs);
    this.#isOwnTrial = true;
    return this.#ticket;
  }

  /** Does what the breaker of another node does. */
  follow({ state, forMs }: BreakerTransition): void {
    const now = this.#now();
    if (state === 'closed') {
      if (this.#state === 'closed') return;
      this.#forget();
      this.#enter('closed', now);
    } else if (state === 'probing') {
      if (!this.#isOwnTrial) this.#enter('probing', now + this.#trialMs + FOLLOWER_GRACE_MS);
    } else if (this.#state !== 'open') this.#enter('open', now + forMs + FOLLOWER_GRACE_MS);
  }

  addOutcomes(requests: number, failures: number): void {
    if (this.#state !== 'closed') return;
    const now = this.#now();
    this.#others.add(now, requests, failures);
    this.#window.moveTo(now);
    this.#tripIfDue(now);
  }

  /** Lets the breakers of other nodes close that it has opened: it is not used any more, and another one may take its place. */
  leave(): void {
    if (this.#state !== 'closed') this.#link?.tell({ state: 'closed', forMs: 0 });
  }

  /** Whether all requests are let in. */
  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Milliseconds after which a request that was not let in may try again. */
  get retryAfterMs(): number {
    if (this.#state === 'probing') return PROBING_WAIT_MS;
    return this.#state === 'open' ? Math.max(this.#until - this.#now(), 0) : 0;
  }

  /** Has to be told of every request that began. @param outcome a status, or that there was none. */
  end(ticket: number, outcome: UpstreamOutcome): void {
    const hasFailed = outcome === 'failed' || (outcome !== 'unasked' && outcome >= 500);
    if (this.#state !== 'closed') this.#judge(ticket, outcome, hasFailed);
    else if (ticket === this.#ticket && outcome !== 'unasked') this.#count(hasFailed);
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
    this.#window.add(now, 1, hasFailed ? 1 : 0);
    this.#others.moveTo(now);
    this.#tripIfDue(now);
    this.#link?.count(hasFailed);
  }

  #tripIfDue(now: number): void {
    const requests = this.#window.requests + this.#others.requests;
    const failures = this.#window.failures + this.#others.failures;
    const { volumeThreshold, errorThreshold, trippedMs } = this.#settings;
    if (requests < volumeThreshold || failures === 0) return;
    // Divided, since 0.07 of 100 is more than 7 when it is multiplied.
    if (failures / requests >= errorThreshold) this.#change('open', now, trippedMs);
  }

  #forget(): void {
    this.#window.clear();
    this.#others.clear();
  }

  #judge(ticket: number, outcome: UpstreamOutcome, hasFailed: boolean): void {
    if (ticket < this.#firstTrial) return;
    const now = this.#now();
    if (outcome === 'unasked') return void this.#giveBack(ticket, now);
    if (hasFailed && (ticket !== this.#ticket || ticket === this.#bodyTrial)) return;
    if (hasFailed) return void this.#change('open', now, this.#settings.trippedMs);
    this.#forget();
    this.#change('closed', now, 0);
  }

  /** The trial was none: the next request is the trial. */
  #giveBack(ticket: number, now: number): void {
    if (ticket === this.#bodyTrial) this.#bodyUntil = now;
    else if (ticket === this.#ticket) this.#change('open', now, 0);
  }

  get #trialMs(): number {
    return Math.max(this.#settings.trippedMs, TRIAL_MIN_MS);
  }

  /** Enters a state, and tells the other nodes. */
  #change(state: CircuitBreakerSnapshot['state'], now: number, forMs: number): void {
    this.#enter(state, now + forMs);
    this.#link?.tell({ state, forMs });
  }

  #enter(state: CircuitBreakerSnapshot['state'], until: number): void {
    this.#ticket++;
    if (this.#state === 'closed') this.#firstTrial = this.#ticket;
    if (state === 'open') this.#bodyUntil = Math.max(this.#bodyUntil, until);
    this.#state = state;
    this.#until = until;
    this.#isOwnTrial = false;
  }
}

/** The answer while a breaker is open. */
export function circuitOpenRefusal(breaker: CircuitBreaker): Verdict {
  const seconds = Math.max(Math.ceil(breaker.retryAfterMs / 1000), 1);
  const reason = `the circuit breaker is open for another ${seconds} s`;
  return { kind: 'refuse', error: 'circuitOpen', fields: [['Retry-After', String(seconds)]], reason };
}
