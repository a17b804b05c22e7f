import type pg from 'pg';

/** Prisma's own, so that `prisma migrate` and a gateway wait for each other. */
const ADVISORY_LOCK = 72_707_369;
/** Codes of servers that have no advisory locks: undefined function, feature not supported. */
const NO_ADVISORY_LOCKS = new Set(['42883', '0A000']);
/** Codes: unique violation (in the system’s tables), duplicate table, duplicate object (the table’s row type). */
const MADE_BY_ANOTHER = new Set(['23505', '42P07', '42710']);
const LOCK_TABLE = '"_gateway_migration_lock"';

/**
 * Runs the work on one connection while no other process migrates this database, waiting without limit for one that
 * does. A server without advisory locks is given a table with one row to lock instead.
 */
export async function withMigrationLock<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const lost = (error: Error) => {
    broken = error;
  };
  client.on('error', lost);
  try {
    // Neither waiting for another process nor a long migration may run into the pool's limit.
    await client.query('SET statement_timeout = 0');
    if (!(await takeAdvisoryLock(client))) return await withRowLock(pool, () => work(client));
    const result = await work(client);
    await client.query(`SELECT pg_advisory_unlock(${ADVISORY_LOCK})`);
    return result;
  } catch (error) {
    // The session may still hold the lock: it ends here, and the lock with it.
    broken ??= error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    if (!broken) await client.query('RESET statement_timeout');
    client.off('error', lost);
    client.release(broken);
  }
}

async function takeAdvisoryLock(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ version: string }>('SELECT version()');
  // It has the function, which locks nothing.
  if (rows[0]?.version.includes('CockroachDB')) return false;
  try {
    await client.query(`SELECT pg_advisory_lock(${ADVISORY_LOCK})`);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_ADVISORY_LOCKS.has(String(error.code))) return false;
    throw error;
  }
}

/** On a second connection: its transaction, which holds the lock, stays open while the first one migrates. */
async function withRowLock<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  await pool.query(`CREATE TABLE IF NOT EXISTS ${LOCK_TABLE} ("id" INTEGER PRIMARY KEY)`).catch((error) => {
    // Two processes that make it at once are not kept apart by IF NOT EXISTS; it is there then.
    if (!MADE_BY_ANOTHER.has(error.code)) throw error;
  });
  await pool.query(`INSERT INTO ${LOCK_TABLE} VALUES (1) ON CONFLICT DO NOTHING`);
  const holder = await pool.connect();
  try {
    await holder.query('SET statement_timeout = 0');
    await holder.query('BEGIN');
    await holder.query(`SELECT "id" FROM ${LOCK_TABLE} WHERE "id" = 1 FOR UPDATE`);
    return await work();
  } finally {
    // Ends the connection, and with it the transaction.
    holder.release(true);
  }
}
