import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { PipelinedClient } from '../pipelined-client.ts';
import { DatabaseStream } from './database-stream.ts';
import { DiskSpace, FREE_AT_FIRST_START, FREE_MIN, freeBytes } from './disk-space.ts';
import { ensureDatabase } from './ensure-database.ts';
import { EmbeddedError } from './error.ts';
import { lockDirectory } from './lock-directory.ts';
import { SingleConnectionPool } from './single-connection-pool.ts';
import { WorkerSupervisor } from './worker-supervisor.ts';

export { EmbeddedError } from './error.ts';

// How long closing waits for queries in progress, in milliseconds.
const CLOSE_TIMEOUT_MS = 5000;

const READ_ONLY = {
  on: 'SET default_transaction_read_only = on',
  off: 'SET default_transaction_read_only = off',
};

/** PostgreSQL in this process, with one connection that is used like that of a server. */
export interface Embedded {
  /** A pool of one connection: a query outside an open transaction waits until the transaction ends. */
  pool: pg.Pool;
  /** Runs a statement before all others that wait for the connection. */
  urgent(text: string, values: unknown[]): Promise<pg.QueryResult>;
  /** The number of fsync calls since the database was opened. */
  fsyncs(): number;
  /** Whether writing is suspended because the disk is full. */
  isFull(): Promise<boolean>;
  /** Waits for queries in progress, writes a checkpoint, and releases the data directory. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Called once, with a text for the operator, when the database is lost. The process has to end. */
  onFatal(text: string): void;
  /** Called with a text for the operator when the disk is full, and when it no longer is. */
  onNotice?(text: string): void;
  /** How long one call to the database may take, in milliseconds. */
  callTimeoutMs?: number;
  /** The interval between checkpoints while there are writes, in milliseconds. */
  checkpointMs?: number;
}

/**
 * Opens the database in `<dataDir>/db`, and creates it at the first start. Acknowledged commits are on the disk. While the disk is
 * full, the database can be read, and transactions that write fail with SQLSTATE 25006.
 * @throws {EmbeddedError} when another process uses the directory, its disk has too little space, or the database does not start.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<Embedded> {
  const { checkpointMs = 60_000 } = options;
  const unlock = lockDirectory(dataDir);
  try {
    const directory = join(dataDir, 'db');
    await checkDiskSpace(dataDir, existsSync(directory) ? FREE_MIN : FREE_AT_FIRST_START);
    await ensureDatabase(dataDir);
    const embedded = await open(directory, options);
    const stopCheckpoints = startCheckpoints(embedded, checkpointMs);
    const close = async () => {
      stopCheckpoints();
      await embedded.close();
      unlock();
    };
    return { ...embedded, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Opens an empty database in memory, for tools and tests. */
export function openMemory(): Promise<Embedded> {
  return open(undefined, { onFatal: () => undefined });
}

async function open(
  directory: string | undefined,
  { onFatal, onNotice = () => undefined, callTimeoutMs = 30_000 }: EmbeddedOptions,
): Promise<Embedded> {
  const workers = new WorkerSupervisor({ directory, callTimeoutMs, onFatal });
  await workers.current.opened();
  const pool = poolOn(workers, async (client) => {
    if (diskSpace?.isShort) await client.query(READ_ONLY.on);
  });
  const setReadOnly = (isReadOnly: boolean) => pool.queryNext(READ_ONLY[isReadOnly ? 'on' : 'off'], []);
  const diskSpace = directory === undefined ? undefined : new DiskSpace({ directory, setReadOnly, onNotice });
  const close = async () => {
    diskSpace?.close();
    const closeTimeout = new AbortController();
    await Promise.race([drainPool(pool), wait(CLOSE_TIMEOUT_MS, undefined, { signal: closeTimeout.signal })]);
    closeTimeout.abort();
    await workers.close();
  };
  return {
    pool,
    urgent: pool.queryNext.bind(pool),
    fsyncs: () => workers.current.fsyncs,
    isFull: async () => (await diskSpace?.measure()) ?? false,
    close,
  };
}

/**
 * A pool of one connection to the database that a worker runs.
 * @param workers whose current one is asked.
 * @param onConnect awaited before the connection is given out.
 */
export function poolOn(
  workers: Pick<WorkerSupervisor, 'current'>,
  onConnect: (client: pg.ClientBase) => Promise<void> = async () => undefined,
): SingleConnectionPool {
  const pool = new SingleConnectionPool({
    async onConnect(client) {
      client.on('error', () => undefined); // The statement in progress fails as well.
      await onConnect(client);
    },
    idleTimeoutMillis: 0,
    // All set here, so that no PG* variable of the environment is used.
    host: 'embedded',
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    stream: () => new DatabaseStream(workers.current),
    Client: PipelinedClient,
  });
  // onFatal reports a lost database. Without a listener, the error of the idle connection would be thrown as well.
  pool.on('error', () => undefined);
  return pool;
}

/** Refuses to start with so little space that the database would fail soon. */
async function checkDiskSpace(directory: string, required: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free >= required) return;
  throw new EmbeddedError(
    `There is too little room for the database: ${toMb(free)} MB are free in ${directory}, and it takes ${toMb(required)} MB to start. ` +
      'Make room, or set DATA_DIR to a directory on another disk.',
  );
}

const toMb = (bytes: number) => Math.floor(bytes / 2 ** 20);

/** Ends the pool after all waiting queries, which the pool itself would drop. */
async function drainPool(pool: pg.Pool): Promise<void> {
  await pool.query('CHECKPOINT').catch(() => undefined);
  await pool.end();
}

/** Writes checkpoints regularly: the write-ahead log grows until one, and PGlite writes none by itself. */
function startCheckpoints({ pool, fsyncs }: Embedded, everyMs: number): () => void {
  let synced = fsyncs();
  let busy = false;
  const timer = setInterval(async () => {
    // Every commit syncs, so without a sync there was no write.
    if (busy || fsyncs() === synced) return;
    busy = true;
    try {
      await pool.query('CHECKPOINT');
      synced = fsyncs();
    } catch {
      // onFatal reports a lost database, and closing one writes a checkpoint itself.
    } finally {
      busy = false;
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}
