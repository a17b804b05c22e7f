// Work that comes by the thousand when agents come back after an outage: a statement for many costs little more than one
// for one, and a transaction for many is made safe on the disk once.

import { Prisma } from '../generated/prisma/client.ts';

/** What one transaction does at most: it must be over soon, for those who wait for a row. */
const BATCH_MAX = 100;

export interface BatchOptions<Item, Answer> {
  /** What two items of one batch must not both have. Who comes later waits for the next batch. */
  keysOf(item: Item): readonly string[];
  /** @returns the answers, in the order of the items. */
  work(items: readonly Item[]): Promise<readonly Answer[]>;
}

interface PendingItem<Item, Answer> {
  item: Item;
  keys: readonly string[];
  resolve(runBatch: Answer): void;
  reject(error: unknown): void;
}

/**
 * Does work in batches, one after the other: what has come while one was worked on is in the next, in the order in which it
 * came. Who comes alone does not wait. Who hands in work bounds how much of it waits.
 */
export function batched<Item, Answer>({ keysOf, work }: BatchOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  let pending: PendingItem<Item, Answer>[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (pending.length > 0) {
      const batch = takeBatch();
      try {
        await answer(batch);
      } catch (error) {
        // The database has refused one of them: it shall not be the others' undoing. A database that is away is no better
        // for each of them.
        if (batch.length > 1 && error instanceof Prisma.PrismaClientKnownRequestError) await runEach(batch);
        else for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  async function answer(batch: readonly PendingItem<Item, Answer>[]): Promise<void> {
    const answers = await work(batch.map(({ item }) => item));
    batch.forEach(({ resolve }, i) => void resolve(answers[i] as Answer));
  }

  async function runEach(batch: readonly PendingItem<Item, Answer>[]): Promise<void> {
    for (const one of batch) await answer([one]).catch(one.reject);
  }

  function takeBatch(): PendingItem<Item, Answer>[] {
    const batch: PendingItem<Item, Answer>[] = [];
    const later: PendingItem<Item, Answer>[] = [];
    const taken = new Set<string>();
    for (const one of pending) {
      const fits = batch.length < BATCH_MAX && !one.keys.some((key) => taken.has(key));
      for (const key of one.keys) taken.add(key); // Also of those who wait: what comes first goes first.
      (fits ? batch : later).push(one);
    }
    pending = later;
    return batch;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, keys: keysOf(item), resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // What comes in the same turn of the event loop is in the first batch already.
      setImmediate(() => void runAll());
    });
}

/** Many rows as one parameter of a statement, for `json_to_recordset`. A text that UTF-8 cannot hold gets replacement characters, as the driver makes them. */
export function toJsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}
