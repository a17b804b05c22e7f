// Compiles policies of all accounts in turns (round-robin), a step of each at a time, and yields to the event loop after
// each step. An account that sends many policies therefore gets only its share of the time.

import { createHash } from 'node:crypto';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { IncrementalCompilation } from '../cel/compilation.ts';

/** The limit of one account: one part of `SHARE` of the time, with bursts of `BURST_MS`. */
const SHARE = 4;
const BURST_MS = 2_000;
/** The most policies of one account that wait. */
const WAITING_MAX = 2_000;
/** The most characters of cached policies, for agents that reconnect: of one account, and of all. Each takes 64 bytes. */
const CACHED_PER_ACCOUNT_MAX = 64 * 1024;
const CACHED_MAX = 512 * 1024;

/** Too many policies of the account wait. */
export class CompileQueueFull extends Error {}

interface AccountQueue {
  waiting: number;
  /** Settles when the last policy in the queue is compiled. */
  last: Promise<unknown>;
  /** When the account will have used up no more than its share. */
  paidAt: number;
}

interface CachedCompilation {
  digest: string;
  length: number;
  compilation: IncrementalCompilation;
}

const unreferencedSleep = (ms: number) => sleep(ms, undefined, { ref: false });

/** The queue of all accounts. */
export class CompileQueue {
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  /** The queues of accounts, with and without a limit, by key. A paused queue does not delay the others. */
  readonly #accounts = new Map<string, AccountQueue>();
  /** The cached compilations of each account, the newest first. */
  readonly #cached = new LRUCache<string, readonly CachedCompilation[]>({
    maxSize: CACHED_MAX,
    sizeCalculation: (kept) => kept.reduce((size, { length }) => size + length, 1),
  });
  #turn: Promise<unknown> = Promise.resolve();

  /** @param now a monotonic clock, in milliseconds. */
  constructor(now: () => number = () => performance.now(), pause: (ms: number) => Promise<void> = unreferencedSleep) {
    this.#now = now;
    this.#pause = pause;
  }

  /**
   * Compiles a policy of an account, after its earlier ones.
   * @param text all policies that are compiled. A text is compiled once, as long as the cache has it.
   * @param work compiles them. It is restarted after each step, so it must have no side effects.
   * @param isLimited whether the time counts against the account's share; false when other work waits for it.
   * @throws {CompileQueueFull} when too many policies wait. @throws {Error} the error of `work`.
   */
  async compile<T>(accountId: string, text: string, work: () => T, isLimited = true): Promise<T> {
    const key = `${accountId} ${isLimited}`;
    const account = this.#accounts.get(key) ?? { waiting: 0, last: Promise.resolve(), paidAt: 0 };
    if (account.waiting >= WAITING_MAX)
      throw new CompileQueueFull('too many policies of this account are being compiled');
    this.#accounts.set(key, account);
    account.waiting++;
    const compiled = account.last.then(() =>
      this.#compileInSteps(account, this.#cachedCompilation(accountId, text), work, isLimited),
    );
    account.last = compiled.catch(() => {}).finally(() => this.#onDone(key, account));
    return compiled;
  }

  async #compileInSteps<T>(
    account: AccountQueue,
    compilation: IncrementalCompilation,
    work: () => T,
    isLimited: boolean,
  ): Promise<T> {
    for (;;) {
      const waitMs = account.paidAt - this.#now() - BURST_MS;
      if (isLimited && waitMs > 0) await this.#pause(waitMs);
      const result = await this.#runStep(() => {
        const start = this.#now();
        try {
          return compilation.step(work);
        } finally {
          account.paidAt = Math.max(account.paidAt, start) + SHARE * (this.#now() - start);
        }
      });
      if (result) return result.done;
    }
  }

  /** Runs one step for each iteration of the event loop. */
  async #runStep<T>(step: () => T): Promise<T> {
    const result = this.#turn.then(() => nextIteration()).then(step);
    this.#turn = result.catch(() => {});
    return result;
  }

  #onDone(key: string, account: AccountQueue): void {
    if (--account.waiting > 0) return;
    // The queue is deleted only when its share is refilled, so that a new one does not start with a full share.
    const remove = () => void (account.waiting === 0 && this.#accounts.delete(key));
    setTimeout(remove, Math.max(0, account.paidAt - this.#now())).unref();
  }

  #cachedCompilation(accountId: string, text: string): IncrementalCompilation {
    const digest = createHash('sha256').update(text).digest('base64');
    const cached = this.#cached.get(accountId) ?? [];
    const found = cached.find((one) => one.digest === digest);
    const newest = found ?? { digest, length: text.length, compilation: new IncrementalCompilation(this.#now) };
    let length = 0;
    const retained = [newest, ...cached.filter((one) => one !== found)].filter((one) => {
      length += one.length;
      return length <= CACHED_PER_ACCOUNT_MAX;
    });
    this.#cached.set(accountId, retained);
    return newest.compilation;
  }
}
