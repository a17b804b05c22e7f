// What changed, told in one place: every write announces here, subscriptions listen here, and where several gateway
// processes share a PostgreSQL server the announcements reach the others too (LISTEN/NOTIFY).

import type { Db, PrismaClient } from './client.ts';

export type Action = 'CREATED' | 'UPDATED' | 'DELETED';

export interface Change {
  /** The kind of object, as its look-up in GraphQL is called: `credential`. */
  kind: string;
  action: Action;
  id: string;
  accountId: string;
}

/** Carries changes to other processes. It is a hint: a change may be lost, and whoever listens can always ask again. */
export interface Relay {
  /** Sends within the transaction, so that what is rolled back is never told. */
  send(tx: Db, changes: Change[]): Promise<void>;
}

export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #gapListeners = new Set<() => void>();
  #relay: Relay | undefined;

  connect(relay: Relay): void {
    this.#relay = relay;
  }

  /** Hears of every change, of every account, until the returned function is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hears when changes of other processes may have been missed, until the returned function is called. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** Changes of other processes may have been missed. */
  gap(): void {
    for (const listener of this.#gapListeners) listener();
  }

  publish(changes: Change[]): void {
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }

  /** Runs a transaction; what it announces is published once it is committed, and never if it is not. */
  async transaction<T>(
    prisma: PrismaClient,
    work: (tx: Db, announce: (change: Change) => void) => Promise<T>,
  ): Promise<T> {
    const pending: Change[] = [];
    const result = await prisma.$transaction(async (tx) => {
      const value = await work(tx, (change) => pending.push(change));
      if (pending.length > 0) await this.#relay?.send(tx, pending);
      return value;
    });
    this.publish(pending);
    return result;
  }
}

/** How many changes may wait for one slow reader; the oldest are dropped beyond it. */
const WAITING_MAX = 1000;

/** The changes that pass a test, as they happen. Ends when `signal` is aborted or the reader returns. */
export async function* watch(
  changes: Changes,
  test: (change: Change) => boolean,
  signal: AbortSignal,
): AsyncGenerator<Change> {
  const waiting: Change[] = [];
  let wake = () => {};
  const stop = changes.listen((change) => {
    if (!test(change)) return;
    if (waiting.push(change) > WAITING_MAX) waiting.shift();
    wake();
  });
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      if (next) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    stop();
    signal.removeEventListener('abort', aborted);
  }
}
