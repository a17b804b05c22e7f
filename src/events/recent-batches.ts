// The batches that were stored last, as they were before they were packed. The process that stores traffic events mostly delivers them
// a moment later, and then need not read and unpack what it has just packed and written.

import { type Schedule, scheduleByTimer } from '../runtime/schedule.ts';

/** How many batches are kept, those that are being stored or sent included: half as many again as one destination stores at once. */
const BATCHES_MAX = 24;
/** After how long without another batch all are forgotten, in milliseconds: another node delivers them, or nobody. */
const FORGET_MS = 10_000;

/** Lines in a buffer that can be used again. */
export interface BorrowedLines {
  readonly lines: Buffer;
  /** Gives the buffer back. Nothing may be read of it afterwards. */
  release(): void;
}

export class RecentBatches {
  readonly #schedule: Schedule;
  /** By destination and id. */
  readonly #stored = new Map<string, Map<string, RecentBatch>>();
  readonly #all = new Set<RecentBatch>();
  #cancelForget: (() => void) | undefined;

  constructor(schedule: Schedule = scheduleByTimer) {
    this.#schedule = schedule;
  }

  /**
   * Keeps the lines of a batch that is about to be stored. The oldest stored batch is forgotten for it when there is no room: its
   * target is slow. @returns undefined when all are still being stored, or sent.
   */
  keep(borrowed: BorrowedLines): RecentBatch | undefined {
    if (this.#all.size >= BATCHES_MAX) this.#forgetOldest();
    if (this.#all.size >= BATCHES_MAX) return undefined;
    const batch = new RecentBatch(borrowed, () => this.#all.delete(batch));
    this.#all.add(batch);
    return batch;
  }

  /** The batch is stored: whoever reads it from now on may take it from here. */
  stored(destinationId: string, id: string, batch: RecentBatch): void {
    const own = this.#stored.get(destinationId) ?? new Map<string, RecentBatch>();
    this.#stored.set(destinationId, own.set(id, batch));
    this.#cancelForget?.();
    this.#cancelForget = this.#schedule(FORGET_MS, () => this.clear());
  }

  /** The stored batches of a destination, by id. */
  of(destinationId: string): ReadonlyMap<string, RecentBatch> {
    return new Map(this.#stored.get(destinationId));
  }

  /** A batch was read, and belongs to its reader. */
  taken(destinationId: string, id: string): void {
    const own = this.#stored.get(destinationId);
    own?.delete(id);
    if (own?.size === 0) this.#stored.delete(destinationId);
  }

  #forgetOldest(): void {
    for (const [destinationId, own] of this.#stored)
      for (const [id, batch] of own) {
        this.taken(destinationId, id);
        batch.forget();
        return;
      }
  }

  clear(): void {
    this.#cancelForget?.();
    this.#cancelForget = undefined;
    for (const own of this.#stored.values()) for (const batch of own.values()) batch.forget();
    this.#stored.clear();
  }
}

/** Of the two ways in which it ends, the first may be used only by someone who knows that nobody reads the lines any more. */
export class RecentBatch {
  readonly lines: Buffer;
  readonly #borrowed: BorrowedLines;
  readonly #onEnd: () => void;

  constructor(borrowed: BorrowedLines, onEnd: () => void) {
    this.lines = borrowed.lines;
    this.#borrowed = borrowed;
    this.#onEnd = onEnd;
  }

  /** Gives the buffer back for another batch. */
  release(): void {
    this.#onEnd();
    this.#borrowed.release();
  }

  /** Leaves the buffer to the garbage collector: a request that was given up may still read it. */
  forget(): void {
    this.#onEnd();
  }
}
