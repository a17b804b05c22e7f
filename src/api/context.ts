// What a resolver is given: who is calling, the database, and the one way to write to it.

import type { Action, Changes } from '../store/changes.ts';
import type { Db, PrismaClient } from '../store/client.ts';
import type { Keys } from '../store/keys.ts';
import type { SessionCommands } from '../tunnel/session-commands.ts';
import { ApiError } from './errors.ts';
import type { ApiSettings } from './settings.ts';
import type { TrafficState } from './traffic.ts';
import { translateWriteError } from './write-errors.ts';

/** What the API needs of the rest of the gateway. */
export interface App {
  config: ApiSettings;
  prisma: PrismaClient;
  keys: Keys;
  changes: Changes;
  /** Tells the agents of sessions what to do. */
  sessions: SessionCommands;
  /** What the public side of this node knows of its traffic. */
  traffic: TrafficState;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Aborted when the gateway is stopping: subscriptions end. */
  ending: AbortSignal;
}

export interface Caller {
  accountId: string;
  /** The user or bot user who holds the key. */
  ownerId: string;
  keyId: string;
  isAdmin: boolean;
}

/** Tells of a change, once its transaction is committed. */
export type Announce = Parameters<Parameters<Changes['transaction']>[1]>[1];

/** One operation's view of the gateway. It lives as long as the request. */
export class Context {
  readonly app: App;
  readonly operationId: string;
  /** What `uri`s begin with: no slash at its end. */
  readonly baseUrl: string;
  readonly #caller: Caller | ApiError;
  readonly #transaction: { tx: Db; announce: Announce } | undefined;

  constructor(
    app: App,
    operationId: string,
    baseUrl: string,
    caller: Caller | ApiError,
    transaction?: { tx: Db; announce: Announce },
  ) {
    this.app = app;
    this.operationId = operationId;
    this.baseUrl = baseUrl;
    this.#caller = caller;
    this.#transaction = transaction;
  }

  /** Who is calling. @throws {ApiError} why nobody is, when no valid API key came with the request. */
  get caller(): Caller {
    if (this.#caller instanceof ApiError) throw this.#caller;
    return this.#caller;
  }

  get isKnown(): boolean {
    return !(this.#caller instanceof ApiError);
  }

  /** The database, or the transaction that the whole operation runs in. */
  get db(): Db {
    return this.#transaction?.tx ?? this.app.prisma;
  }

  get accountId(): string {
    return this.caller.accountId;
  }

  uri(path: string): string {
    return this.baseUrl + path;
  }

  /**
   * Writes: runs `work` in a transaction and announces what it returns as changed. Every change of every resource
   * passes here.
   * @throws {ApiError} in place of the database's refusals (not found, in use, changed meanwhile).
   */
  async write<T extends { id: string }>(
    kind: string,
    action: Action,
    work: (db: Db, announce: Announce) => Promise<T>,
  ): Promise<T> {
    const { accountId } = this.caller;
    const run = async (tx: Db, announce: Announce) => {
      const row = await work(tx, announce).catch((error) => {
        throw translateWriteError(error, kind, action);
      });
      announce({ kind, action, id: row.id, accountId });
      return row;
    };
    if (this.#transaction) return run(this.#transaction.tx, this.#transaction.announce);
    return this.app.changes.transaction(this.app.prisma, run);
  }

  /** Runs `work` with a context whose every read and write is in one transaction. */
  inTransaction<T>(work: (context: Context) => Promise<T>): Promise<T> {
    return this.app.changes.transaction(this.app.prisma, (tx, announce) =>
      work(new Context(this.app, this.operationId, this.baseUrl, this.#caller, { tx, announce })),
    );
  }
}
