// Failures of the embedded database, and its end.

import { expect, test, vi } from 'vitest';
import { openEmbedded } from '../../../src/store/embedded/index.ts';
import { emptyDirectory } from '../support.ts';
import { open } from './open.ts';

const FOR_EVER = 'SELECT count(*) FROM generate_series(1, 100000000000)';

test('a query that is never answered ends the database with a clear text', async () => {
  const onFatal = vi.fn();
  const { pool } = await open(await emptyDirectory(), { onFatal, callTimeoutMs: 300 });
  const text = 'The embedded database has not answered for 300 ms.';
  await expect(pool.query(FOR_EVER)).rejects.toThrow(text);
  await expect(pool.query('SELECT 1')).rejects.toThrow(text);
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(text);
});

test('a database that crashes reports it', async () => {
  const onFatal = vi.fn();
  const { pool } = await open(await emptyDirectory(), { onFatal });
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await expect(pool.query('COPY "t" FROM STDIN')).rejects.toThrow('broke off');
  expect(onFatal).toHaveBeenCalledOnce();
});

test('checkpoints are written regularly', async () => {
  const { pool } = await open(await emptyDirectory(), { checkpointMs: 20 });
  const lastCheckpoint = async () =>
    (await pool.query('SELECT redo_lsn FROM pg_control_checkpoint()')).rows[0].redo_lsn;
  const before = await lastCheckpoint();
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await expect.poll(lastCheckpoint).not.toBe(before);
});

test('closing waits for queries in progress, and their rows are there when the database is opened again', async () => {
  const dataDir = await emptyDirectory();
  const { pool, close } = await openEmbedded(dataDir, { onFatal: () => undefined });
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  const writing = pool.query('INSERT INTO "t" SELECT * FROM generate_series(1, 1000)');
  await close();
  await writing;
  const again = await open(dataDir);
  expect((await again.pool.query('SELECT count(*)::int AS count FROM "t"')).rows).toEqual([{ count: 1000 }]);
});
