// The one connection of the embedded database: commits, transactions, order and errors.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { DatabaseStream } from '../../../src/store/embedded/database-stream.ts';
import { DatabaseWorker } from '../../../src/store/embedded/database-worker.ts';
import { type Embedded, openEmbedded } from '../../../src/store/embedded/index.ts';
import { copyCluster } from '../../support/gateway/place.ts';
import { emptyDirectory } from '../support.ts';

/** For tests that need no data directory of their own. */
let shared: Embedded;
let sharedDirectory: string;
beforeAll(async () => {
  sharedDirectory = await mkdtemp(join(inject('run'), 'directory-'));
  await copyCluster('empty', sharedDirectory);
  shared = await openEmbedded(sharedDirectory, { onFatal: (message) => expect.unreachable(message) });
});
afterAll(async () => {
  await shared?.close();
  await rm(sharedDirectory, { recursive: true });
});

test('every commit is on the disk before it is acknowledged', async () => {
  const { pool, fsyncs } = shared;
  await pool.query('CREATE TABLE "commits" ("n" INTEGER)');
  const before = fsyncs();
  for (let n = 0; n < 25; n += 1) await pool.query('INSERT INTO "commits" VALUES ($1)', [n]);
  expect(fsyncs() - before).toBeGreaterThanOrEqual(25);
});

test('a new file of the write-ahead log is synced along with its directory', async () => {
  const { pool, fsyncs } = shared;
  await pool.query('CREATE TABLE "segments" ("n" INTEGER)');
  const before = fsyncs();
  await pool.query('SELECT pg_switch_wal()');
  await pool.query('INSERT INTO "segments" VALUES (1)');
  expect(fsyncs() - before).toBeGreaterThan(1);
});

test('a broken connection leaves no session state behind', async () => {
  const { pool } = shared;
  await pool.query('CREATE TABLE "broken" ("n" INTEGER)');
  const client = await pool.connect();
  client.on('error', () => undefined);
  await client.query("SET TIME ZONE 'Asia/Tokyo'");
  await client.query('SELECT pg_advisory_lock(1)');
  await client.query('BEGIN');
  await client.query('INSERT INTO "broken" VALUES (1)');
  await client.query({ name: 'kept', text: 'SELECT 1' });
  breakConnection(client);
  client.release(true);

  expect((await pool.query('SELECT * FROM "broken"')).rows).toEqual([]);
  expect((await pool.query('SELECT * FROM pg_prepared_statements')).rows).toEqual([]);
  expect((await pool.query("SELECT * FROM pg_locks WHERE locktype = 'advisory'")).rows).toEqual([]);
  expect((await pool.query("SELECT current_setting('TimeZone') AS zone")).rows).toEqual([{ zone: 'UTC' }]);
  expect((await pool.query({ name: 'kept', text: 'SELECT 2 AS n' })).rows).toEqual([{ n: 2 }]);
});

function breakConnection(client: pg.PoolClient): void {
  // The driver's types do not show the stream.
  (client as unknown as { connection: { stream: DatabaseStream } }).connection.stream.destroy();
}

test('a query waits until an open transaction is over', async () => {
  const { pool } = shared;
  await pool.query('CREATE TABLE "turns" ("n" INTEGER)');
  const order: string[] = [];
  const client = await pool.connect();
  await client.query('BEGIN');
  const waiting = pool.query('SELECT count(*)::int AS count FROM "turns"').then(({ rows }) => {
    order.push('query');
    return rows;
  });
  await client.query('INSERT INTO "turns" VALUES (1)');
  await client.query('COMMIT');
  order.push('commit');
  client.release();
  expect(await waiting).toEqual([{ count: 1 }]);
  expect(order).toEqual(['commit', 'query']);
});

test('many queries at once are all answered, each with its own answer', async () => {
  const { pool } = shared;
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const answers = await Promise.all(numbers.map((n) => pool.query('SELECT $1::int AS n', [n])));
  expect(answers.map(({ rows }) => rows[0].n)).toEqual(numbers);
});

test('an error of one query does not affect the next', async () => {
  const { pool } = shared;
  await expect(pool.query('SELECT 1/0')).rejects.toThrow('division by zero');
  await expect(pool.query('SELECT $1::int', ['x'])).rejects.toThrow('invalid input syntax');
  await expect(pool.query('SELEC')).rejects.toThrow('syntax error');
  const large = 'x'.repeat(5_000_000);
  expect((await pool.query('SELECT $1::text AS large', [large])).rows[0].large).toBe(large);
});

test('a listener hears notifications', async () => {
  const { pool } = shared;
  const client = await pool.connect();
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('LISTEN "news"');
  await client.query("SELECT pg_notify('news', 'first')");
  client.release();
  expect(heard).toEqual(['first']);
});

test('protocol messages may be split anywhere', async () => {
  const link = new DatabaseWorker(join(await emptyDirectory(), 'db'), 30_000, () => undefined);
  onTestFinished(() => link.close());
  await link.opened();
  const stream = new DatabaseStream(link);
  const startUp = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]);
  const query = Buffer.from("Q\0\0\0\x13SELECT 'whole'\0");
  let answered = '';
  const done = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      answered += chunk.toString('latin1');
      if (answered.includes('SELECT 1')) resolve();
    });
  });
  for (const byte of Buffer.concat([startUp, query])) stream.write(Uint8Array.of(byte));
  await done;
  expect(answered).toContain('whole');
  stream.destroy();
});

test('an urgent statement runs before all waiting ones, and after an open transaction', async () => {
  const { pool, urgent } = shared;
  const order: string[] = [];
  const client = await pool.connect();
  await client.query('BEGIN');
  const waiting = Array.from({ length: 5 }, (_, i) => pool.query('SELECT 1').then(() => order.push(`waiting ${i}`)));
  waiting.push(urgent('SELECT $1::int AS one', [1]).then(({ rows: [{ one }] }) => order.push(`urgent ${one}`)));
  const mistaken = expect(urgent('no SQL', [])).rejects.toThrow('syntax error');
  await client.query('COMMIT');
  order.push('commit');
  client.release();
  await Promise.all([...waiting, mistaken]);
  expect(order).toEqual(['commit', 'urgent 1', 'waiting 0', 'waiting 1', 'waiting 2', 'waiting 3', 'waiting 4']);
});
