// What a resolver is given: who is calling, the database, and the one way to write to it.

import type { ModuleEnvironment } from '../http/module.ts';
import { hostsOfPolicies } from '../net/reachable-hosts.ts';
import type { CompileQueue } from '../policy/compile/compile-queue.ts';
import type { AuditAction } from '../store/audit/audit-actions.ts';
import type { ChangeHistory } from '../store/changes/change-history.ts';
import type { Announce, Changes, WriteAction } from '../store/changes/changes.ts';
import type { Db, PrismaClient } from '../store/database/client.ts';
import { Recorded } from '../store/events/recorded.ts';
import type { Keys } from '../store/keys/keys.ts';
import type { SessionCommands } from '../tunnel/control/session-commands.ts';
import type { AuditTrailOf, CascadeOf, RecordedAct, WrittenRow } from './audit-contract.ts';
import type { Caller } from './caller.ts';
import type {
  AddressRestrictions,
  AgentEndpointInfo,
  AlertTester,
  ApiClient,
  ApiKeyUsage,
  DestinationTester,
  HeavyOperationQueue,
  NodeCaptures,
  NodeDirectory,
  RequestLogReader,
  SignInService,
  TrafficState,
} from './dependencies.ts';
import { errorTable } from './errors/error-table.ts';
import { ApiError } from './errors/errors.ts';
import { IssuerChecks } from './issuer-checks.ts';
import type { AuditedResource } from './resource.ts';
import type { ApiSettings } from './settings.ts';
import { translateConflict, translateWriteError } from './write-errors.ts';

export type { Announce, Caller, RecordedAct };

/** What the API needs of the rest of the gateway: also what modules need, for trial runs of policies. */
export interface ApiApp extends Pick<ModuleEnvironment, 'signingKey' | 'sendOutbound' | 'locate'> {
  config: ApiSettings;
  prisma: PrismaClient;
  keys: Keys;
  changes: Changes;
  /** The changes of the last minutes. */
  changeHistory: ChangeHistory;
  /** Tells the agents of sessions what to do. */
  sessions: SessionCommands;
  /** Tries alert channels. */
  alertTester: AlertTester;
  /** Tries event destinations. */
  destinationTester: DestinationTester;
  /** What the public side of this node knows of its traffic. */
  traffic: TrafficState;
  /** Where traffic policies are compiled. */
  policies: CompileQueue;
  /** Where agents connect to this node. */
  agentEndpoint(): AgentEndpointInfo;
  /** The other nodes, and this one. */
  nodes: NodeDirectory;
  /** The requests of this node that people look at one by one. */
  nodeCaptures(): NodeCaptures;
  /** The last requests of every endpoint. */
  requestLog: RequestLogReader;
  /** Tells of what is written. */
  audit: AuditTrail;
  /** Notes which API keys are used. */
  apiKeyUsage: ApiKeyUsage;
  /** From which addresses accounts may be used. */
  restrictions: AddressRestrictions;
  /** Where users sign in. */
  signIn: SignInService;
  /** Runs operations that cost much. */
  heavyOperations: HeavyOperationQueue;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Aborted when the gateway is stopping: subscriptions end. */
  shutdownSignal: AbortSignal;
}

/** What is deleted along with an object, and told of before it. */
export type Cascade = CascadeOf<Context>;
/** Events of what is written, and entries of who did what. */
export type AuditTrail = AuditTrailOf<Context>;

/** Why nobody is calling: nobody has said who calls, or a browser session is over. */
const STRANGERS: ReadonlySet<unknown> = new Set([errorTable.noApiKey, errorTable.sessionOver]);

/** What the contexts of one transaction share. */
interface Transaction {
  tx: Db;
  announce: Announce;
  /** What is written at its end. */
  recorded: Recorded;
  issuers: IssuerChecks;
}

/** One operation's view of the gateway. It lives as long as the request. */
export class Context {
  readonly app: ApiApp;
  readonly operationId: string;
  /** What `uri`s begin with: no slash at its end. */
  readonly baseUrl: string;
  /** The other end of the request. */
  readonly client: ApiClient;
  /** What is known of issuers that policies name: asked for in a transaction of this context, read before the next one. */
  readonly issuers: IssuerChecks;
  readonly #caller: Caller | ApiError;
  readonly #transaction: Transaction | undefined;

  constructor(
    app: ApiApp,
    operationId: string,
    baseUrl: string,
    caller: Caller | ApiError,
    client: ApiClient,
    transaction?: Transaction,
  ) {
    this.app = app;
    this.operationId = operationId;
    this.baseUrl = baseUrl;
    this.#caller = caller;
    this.client = client;
    this.#transaction = transaction;
    this.issuers = transaction?.issuers ?? new IssuerChecks(() => hostsOfPolicies(app.config));
  }

  /** Who is calling. @throws {ApiError} why nobody is, when neither a valid API key came nor a browser session. */
  get caller(): Caller {
    if (this.#caller instanceof ApiError) throw this.#caller;
    return this.#caller;
  }

  /** Who is calling; null for a stranger. */
  get authenticatedCaller(): Caller | null {
    return this.#caller instanceof ApiError ? null : this.#caller;
  }

  /** Whether an API key came that is not accepted: its sender is no stranger, but mistaken. */
  get hasRefusedKey(): boolean {
    return this.#caller instanceof ApiError && !STRANGERS.has(this.#caller.row);
  }

  /** The database, or the transaction that the whole operation runs in. */
  get db(): Db {
    return this.#transaction?.tx ?? this.app.prisma;
  }

  /** Events and entries of the audit trail, which are written at the end of the transaction. @throws {Error} outside of one. */
  get recorded(): Recorded {
    if (!this.#transaction) throw new Error('what is recorded is written with a transaction');
    return this.#transaction.recorded;
  }

  get accountId(): string {
    return this.caller.accountId;
  }

  uri(path: string): string {
    return this.baseUrl + path;
  }

  /**
   * Creates: runs `work` in a transaction, announces what it returns, tells of it in events and keeps who did it.
   * Every write of every resource passes here, or through `update` or `remove`.
   * @param written the row as it is in the database when `work` is done, where that is known: it is not read again then.
   * @throws {ApiError} in place of the database's refusals (not found, in use, changed meanwhile).
   */
  create<T extends { id: string }>(
    resource: AuditedResource,
    work: (db: Db, announce: Announce) => Promise<T>,
    written?: () => WrittenRow | undefined,
  ): Promise<T> {
    return this.#transact(async (context, announce) => {
      const row = await this.#write(context, announce, { resource, action: 'CREATED' }, work);
      const { audit } = this.app;
      await audit.recordCreation(context, announce, { resource, id: row.id, row: written?.() }).catch((error) => {
        throw translateConflict(error);
      });
      return row;
    });
  }

  /**
   * Changes: runs `work` like `create` does. It has to fail when there is no such object. What changed is kept, if anything.
   * @param action what the audit trail calls it, if it is no mere change.
   * @param written as of `create`.
   * @throws {ApiError} likewise.
   */
  update<T extends { id: string }>(
    resource: AuditedResource,
    id: string,
    work: (db: Db, announce: Announce) => Promise<T>,
    { action, written }: { action?: AuditAction | undefined; written?(): WrittenRow | undefined } = {},
  ): Promise<T> {
    return this.#transact(async (context, announce) => {
      const recordUpdate = await this.app.audit.prepareUpdate(context, announce, { resource, id, action });
      const row = await this.#write(context, announce, { resource, action: 'UPDATED' }, work);
      await recordUpdate(written?.()).catch((error) => {
        throw translateConflict(error);
      });
      return row;
    });
  }

  /**
   * Deletes: runs `work` like `create` does. It has to fail when there is no such object, which is told of as it was.
   * @param cascade what goes with it.
   * @throws {ApiError} likewise.
   */
  remove(
    resource: AuditedResource,
    id: string,
    work: (db: Db, announce: Announce) => Promise<unknown>,
    cascade?: Cascade,
  ): Promise<void> {
    return this.#transact(async (context, announce) => {
      const recordDeletion = await this.app.audit.prepareDeletion(context, announce, { resource, id, cascade });
      await work(context.db, announce).catch((error) => {
        throw translateWriteError(error, resource, 'DELETED');
      });
      announce({ kind: resource.kind, action: 'DELETED', id, accountId: context.accountId });
      recordDeletion();
    });
  }

  async #write<T extends { id: string }>(
    { db, accountId }: Context,
    announce: Announce,
    { resource, action }: { resource: AuditedResource; action: WriteAction },
    work: (db: Db, announce: Announce) => Promise<T>,
  ): Promise<T> {
    const row = await work(db, announce).catch((error) => {
      throw translateWriteError(error, resource, action);
    });
    announce({ kind: resource.kind, action, id: row.id, accountId });
    return row;
  }

  /**
   * Does what is no change of a resource, so that no event tells of it, and keeps who did it, in one transaction.
   * @param work gives with its result what was done; nothing is kept where it gives nothing.
   */
  act<T>(work: (db: Db, announce: Announce) => Promise<{ result: T; acts: RecordedAct[] }>): Promise<T> {
    return this.#transact(async (context, announce) => {
      const { result, acts } = await work(context.db, announce);
      this.app.audit.record(context, announce, ...acts);
      return result;
    });
  }

  /** Keeps what was done that is no write at all. */
  record(...acts: RecordedAct[]): Promise<void> {
    return this.act(async () => ({ result: undefined, acts }));
  }

  /** Writes what is no change of a resource, so that no event tells of it and nobody is kept as who did it. */
  withoutAudit<T>(work: (db: Db, announce: Announce) => Promise<T>): Promise<T> {
    return this.#transact((context, announce) => work(context.db, announce));
  }

  /** The same operation, as another caller. */
  as(caller: Caller): Context {
    return new Context(this.app, this.operationId, this.baseUrl, caller, this.client, this.#transaction);
  }

  /** Runs `work` with a context whose every read and write is in one transaction. */
  inTransaction<T>(work: (context: Context) => Promise<T>): Promise<T> {
    return this.#transact(work);
  }

  /** In the transaction of the operation, or in one of its own. */
  #transact<T>(work: (context: Context, announce: Announce) => Promise<T>): Promise<T> {
    if (this.#transaction) return work(this, this.#transaction.announce);
    const { app, operationId, baseUrl, client, issuers } = this;
    return issuers.run(() => {
      const recorded = new Recorded();
      const within = (tx: Db, announce: Announce) =>
        work(
          new Context(app, operationId, baseUrl, this.#caller, client, { tx, announce, recorded, issuers }),
          announce,
        );
      return app.changes.transaction(app.prisma, within, (...end) => recorded.write(...end));
    });
  }
}
