// Pools of tests on a PostgreSQL server.

import pg from 'pg';

/** A pool whose connections are gone when `close` resolves: pg-pool's own `end` does not wait for them. */
export function openServerPool(connectionString: string, max = 4): { pool: pg.Pool; close(): Promise<void> } {
  const pool = new pg.Pool({ connectionString, max });
  const ended: Promise<void>[] = [];
  pool.on('connect', (client) => {
    ended.push(new Promise<void>((resolve) => client.once('end', resolve)));
  });
  return {
    pool,
    async close() {
      await pool.end();
      await Promise.all(ended);
    },
  };
}
