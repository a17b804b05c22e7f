import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { ensureDatabase } from './first-start.ts';
import { Link } from './link.ts';
import { lockDirectory } from './lock.ts';
import { OneConnection } from './one-connection.ts';
import { DatabaseStream } from './stream.ts';

export { EmbeddedError } from './error.ts';

// A query that is still under way when the database is closed is waited for this long.
const CLOSE_GRACE_MS = 5000;

/** PostgreSQL in this process: one connection, spoken to like a server. */
export interface Embedded {
  /** Of one connection: a query outside an open transaction waits until that is over. */
  pool: pg.Pool;
  /** Runs a statement next, before those that wait for the connection. */
  urgent(text: string, values: unknown[]): Promise<pg.QueryResult>;
  /** How often a file was made safe on the disk since the database was opened. */
  fsyncs(): number;
  /** Waits for queries under way, writes everything out, and gives the data directory free. */
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Told once, in plain words, when the database is lost; the process has to end. */
  onFatal(text: string): void;
  /** How long one call to the database may take. Milliseconds. */
  callTimeoutMs?: number;
  /** How often the write-ahead log is emptied when something was written. Milliseconds. */
  checkpointMs?: number;
}

/**
 * Opens the database in `<dataDir>/db`, making it on the first start. What is acknowledged is on the disk.
 * @throws {EmbeddedError} when another process has the directory, or the database does not start.
 */
export async function openEmbedded(dataDir: string, options: EmbeddedOptions): Promise<Embedded> {
  const { onFatal, callTimeoutMs = 30_000, checkpointMs = 60_000 } = options;
  const unlock = lockDirectory(dataDir);
  try {
    await ensureDatabase(dataDir);
    const embedded = await open(join(dataDir, 'db'), callTimeoutMs, onFatal);
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
  return open(undefined, 30_000, () => undefined);
}

async function open(
  directory: string | undefined,
  callTimeoutMs: number,
  onFatal: (text: string) => void,
): Promise<Embedded> {
  const link = new Link(directory, callTimeoutMs, onFatal);
  await link.opened();
  const pool = new OneConnection({
    idleTimeoutMillis: 0,
    // Given, so that none of them comes from PG* variables of the environment.
    host: 'embedded',
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    stream: () => new DatabaseStream(link),
  });
  // A lost database is told by onFatal; without a listener the idle connection's error would be thrown as well.
  pool.on('error', () => undefined);
  const close = async () => {
    const patience = new AbortController();
    await Promise.race([finish(pool), wait(CLOSE_GRACE_MS, undefined, { signal: patience.signal })]);
    patience.abort();
    await link.close();
  };
  return { pool, urgent: pool.urgently.bind(pool), fsyncs: () => link.fsyncs, close };
}

/** Ends the pool once all queries that wait for their turn had it: the pool itself would forget them. */
async function finish(pool: pg.Pool): Promise<void> {
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
