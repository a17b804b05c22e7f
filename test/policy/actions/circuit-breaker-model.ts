// A circuit breaker as one would explain it: it keeps every outcome, and counts anew each time.

import fc from 'fast-check';
import { expect } from 'vitest';
import {
  CircuitBreaker,
  type CircuitBreakerOptions,
  type CircuitBreakerSnapshot,
} from '../../../src/http/circuit-breaker.ts';
import type { UpstreamOutcome } from '../../../src/http/module.ts';

const TRIAL_MIN_MS = 1000;

/** A request that was let in. */
interface Begun {
  /** How often it had been closed before. */
  closings: number;
  /** Its number among the trials; 0 of one that was let in while it was closed. */
  trial: number;
  hasBodyToCome: boolean;
}

class BreakerModel {
  readonly #settings: CircuitBreakerOptions;
  /** Completed requests of the closed state, with the bucket that each ended in. */
  #outcomes: { bucket: number; hasFailed: boolean }[] = [];
  #state: CircuitBreakerSnapshot['state'] = 'closed';
  #until = 0;
  #bodyUntil = 0;
  #closings = 0;
  #trials = 0;
  #bodyTrial = 0;
  /** Undefined once it has opened again. */
  #lastTrial: number | undefined;

  constructor(settings: CircuitBreakerOptions) {
    this.#settings = settings;
  }

  /** @returns undefined when it is refused. */
  begin(now: number, hasBodyToCome: boolean): Begun | undefined {
    if (this.#state === 'closed') return { closings: this.#closings, trial: 0, hasBodyToCome };
    if (now < (hasBodyToCome ? this.#bodyUntil : this.#until)) return undefined;
    const next = now + Math.max(TRIAL_MIN_MS, this.#settings.trippedMs);
    const trial = ++this.#trials;
    this.#lastTrial = trial;
    if (hasBodyToCome) {
      this.#bodyUntil = next;
      this.#bodyTrial = trial;
    } else {
      this.#state = 'probing';
      this.#until = next;
    }
    return { closings: this.#closings, trial, hasBodyToCome };
  }

  end({ closings, trial, hasBodyToCome }: Begun, outcome: UpstreamOutcome, now: number): void {
    if (closings !== this.#closings || (trial === 0) !== (this.#state === 'closed')) return;
    const hasFailed = outcome === 'failed' || (typeof outcome === 'number' && outcome >= 500);
    const { volumeThreshold, errorThreshold, trippedMs } = this.#settings;
    if (this.#state === 'closed') {
      if (outcome === 'unasked') return;
      this.#outcomes.push({ bucket: this.#bucket(now), hasFailed });
      const { requests, failures } = this.counts(now);
      if (requests >= volumeThreshold && failures >= 1 && failures / requests >= errorThreshold)
        this.#open(now + trippedMs);
    } else if (outcome === 'unasked' && hasBodyToCome) {
      if (trial === this.#bodyTrial) this.#bodyUntil = now;
    } else if (outcome === 'unasked' || hasFailed) {
      if (trial === this.#lastTrial && !hasBodyToCome) this.#open(outcome === 'unasked' ? now : now + trippedMs);
    } else {
      this.#outcomes = [];
      this.#state = 'closed';
      this.#closings++;
    }
  }

  counts(now: number): { requests: number; failures: number } {
    const oldest = this.#bucket(now) - this.#settings.numBuckets + 1;
    const counted = this.#outcomes.filter(({ bucket }) => bucket >= oldest);
    return { requests: counted.length, failures: counted.filter(({ hasFailed }) => hasFailed).length };
  }

  snapshot(now: number): CircuitBreakerSnapshot {
    const openUntil = this.#state === 'open' ? Math.max(this.#until - now, 0) : undefined;
    return { state: this.#state, ...this.counts(now), openUntil };
  }

  #bucket(now: number): number {
    const { windowMs, numBuckets } = this.#settings;
    return Math.floor(now / (windowMs / numBuckets));
  }

  #open(until: number): void {
    this.#state = 'open';
    this.#until = until;
    this.#bodyUntil = Math.max(this.#bodyUntil, until);
    this.#lastTrial = undefined;
  }
}

const settings = fc.record({
  trippedMs: fc.constantFrom(0, 50, 300),
  windowMs: fc.constantFrom(100, 1000),
  numBuckets: fc.constantFrom(1, 2, 7, 10),
  volumeThreshold: fc.nat(4),
  errorThreshold: fc.constantFrom(0, 0.34, 0.5, 1),
});

const OUTCOMES: readonly UpstreamOutcome[] = [200, 404, 499, 500, 503, 'failed', 'unasked'];
const PAUSES = [0, 1, 10, 49, 50, 99, 100, 301, 999, 1000, 61_000];

/** Numbers that say what happens next, as few as there are: tens of thousands of them are drawn. */
const steps = fc.array(fc.nat(999), { maxLength: 60, size: 'max' });

/** Lets a breaker and its model live through the same random sequences. */
export function agree(runs: number, seed: number): void {
  fc.assert(
    fc.property(settings, steps, (chosen, numbers) => {
      let now = 5;
      const breaker = new CircuitBreaker(chosen, () => now);
      const model = new BreakerModel(chosen);
      const underWay: { ticket: number; began: Begun }[] = [];
      for (const number of numbers) {
        const [kind, pick] = [number % 10, Math.floor(number / 10)];
        if (kind < 4) {
          const [ticket, began] = [breaker.begin(kind === 0), model.begin(now, kind === 0)];
          expect(ticket === undefined).toBe(began === undefined);
          if (ticket !== undefined && began !== undefined) underWay.push({ ticket, began });
        } else if (kind < 8) {
          const [ended] = underWay.splice(pick % Math.max(underWay.length, 1), 1);
          const outcome = OUTCOMES[pick % OUTCOMES.length] as UpstreamOutcome;
          if (!ended) continue;
          breaker.end(ended.ticket, outcome);
          model.end(ended.began, outcome, now);
        } else {
          now += PAUSES[pick % PAUSES.length] as number;
        }
        const [seen, meant] = [breaker.snapshot(), model.snapshot(now)];
        if (JSON.stringify(seen) !== JSON.stringify(meant)) expect(seen).toEqual(meant);
      }
    }),
    { numRuns: runs, seed },
  );
}
