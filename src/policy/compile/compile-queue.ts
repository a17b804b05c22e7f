// Policies are compiled in turn: a piece of one account's, then of the next one's, and between two pieces whoever else
// waits for the loop. However many policies an account sends, it has a share of the time.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { IncrementalCompilation } from '../cel/compilation.ts';

/** An account may have a part of the time in so many, and as much at once as comes to so many milliseconds of it. */
const SHARE = 4;
const BURST_MS = 2_000;
/** Policies of one account that wait to be compiled. */
const WAITING_MAX = 2_000;
/** Characters of policies that are kept compiled, for agents that come back: of one account, and of all. Each takes 64 bytes. */
const KEPT_MAX = 64 * 1024;
const KEPT_OF_ALL = 512 * 1024;

/** Too many policies of the account are waiting. */
export class CompileQueueFull extends Error {}

interface Account {
  waiting: number;
  /** Settles when those before it are compiled. */
  last: Promise<unknown>;
  /** When it will have been idle long enough for all that was compiled for it. */
  paidAt: number;
}

interface Kept {
  digest: string;
  length: number;
  compilation: IncrementalCompilation;
}

const asleep = (ms: number) => sleep(ms, undefined, { ref: false });

export class CompileQueue {
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  /** Those that have something to compile: what rests does not hold up what does not. */
  readonly #accounts = new Map<string, Account>();
  /** The newest first. */
  readonly #kept = new LRUCache<string, readonly Kept[]>({
    maxSize: KEPT_OF_ALL,
    sizeCalculation: (kept) => kept.reduce((size, { length }) => size + length, 1),
  });
  #turn: Promise<unknown> = Promise.resolve();

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(now: () => number = () => performance.now(), pause: (ms: number) => Promise<void> = asleep) {
    this.#now = now;
    this.#pause = pause;
  }

  /**
   * Compiles what an account has sent, after what it sent before.
   * @param text all that is compiled: what has the same text is compiled once, as long as it is kept.
   * @param work compiles it. It is begun anew after each piece, so it must do nothing else.
   * @param isLimited whether it counts for the account's share; not where something else is held up by it.
   * @throws {CompileQueueFull} and what `work` throws.
   */
  async compile<T>(accountId: string, text: string, work: () => T, isLimited = true): Promise<T> {
    const key = `${accountId} ${isLimited}`;
    const account = this.#accounts.get(key) ?? { waiting: 0, last: Promise.resolve(), paidAt: 0 };
    if (account.waiting >= WAITING_MAX)
      throw new CompileQueueFull('too many policies of this account are being compiled');
    this.#accounts.set(key, account);
    account.waiting++;
    const compiled = account.last.then(() => this.#inPieces(account, this.#keptOf(accountId, text), work, isLimited));
    account.last = compiled.catch(() => {}).finally(() => this.#left(key, account));
    return compiled;
  }

  async #inPieces<T>(
    account: Account,
    compilation: IncrementalCompilation,
    work: () => T,
    isLimited: boolean,
  ): Promise<T> {
    for (;;) {
      const rest = account.paidAt - this.#now() - BURST_MS;
      if (isLimited && rest > 0) await this.#pause(rest);
      const result = await this.#inTurn(() => {
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

  /** One piece for each turn of the loop, whoever it is for. */
  async #inTurn<T>(piece: () => T): Promise<T> {
    const mine = this.#turn.then(() => nextTurn()).then(piece);
    this.#turn = mine.catch(() => {});
    return mine;
  }

  #left(key: string, account: Account): void {
    if (--account.waiting > 0) return;
    // Who comes back before has no new share.
    const forget = () => void (account.waiting === 0 && this.#accounts.delete(key));
    setTimeout(forget, Math.max(0, account.paidAt - this.#now())).unref();
  }

  #keptOf(accountId: string, text: string): IncrementalCompilation {
    const digest = createHash('sha256').update(text).digest('base64');
    const kept = this.#kept.get(accountId) ?? [];
    const found = kept.find((one) => one.digest === digest);
    const newest = found ?? { digest, length: text.length, compilation: new IncrementalCompilation(this.#now) };
    let length = 0;
    const fits = [newest, ...kept.filter((one) => one !== found)].filter((one) => {
      length += one.length;
      return length <= KEPT_MAX;
    });
    this.#kept.set(accountId, fits);
    return newest.compilation;
  }
}
