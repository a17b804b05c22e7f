// Failed attempts to sign in: after a few of them, each waits longer than the one before. They count for where they come
// from, and for that place together with the e-mail address. For the e-mail address alone nobody ever waits: strangers who
// know it would shut its owner out.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { addressBlock } from '../../tunnel/network/peer.ts';
import { ApiError } from '../errors/errors.ts';

/** So many from one place may fail before anybody there waits. */
const FAILURES_MAX = 5;
/**
 * So many may fail with one e-mail address, from wherever. Who guesses from many places has but one guess at each from then
 * on; the owner has one, too, at any place where nothing failed.
 */
const EMAIL_FAILURES_MAX = 100;
/** Groups of an address of IPv6: whoever has one network often has 2^16 of them. */
const SITE_GROUPS = 3;
const WAIT_MAX_MS = 15 * 60 * 1000;
/** What failed is forgotten when nothing was tried for so long. */
const FORGET_AFTER_MS = 24 * 60 * 60 * 1000;
const KEYS_MAX = 50_000;
const KEY_MAX = 256;

interface Failures {
  count: number;
  /** When the next attempt may be made; milliseconds. */
  nextAttemptAt: number;
}

/** What the failures of an attempt count for. */
interface Counted {
  key: string;
  /** How many may fail before the next has to wait. */
  freeFailures: number;
  /** What a success does with the failures before it. */
  onSuccess: 'uncount' | 'forget';
}

/** A step of an attempt: a failure counts for a key, counts no more, or all failures of the key are forgotten. */
export type AttemptStep =
  | { key: string; step: 'count'; freeFailures: number }
  | { key: string; step: 'uncount' | 'forget' };

export class SignInAttempts {
  readonly #now: () => number;
  readonly #tellOthers: (step: AttemptStep) => void;
  readonly #failures: LRUCache<string, Failures>;

  /** @param now the wall clock, in milliseconds. @param tellOthers tells the other nodes, which count the attempts of all. */
  constructor(now: () => number, tellOthers: (step: AttemptStep) => void = () => {}) {
    this.#now = now;
    this.#tellOthers = tellOthers;
    this.#failures = new LRUCache({ ...boundedTo(KEYS_MAX), ttl: FORGET_AFTER_MS, perf: { now } });
  }

  /**
   * Makes an attempt. It counts as failed while it is under way, so that many at once do not get round the waiting.
   * A success makes the failures with this e-mail address from there forgotten, and those of the client address one fewer:
   * who has an account must not be able to try others’ for ever.
   * @param work gives null when it failed. What it throws is nobody’s failure.
   * @throws {ApiError} when it is too early for another one.
   */
  async run<T>(email: string | null, ip: string, work: () => Promise<T | null>): Promise<T | null> {
    if (email === null) return this.#run([countedOf(ip)], work);
    const key = `email ${email.slice(0, KEY_MAX)}`;
    const isGuessed = (this.#failures.get(key)?.count ?? 0) >= EMAIL_FAILURES_MAX;
    const pair = `${key} from ${addressBlock(ip, SITE_GROUPS)}`;
    const byPair: Counted = { key: pair, freeFailures: isGuessed ? 1 : FAILURES_MAX, onSuccess: 'forget' };
    return this.#run(
      [countedOf(ip), byPair, { key, freeFailures: Number.MAX_SAFE_INTEGER, onSuccess: 'uncount' }],
      work,
    );
  }

  /**
   * Tries a code of a second factor. Failures count for the user, too, wherever they come from: who tries codes has proved
   * something else before, and a code is so short that many places together could guess it.
   * @param after what was proved: a user whose password somebody else has can still come in with a link.
   * @param work gives null when it failed.
   * @throws {ApiError} when it is too early for another one.
   */
  runCode<T>({ userId, after }: { userId: string; after: string }, ip: string, work: () => Promise<T | null>) {
    const byUser: Counted = { key: `code ${userId} ${after}`, freeFailures: FAILURES_MAX, onSuccess: 'forget' };
    return this.#run([countedOf(ip), byUser], work);
  }

  async #run<T>(counted: readonly Counted[], work: () => Promise<T | null>): Promise<T | null> {
    const keys = counted.map(({ key }) => key);
    const wait = Math.max(...keys.map((key) => (this.#failures.get(key)?.nextAttemptAt ?? 0) - this.#now()));
    if (wait > 0) throw new ApiError('tooManyAttempts', { seconds: Math.ceil(wait / 1000) });

    for (const { key, freeFailures } of counted) this.#take({ key, step: 'count', freeFailures });
    try {
      const result = await work();
      if (result === null) return null;
      for (const { key, onSuccess } of counted) this.#take({ key, step: onSuccess });
      return result;
    } catch (error) {
      for (const key of keys) this.#take({ key, step: 'uncount' });
      throw error;
    }
  }

  /** Takes a step of an attempt at another node. */
  follow(step: AttemptStep): void {
    const { key } = step;
    if (step.step === 'count') this.#count(key, step.freeFailures);
    else if (step.step === 'uncount') this.#uncount(key);
    else this.#failures.delete(key);
  }

  #take(step: AttemptStep): void {
    this.follow(step);
    this.#tellOthers(step);
  }

  /** @param freeFailures how many may fail before the next has to wait. */
  #count(key: string, freeFailures: number): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const wait = count < freeFailures ? 0 : Math.min(WAIT_MAX_MS, 1000 * 2 ** (count - freeFailures));
    this.#failures.set(key, { count, nextAttemptAt: wait === 0 ? 0 : this.#now() + wait });
  }

  #uncount(key: string): void {
    const { count = 1 } = this.#failures.get(key) ?? {};
    if (count > 1) this.#failures.set(key, { count: count - 1, nextAttemptAt: 0 });
    else this.#failures.delete(key);
  }
}

/** An attempt from an address, which has not to do with its other attempts: one success makes up for one failure. */
function countedOf(ip: string): Counted {
  return { key: `ip ${addressBlock(ip)}`, freeFailures: FAILURES_MAX, onSuccess: 'uncount' };
}
