// The database the configuration names: a PostgreSQL server, or the embedded one.

import pg from 'pg';
import { openEmbedded } from './embedded/index.ts';
import type { StoreSettings } from './settings.ts';

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;

export interface Database {
  /** Connections; every one speaks in UTC, which `@prisma/adapter-pg` takes for granted. */
  pool: pg.Pool;
  kind: 'embedded' | 'server';
  /** Waits for queries under way. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Told once, in plain words, when the embedded database is lost; the process has to end. */
  onFatal(text: string): void;
}

/**
 * Opens the database. A server need not answer yet: its pool connects when it is first asked, waits 5 s for a
 * connection, and lets a statement run for 30 s.
 * @throws {EmbeddedError} when the embedded database is in use or does not start.
 */
export async function openDatabase(
  config: Pick<StoreSettings, 'databaseUrl' | 'databasePool' | 'dataDir'>,
  options: DatabaseOptions,
): Promise<Database> {
  if (config.databaseUrl === undefined) return { ...(await openEmbedded(config.dataDir, options)), kind: 'embedded' };
  const pool = openServer(config.databaseUrl, config.databasePool);
  return { pool, kind: 'server', close: () => pool.end() };
}

function openServer(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'gateway',
    // Awaited before the connection is given out.
    onConnect: (client) => client.query("SET TIME ZONE 'UTC'"),
  });
  // A server that restarts breaks idle connections; the pool opens others, and queries under way hear of it anyway.
  pool.on('error', () => undefined);
  return pool;
}
