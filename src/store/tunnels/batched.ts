// Groups work into batches. After an outage agents reconnect by the thousand: one statement for many costs little more than one
// for a single item, and a transaction for many is synced to the disk once.

import { Prisma } from '../generated/prisma/client.ts';

/** The most items of one transaction. It must be short, because others wait for its locks. */
const BATCH_MAX = 100;

export interface BatchOptions<Item, Answer> {
  /** Keys that must be unique within a batch. A later item with the same key waits for the next batch. */
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
 * Runs work in batches, one after the other. Items that arrive during a batch are in the next one, in the order of their arrival.
 * A single item does not wait for others. The caller has to limit how many items wait.
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
        // The database rejected one of the items, which must not fail the others, so each is run alone. If the database does not
        // answer, running each alone would not help.
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
      for (const key of one.keys) taken.add(key); // Waiting items also reserve their keys, so that items with one key keep their order.
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
      // Items that arrive in the same iteration of the event loop are all in the first batch.
      setImmediate(() => void runAll());
    });
}
