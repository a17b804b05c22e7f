// Opens the database that the configuration names: a PostgreSQL server, or the embedded one.

import pg from 'pg';
import { openEmbedded } from '../embedded/index.ts';
import { PipelinedClient } from '../pipelined-client.ts';
import type { StoreSettings } from '../settings.ts';
import { LostConnections } from './lost-connections.ts';

const CONNECT_TIMEOUT_MS = 5000;
/**
 * An attempt to connect for the renewal of a lease takes at most this part of it: one that hangs, as a proxy may let it while it has no
 * server, must leave time for others. A node that could connect at once deletes those whose lease has ended.
 */
const LEASE_CONNECT_PART = 4;
const STATEMENT_TIMEOUT_MS = 30_000;
/** The most connections to `DATABASE_DIRECT_URL` for migrations: one for the work, and one that may hold the lock. */
const DIRECT_MAX = 3;
/** The first statement on each connection. The types do not know that a statement may have a time-out of its own. */
const FIRST_STATEMENT: pg.QueryConfig & { query_timeout: number } = {
  text: "SELECT set_config('TimeZone', 'UTC', false), pg_backend_pid() AS pid",
  query_timeout: CONNECT_TIMEOUT_MS,
};

export interface Database {
  /** The connections. Each has its time zone set to UTC, which `@prisma/adapter-pg` relies on. */
  pool: pg.Pool;
  /** Runs a statement that must not wait for the others, such as the renewal of a lease. */
  urgent(text: string, values: unknown[]): Promise<pg.QueryResult>;
  kind: 'embedded' | 'server';
  /** Whether nothing is written, as the disk below the embedded database is full. */
  isFull(): Promise<boolean>;
  /** Waits for queries under way. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Called once, with a text for the operator, when the embedded database is lost. The process has to end. */
  onFatal(text: string): void;
  /** Called with a text for the operator about something that needs attention. */
  onNotice?(text: string): void;
}

/**
 * Opens the database. A server need not answer yet: its pool connects when it is first asked, waits 5 s for a
 * connection, lets a statement run for 30 s, and gives up connections whose server is gone.
 * @throws {EmbeddedError} when the embedded database is in use or does not start.
 */
export async function openDatabase(
  config: Pick<StoreSettings, 'databaseUrl' | 'databasePool' | 'dataDir'> &
    Partial<Pick<StoreSettings, 'databaseDirectUrl' | 'nodeLeaseMs'>>,
  options: DatabaseOptions,
): Promise<Database> {
  if (config.databaseUrl === undefined) return { ...(await openEmbedded(config.dataDir, options)), kind: 'embedded' };
  return { ...openServer({ ...config, databaseUrl: config.databaseUrl }), kind: 'server' };
}

/**
 * Runs work that needs sessions of the server, as advisory locks do: on connections to `DATABASE_DIRECT_URL`, if it is set, and
 * otherwise on those of the pool.
 */
export async function withDirectPool<T>(
  { databaseDirectUrl }: Pick<StoreSettings, 'databaseDirectUrl'>,
  pool: pg.Pool,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  if (databaseDirectUrl === undefined) return work(pool);
  const direct = new pg.Pool({
    connectionString: databaseDirectUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'gateway migrations',
    max: DIRECT_MAX,
  });
  direct.on('error', () => undefined); // A connection that breaks while it is idle is replaced.
  try {
    return await work(direct);
  } finally {
    await direct.end();
  }
}

interface ServerOptions extends Pick<StoreSettings, 'databasePool'>, Partial<Pick<StoreSettings, 'nodeLeaseMs'>> {
  databaseUrl: string;
  databaseDirectUrl?: string | undefined;
}

function openServer({
  databaseUrl,
  databaseDirectUrl,
  databasePool,
  nodeLeaseMs,
}: ServerOptions): Omit<Database, 'kind'> {
  const connectionString = databaseUrl;
  const lost = new LostConnections(connectionString, databaseDirectUrl !== undefined);
  const settings: pg.PoolConfig = {
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    Client: PipelinedClient,
    // Awaited before the connection is given out.
    onConnect: async (client) => {
      // The pool listens for errors only while a connection is idle. Whoever has checked it out gets the error from the next statement.
      client.on('error', () => undefined);
      const { rows } = await client.query<{ pid: number }>(FIRST_STATEMENT);
      lost.add(client as pg.PoolClient, rows[0]?.pid ?? 0);
    },
  };
  const pool = new pg.Pool({ ...settings, max: databasePool, application_name: 'gateway' });
  // A pool of its own, so that a connection is available however many statements wait for the others.
  const urgent = new pg.Pool({
    ...settings,
    ...(nodeLeaseMs ? { connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, nodeLeaseMs / LEASE_CONNECT_PART) } : {}),
    max: 1,
    idleTimeoutMillis: 0,
    application_name: 'gateway lease',
  });
  for (const each of [pool, urgent]) {
    lost.listen(each);
    // A server that restarts breaks idle connections. The pool opens others, and running queries fail by themselves.
    each.on('error', () => undefined);
  }
  return {
    pool,
    urgent: (text, values) => urgent.query(text, values),
    isFull: async () => false, // A server looks after its own disk.
    async close() {
      await Promise.all([pool.end(), urgent.end()]);
      lost.stop();
    },
  };
}
