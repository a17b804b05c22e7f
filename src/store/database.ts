// The database the configuration names: a PostgreSQL server, or the embedded one.

import pg from 'pg';
import { openEmbedded } from './embedded/index.ts';
import { LostConnections } from './lost-connections.ts';
import type { StoreSettings } from './settings.ts';

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** The first statement on each connection. The types do not know that a statement may have a time-out of its own. */
const FIRST_STATEMENT: pg.QueryConfig & { query_timeout: number } = {
  text: "SELECT set_config('TimeZone', 'UTC', false), pg_backend_pid() AS pid",
  query_timeout: CONNECT_TIMEOUT_MS,
};

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
 * connection, lets a statement run for 30 s, and gives up connections whose server is gone.
 * @throws {EmbeddedError} when the embedded database is in use or does not start.
 */
export async function openDatabase(
  config: Pick<StoreSettings, 'databaseUrl' | 'databasePool' | 'dataDir'>,
  options: DatabaseOptions,
): Promise<Database> {
  if (config.databaseUrl === undefined) return { ...(await openEmbedded(config.dataDir, options)), kind: 'embedded' };
  return { ...openServer(config.databaseUrl, config.databasePool), kind: 'server' };
}

function openServer(connectionString: string, max: number): Pick<Database, 'pool' | 'close'> {
  const lost = new LostConnections(connectionString);
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'gateway',
    // Awaited before the connection is given out.
    onConnect: async (client) => {
      const { rows } = await client.query<{ pid: number }>(FIRST_STATEMENT);
      lost.add(client as pg.PoolClient, rows[0]?.pid ?? 0);
    },
  });
  lost.listen(pool);
  // A server that restarts breaks idle connections; the pool opens others, and queries under way hear of it anyway.
  pool.on('error', () => undefined);
  return {
    pool,
    async close() {
      await pool.end();
      lost.stop();
    },
  };
}
