// What a resolver is given: who is calling, the database, and the one way to write to it.

import type { ModuleEnvironment } from '../http/module.ts';
import type { CompileQueue } from '../policy/compile/compile-queue.ts';
import type { Changes, WriteAction } from '../store/changes/changes.ts';
import type { Db, PrismaClient } from '../store/database/client.ts';
import type { Announce } from '../store/events/audit.ts';
import type { Keys } from '../store/keys/keys.ts';
import type { SessionCommands } from '../tunnel/control/session-commands.ts';
import type {
  AgentEndpointInfo,
  ApiClient,
  ApiKeyUsage,
  DestinationTester,
  HeavyOperationQueue,
  NodeCaptures,
  NodeDirectory,
  SignInService,
  TrafficState,
} from './dependencies.ts';
import { ApiError } from './errors/errors.ts';
import type { AuditedResource } from './resource.ts';
import type { ApiSettings } from './settings.ts';
import { translateConflict, translateWriteError } from './write-errors.ts';

export type { Announce };

/** What the API needs of the rest of the gateway. */
export interface ApiApp {
  config: ApiSettings;
  prisma: PrismaClient;
  keys: Keys;
  changes: Changes;
  /** Tells the agents of sessions what to do. */
  sessions: SessionCommands;
  /** Tries event destinations. */
  destinationTester: DestinationTester;
  /** What the public side of this node knows of its traffic. */
  traffic: TrafficState;
  /** Where traffic policies are compiled. */
  policies: CompileQueue;
  /** Brings what webhooks are checked with whose senders publish it. */
  signingKey: ModuleEnvironment['signingKey'];
  /** Where agents connect to this node. */
  agentEndpoint(): AgentEndpointInfo;
  /** The other nodes, and this one. */
  nodes: NodeDirectory;
  /** The requests of this node that people look at one by one. */
  nodeCaptures(): NodeCaptures;
  /** Tells of what is written. */
  audit: AuditTrail;
  /** Notes which API keys are used. */
  apiKeyUsage: ApiKeyUsage;
  /** Where users sign in. */
  signIn: SignInService;
  /** Runs operations that cost much. */
  heavyOperations: HeavyOperationQueue;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Aborted when the gateway is stopping: subscriptions end. */
  shutdownSignal: AbortSignal;
}

export interface Caller {
  accountId: string;
  /** The user or bot user who holds the key, or is signed in. */
  ownerId: string;
  isAdmin: boolean;
  /** The API key that came; undefined in a browser session. */
  keyId?: string;
  /** The browser session; undefined when an API key came. */
  sessionId?: string;
  /** Only in the answer that begins a browser session: what its page has to keep. */
  pageSecret?: string;
}

/** What is deleted along with an object, and told of before it. */
export interface Cascade {
  resource: AuditedResource;
  /** As REST shows them. @param object what REST shows of the object that takes them along. */
  objects(context: Context, object: object): Promise<object[]> | object[];
}

/** What was written, to be told. */
export interface AuditedWrite {
  resource: AuditedResource;
  action: Exclude<WriteAction, 'DELETED'>;
  id: string;
}

/** Events of what is written. The contexts are in the transactions of the writes. */
export interface AuditTrail {
  recordChange(context: Context, announce: Announce, written: AuditedWrite): Promise<void>;
  /**
   * To be called before an object is deleted, which may not exist.
   * @returns what writes the events; to be called after it.
   */
  prepareDeletionEvent(
    context: Context,
    announce: Announce,
    deleted: Pick<AuditedWrite, 'resource' | 'id'> & { cascade: Cascade | undefined },
  ): Promise<() => Promise<void>>;
}

/** One operation's view of the gateway. It lives as long as the request. */
export class Context {
  readonly app: ApiApp;
  readonly operationId: string;
  /** What `uri`s begin with: no slash at its end. */
  readonly baseUrl: string;
  /** The other end of the request. */
  readonly client: ApiClient;
  readonly #caller: Caller | ApiError;
  readonly #transaction: { tx: Db; announce: Announce } | undefined;

  constructor(
    app: ApiApp,
    operationId: string,
    baseUrl: string,
    caller: Caller | ApiError,
    client: ApiClient,
    transaction?: { tx: Db; announce: Announce },
  ) {
    this.app = app;
    this.operationId = operationId;
    this.baseUrl = baseUrl;
    this.#caller = caller;
    this.client = client;
    this.#transaction = transaction;
  }

  /** Who is calling. @throws {ApiError} why nobody is, when neither a valid API key came nor a browser session. */
  get caller(): Caller {
    if (this.#caller instanceof ApiError) throw this.#caller;
    return this.#caller;
  }

  get isAuthenticated(): boolean {
    return this.authenticatedCaller !== null;
  }

  /** Who is calling; null for a stranger. */
  get authenticatedCaller(): Caller | null {
    return this.#caller instanceof ApiError ? null : this.#caller;
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
   * Creates or changes: runs `work` in a transaction, announces what it returns as changed and tells of it in events.
   * Every change of every resource passes here, or through `remove`.
   * @throws {ApiError} in place of the database's refusals (not found, in use, changed meanwhile).
   */
  write<T extends { id: string }>(
    resource: AuditedResource,
    action: Exclude<WriteAction, 'DELETED'>,
    work: (db: Db, announce: Announce) => Promise<T>,
  ): Promise<T> {
    return this.#transact(async (context, announce) => {
      const row = await work(context.db, announce).catch((error) => {
        throw translateWriteError(error, resource, action);
      });
      announce({ kind: resource.kind, action, id: row.id, accountId: context.accountId });
      await this.app.audit.recordChange(context, announce, { resource, action, id: row.id }).catch((error) => {
        throw translateConflict(error);
      });
      return row;
    });
  }

  /**
   * Deletes: runs `work` like `write` does. It has to fail when there is no such object; events show it as it was before.
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
      const writeEvents = await this.app.audit.prepareDeletionEvent(context, announce, { resource, id, cascade });
      await work(context.db, announce).catch((error) => {
        throw translateWriteError(error, resource, 'DELETED');
      });
      announce({ kind: resource.kind, action: 'DELETED', id, accountId: context.accountId });
      await writeEvents();
    });
  }

  /** Writes what is no change of a resource, so that no event tells of it. */
  withoutAudit<T>(work: (db: Db, announce: Announce) => Promise<T>): Promise<T> {
    return this.#transact((context, announce) => work(context.db, announce));
  }

  /** Runs `work` with a context whose every read and write is in one transaction. */
  inTransaction<T>(work: (context: Context) => Promise<T>): Promise<T> {
    return this.#transact(work);
  }

  /** In the transaction of the operation, or in one of its own. */
  #transact<T>(work: (context: Context, announce: Announce) => Promise<T>): Promise<T> {
    if (this.#transaction) return work(this, this.#transaction.announce);
    return this.app.changes.transaction(this.app.prisma, (tx, announce) =>
      work(
        new Context(this.app, this.operationId, this.baseUrl, this.#caller, this.client, { tx, announce }),
        announce,
      ),
    );
  }
}
