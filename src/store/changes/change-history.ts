// The changes of the last minutes, so that a stream which was cut off can go on where it was: at this process, or at another on the
// same database, which has heard the same changes a moment earlier or later.

import { randomBytes } from 'node:crypto';
import type { Change, Changes } from './changes.ts';

/** How long changes are kept; milliseconds. */
const KEPT_MS = 5 * 60_000;
/** How many are kept, of all accounts; some 100 bytes each. */
const KEPT_MAX = 20_000;
/**
 * How far apart two processes may hear of a change, by their own clocks; milliseconds. Who comes from another process is told again
 * what happened in so long before.
 */
const APART_MS = 10_000;
/** Process, milliseconds of its clock, and how many changes of the account there were in that millisecond. */
const POSITION = /^([0-9a-f]{8})-(\d{1,15})-(\d{1,9})$/;

interface KeptChange {
  change: Change;
  at: number;
  /** The how manieth of its account it was in its millisecond; from 1. */
  nth: number;
}

export class ChangeHistory {
  readonly #process = randomBytes(4).toString('hex');
  readonly #now: () => number;
  #kept: KeptChange[] = [];
  /** Of those before it, some are not kept any more; they are taken away many at once. */
  #first = 0;
  /** The last millisecond that a change or a position stands for: the clock may be set back. */
  #at: number;
  /** By account, how many changes there were in that millisecond. */
  readonly #counts = new Map<string, number>();
  /** Of what came until then, something may not have been heard, or is not kept. */
  #incompleteUntil: number;

  /**
   * Listens from now on. It has to be the first that does: others that hear of a change ask for the position behind it.
   * @param now the wall clock, in milliseconds.
   */
  constructor(changes: Pick<Changes, 'listen' | 'onGap'>, now: () => number) {
    this.#now = now;
    this.#at = now();
    this.#incompleteUntil = this.#at;
    changes.listen((change) => this.#keep(change));
    changes.onGap(() => {
      this.#advance();
      this.#incompleteUntil = this.#at;
    });
  }

  /** Where an account's changes are now: behind all that were heard so far. */
  position(accountId: string): string {
    this.#advance();
    return `${this.#process}-${this.#at}-${this.#counts.get(accountId) ?? 0}`;
  }

  /**
   * The changes of an account behind a position, in their order. Of another process's position, some may have been told already.
   * @returns undefined when some may be missing, or it is no position.
   */
  since(accountId: string, position: string): Change[] | undefined {
    const [, process, milliseconds, count] = POSITION.exec(position) ?? [];
    if (process === undefined) return undefined;
    this.#advance();
    const isOurs = process === this.#process;
    const at = Number(milliseconds) - (isOurs ? 0 : APART_MS);
    if (at <= this.#incompleteUntil || at > this.#at) return undefined;
    const isBehind = (kept: KeptChange) => kept.at > at || (kept.at === at && (!isOurs || kept.nth > Number(count)));
    return this.#kept
      .slice(this.#first)
      .flatMap((kept) => (kept.change.accountId === accountId && isBehind(kept) ? [kept.change] : []));
  }

  #keep(change: Change): void {
    this.#advance();
    const { accountId } = change;
    const nth = (this.#counts.get(accountId) ?? 0) + 1;
    this.#counts.set(accountId, nth);
    this.#kept.push({ change, at: this.#at, nth });
  }

  /** Goes with the clock, and forgets what is too old or too much. */
  #advance(): void {
    const now = this.#now();
    if (now > this.#at) {
      this.#at = now;
      this.#counts.clear();
    }
    for (let oldest = this.#kept[this.#first]; oldest; oldest = this.#kept[this.#first]) {
      if (this.#kept.length - this.#first <= KEPT_MAX && this.#at - oldest.at <= KEPT_MS) break;
      this.#incompleteUntil = Math.max(this.#incompleteUntil, oldest.at);
      this.#first++;
    }
    if (this.#first * 2 <= this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#first);
    this.#first = 0;
  }
}
