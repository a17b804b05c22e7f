// The change feed: every write announces its changes here, and subscriptions listen here. Where several gateway processes share
// a PostgreSQL server, the announcements also reach the others: see `PeerRelay`.

import { reportDefect } from '../../protocol/defect.ts';
import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

export type WriteAction = 'CREATED' | 'UPDATED' | 'DELETED';

export interface Change {
  /** The kind of object, named as its query field in GraphQL: `credential`. */
  kind: string;
  action: WriteAction;
  id: string;
  accountId: string;
}

/**
 * Kinds whose changes are hints: of live objects, of deliveries, of the progress of jobs, and of the audit trail. Agents change them by the thousand, so they are sent in batches
 * after their commit. Changes of all other kinds are configuration, which no node may miss.
 */
const HINT_KINDS: ReadonlySet<string> = new Set([
  'tunnel',
  'endpoint',
  'agent',
  'tunnelSession',
  'offlineEndpoint',
  'eventDelivery',
  'tcpPort',
  'auditEntry',
  'bulkJob',
]);

/** Carries changes to other processes. */
export interface ChangeRelay {
  /**
   * The notice of changes that the database itself carries, as a SELECT of a transaction that changes configuration: one that is
   * rolled back is never sent. Undefined where something else carries them.
   */
  noticeOf(changes: Change[]): Prisma.Sql | undefined;
  /**
   * Called within a transaction that changes configuration, at its end, where the database does not carry notices.
   * @returns a function to be called after the commit.
   */
  sendConfiguration(tx: Db, changes: Change[]): Promise<() => void>;
  /** Sends hints soon. Called after their commit. They may be lost: a listener that needs certainty reads the database again. */
  sendHints(changes: Change[]): void;
}

/** Announces a change, to be published once its transaction is committed. */
export type Announce = (change: Change) => void;

/** Ends a transaction. @param notice the SELECT that sends its notice, if there is one: it must be run. */
export type TransactionEnd = (tx: Db, announce: Announce, notice: Prisma.Sql | undefined) => Promise<void>;

const sendNotice: TransactionEnd = async (tx, _announce, notice) => {
  if (notice) await tx.$executeRaw(notice);
};

const isConfiguration = ({ kind }: Change) => !HINT_KINDS.has(kind);

/** Applies changes to state elsewhere in this process. It never rejects: a follower retries its own failures. */
export type Follower = (changes: Change[]) => Promise<void>;

/** How long a write waits for the followers, in milliseconds. */
const FOLLOW_TIMEOUT_MS = 5000;

export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #followers = new Set<Follower>();
  readonly #gapListeners = new Set<() => void>();
  readonly #onDefect: (error: unknown) => void;
  #relay: ChangeRelay | undefined;
  #gaps = 0;

  /** @param onDefect called with what a listener throws, which must not fail the write. */
  constructor(onDefect = reportDefect) {
    this.#onDefect = onDefect;
  }

  connect(relay: ChangeRelay): void {
    this.#relay = relay;
  }

  /** Calls the listener for every change, of every account, until the returned function is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls the follower for every change, of every account and every process, until the returned function is called. A write of
   * this process is not acknowledged before the follower is done with it, or 5 seconds have passed.
   */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Calls the listener when changes of other processes may have been lost, until the returned function is called. */
  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  /** How often changes of other processes may have been lost. */
  get gaps(): number {
    return this.#gaps;
  }

  /** Reports that changes of other processes may have been lost. */
  reportGap(): void {
    this.#gaps++;
    for (const listener of this.#gapListeners) this.#callSafely(listener);
  }

  /** Calls all listeners and followers. The promise resolves when all followers are done. */
  publish(changes: Change[]): Promise<unknown> {
    for (const change of changes) for (const listener of this.#listeners) this.#callSafely(() => listener(change));
    return Promise.allSettled([...this.#followers].map(async (follow) => follow(changes)));
  }

  #callSafely(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#onDefect(error);
    }
  }

  /** Publishes hints at what is in the database already. */
  async publishHints(changes: Change[]): Promise<void> {
    this.#relay?.sendHints(changes);
    await waitAtMost(FOLLOW_TIMEOUT_MS, this.publish(changes));
  }

  /**
   * Runs a transaction. The changes that it announces are published once it is committed, and never if it is rolled back. The
   * promise resolves when the followers are done.
   * @param end writes what comes last, after `work`, with the notice in the same statement. It announces no configuration.
   */
  async transaction<T>(
    prisma: PrismaClient,
    work: (tx: Db, announce: Announce) => Promise<T>,
    end: TransactionEnd = sendNotice,
  ): Promise<T> {
    const pending: Change[] = [];
    const announce: Announce = (change) => void pending.push(change);
    const relay = this.#relay;
    let committed = () => {};
    let noticed = 0;
    const result = await prisma.$transaction(async (tx) => {
      const value = await work(tx, announce);
      const configuration = pending.filter(isConfiguration);
      // Hints come along: they would be a message of their own.
      const notice = configuration.length > 0 ? relay?.noticeOf(pending) : undefined;
      if (notice) noticed = pending.length;
      await end(tx, announce, notice);
      if (relay && !notice && configuration.length > 0) committed = await relay.sendConfiguration(tx, configuration);
      return value;
    });
    if (pending.length === 0) return result;
    committed();
    const hints = pending.slice(noticed).filter((change) => !isConfiguration(change));
    if (hints.length > 0) relay?.sendHints(hints);
    await waitAtMost(FOLLOW_TIMEOUT_MS, this.publish(pending));
    return result;
  }
}

/** How many changes may wait for one slow reader. Beyond it, the oldest are dropped. */
const WAITING_MAX = 1000;

/** Yields the changes that pass a test, as they happen. It ends when `signal` is aborted or the reader returns. */
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
