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

interface Waiting<Item, Answer> {
  item: Item;
  keys: readonly string[];
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Does work in batches, one after the other: what has come while one was worked on is in the next, in the order in which it
 * came. Who comes alone does not wait. Who hands in work bounds how much of it waits.
 */
export function batched<Item, Answer>({ keysOf, work }: BatchOptions<Item, Answer>): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let isWorking = false;

  async function workOnAll(): Promise<void> {
    isWorking = true;
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        await answer(batch);
      } catch (error) {
        // The database has refused one of them: it shall not be the others' undoing. A database that is away is no better
        // for each of them.
        if (batch.length > 1 && error instanceof Prisma.PrismaClientKnownRequestError) await answerEach(batch);
        else for (const { reject } of batch) reject(error);
      }
    }
    isWorking = false;
  }

  async function answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    const answers = await work(batch.map(({ item }) => item));
    batch.forEach(({ resolve }, i) => void resolve(answers[i] as Answer));
  }

  async function answerEach(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    for (const one of batch) await answer([one]).catch(one.reject);
  }

  function takeBatch(): Waiting<Item, Answer>[] {
    const batch: Waiting<Item, Answer>[] = [];
    const later: Waiting<Item, Answer>[] = [];
    const taken = new Set<string>();
    for (const one of waiting) {
      const fits = batch.length < BATCH_MAX && !one.keys.some((key) => taken.has(key));
      for (const key of one.keys) taken.add(key); // Also of those who wait: what comes first goes first.
      (fits ? batch : later).push(one);
    }
    waiting = later;
    return batch;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, keys: keysOf(item), resolve, reject });
      if (isWorking) return;
      isWorking = true;
      // What comes in the same turn of the event loop is in the first batch already.
      setImmediate(() => void workOnAll());
    });
}

/** Many rows as one parameter of a statement, for `json_to_recordset`. A text that UTF-8 cannot hold gets replacement characters, as the driver makes them. */
export function toJsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}
