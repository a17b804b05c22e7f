// Connections to a PostgreSQL server that end while somebody has them.

import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/store/database/open-database.ts';
import { newServerDatabase, onServer, temporaryDirectory } from '../support.ts';

test.runIf(onServer)('a connection that the server ends between two statements fails the next one only', async () => {
  const dataDir = await temporaryDirectory();
  const place = { databaseUrl: await newServerDatabase(), databasePool: 2, dataDir };
  const { pool, close } = await openDatabase(place, { onFatal: (text) => expect.unreachable(text) });
  onTestFinished(close);
  const client = await pool.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const ended = new Promise((resolve) => client.once('end', () => resolve(undefined)));
  await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
  await ended;
  await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  client.release(true);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});
