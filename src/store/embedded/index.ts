import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { DatabaseStream } from './database-stream.ts';
import { DiskSpace, FREE_AT_FIRST_START, FREE_MIN, freeBytes } from './disk-space.ts';
import { ensureDatabase } from './ensure-database.ts';
import { EmbeddedError } from './error.ts';
import { lockDirectory } from './lock-directory.ts';
import { SingleConnectionPool } from './single-connection-pool.ts';
import { WorkerSupervisor } from './worker-supervisor.ts';

export { EmbeddedError } from './error.ts';

// A query that is still under way when the database is closed is waited for this long.
const CLOSE_TIMEOUT_MS = 5000;

const READ_ONLY = {
  on: 'SET default_transaction_read_only = on',
  off: 'SET default_transaction_read_only = off',
};

/** PostgreSQL in this process: one connection, spoken to like a server. */
export interface Embedded {
  /** Of one connection: a query outside an open transaction waits until that is over. */
  pool: pg.Pool;
  /** Runs a statement next, before those that wait for the connection. */
  urgent(text: string, values: unknown[]): Promise<pg.QueryResult>;
  /** How often a file was made safe on the disk since the database was opened. */
  fsyncs(): number;
  /** Whether nothing is written, as the disk is full. */
  isFull(): Promise<boolean>;
  /** Waits for queries under way, writes everything out, and gives the data directory free. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Told once, in plain words, when the database is lost; the process has to end. */
  onFatal(text: string): void;
  /** Told, in plain words, when the disk is full, and when it is not any more. */
  onNotice?(text: string): void;
  /** How long one call to the database may take. Milliseconds. */
  callTimeoutMs?: number;
  /** How often the write-ahead log is emptied when something was written. Milliseconds. */
  checkpointMs?: number;
}

/**
 * Opens the database in `<dataDir>/db`, making it on the first start. What is acknowledged is on the disk. While the disk
 * is full, it can be read, and transactions that write fail with SQLSTATE 25006.
 * @throws {EmbeddedError} when another process has the directory, its disk has too little space, or the database does not start.
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

/** Opens an empty database that is gone when it is closed: for tools and tests. */
export function openMemory(): Promise<Embedded> {
  return open(undefined, { onFatal: () => undefined });
}

async function open(
  directory: string | undefined,
  { onFatal, onNotice = () => undefined, callTimeoutMs = 30_000 }: EmbeddedOptions,
): Promise<Embedded> {
  const workers = new WorkerSupervisor({ directory, callTimeoutMs, onFatal });
  await workers.current.opened();
  const pool = new SingleConnectionPool({
    async onConnect(client) {
      client.on('error', () => undefined); // Whoever uses it is told by the statement that fails.
      if (diskSpace?.isShort) await client.query(READ_ONLY.on);
    },
    idleTimeoutMillis: 0,
    // Given, so that none of them comes from PG* variables of the environment.
    host: 'embedded',
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    stream: () => new DatabaseStream(workers.current),
  });
  // A lost database is told by onFatal; without a listener the idle connection's error would be thrown as well.
  pool.on('error', () => undefined);
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

/** A start with less would only be the next thing that fails. */
async function checkDiskSpace(directory: string, required: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free >= required) return;
  throw new EmbeddedError(
    `There is too little room for the database: ${toMb(free)} MB are free in ${directory}, and it takes ${toMb(required)} MB to start. ` +
      'Make room, or set DATA_DIR to a directory on another disk.',
  );
}

const toMb = (bytes: number) => Math.floor(bytes / 2 ** 20);

/** Ends the pool once all queries that wait for their turn had it: the pool itself would forget them. */
async function drainPool(pool: pg.Pool): Promise<void> {
  await pool.query('CHECKPOINT').catch(() => undefined);
  await pool.end();
}

/** The log of changes grows until a checkpoint, and PGlite makes none by itself. */
function startCheckpoints({ pool, fsyncs }: Embedded, everyMs: number): () => void {
  let synced = fsyncs();
  let busy = false;
  const timer = setInterval(async () => {
    // Every commit syncs: nothing synced, nothing written.
    if (busy || fsyncs() === synced) return;
    busy = true;
    try {
      await pool.query('CHECKPOINT');
      synced = fsyncs();
    } catch {
      // A database that is lost is told by onFatal; one that is being closed is written out by that.
    } finally {
      busy = false;
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}
