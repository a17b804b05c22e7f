// What changed, told in one place: every write announces here, subscriptions listen here, and where several gateway
// processes share a PostgreSQL server the announcements reach the others too (LISTEN/NOTIFY).

import { reportDefect } from '../../protocol/defect.ts';
import type { Db, PrismaClient } from '../database/client.ts';

export type WriteAction = 'CREATED' | 'UPDATED' | 'DELETED';

export interface Change {
  /** The kind of object, as its look-up in GraphQL is called: `credential`. */
  kind: string;
  action: WriteAction;
  id: string;
  accountId: string;
}

/** Carries changes to other processes. It is a hint: a change may be lost, and whoever listens can always ask again. */
export interface ChangeRelay {
  /** Sends within the transaction, so that what is rolled back is never told. */
  send(tx: Db, changes: Change[]): Promise<void>;
}

/** Makes what changed so elsewhere in this process. It never rejects: what fails is its own to do again. */
export type Follower = (changes: Change[]) => Promise<void>;

/** How long a write waits for its followers, in milliseconds. */
const FOLLOW_MAX_MS = 5000;

export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #followers = new Set<Follower>();
  readonly #gapListeners = new Set<() => void>();
  readonly #onDefect: (error: unknown) => void;
  #relay: ChangeRelay | undefined;

  /** @param onDefect told what a listener has thrown: whoever writes has nothing to do with it. */
  constructor(onDefect = reportDefect) {
    this.#onDefect = onDefect;
  }

  connect(relay: ChangeRelay): void {
    this.#relay = relay;
  }

  /** Hears of every change, of every account, until the returned function is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Hears of every change, of every account, until the returned function is called. What is written in this process is
   * not acknowledged before the follower is done with it, or 5 s are over. Of changes of other processes it hears too.
   */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Hears when changes of other processes may have been missed, until the returned function is called. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** Changes of other processes may have been missed. */
  reportGap(): void {
    for (const listener of this.#gapListeners) this.#call(listener);
  }

  /** Tells all who listen. @returns what settles when all who follow are done. */
  publish(changes: Change[]): Promise<unknown> {
    for (const change of changes) for (const listener of this.#listeners) this.#call(() => listener(change));
    return Promise.allSettled([...this.#followers].map(async (follow) => follow(changes)));
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#onDefect(error);
    }
  }

  /** Tells of what needs no transaction: hints at what everybody can see who asks. */
  async publishHints(prisma: PrismaClient, changes: Change[]): Promise<void> {
    await this.#relay?.send(prisma, changes);
    await within(FOLLOW_MAX_MS, this.publish(changes));
  }

  /**
   * Runs a transaction; what it announces is published once it is committed, and never if it is not. Done when those who
   * follow are.
   */
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
    if (pending.length > 0) await within(FOLLOW_MAX_MS, this.publish(pending));
    return result;
  }
}

/** Waits for a promise, but not for longer than so many milliseconds. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
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
