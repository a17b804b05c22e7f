import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Embedded, type EmbeddedOptions, openEmbedded, openMemory } from '../../src/store/embedded/index.ts';
import { DatabaseWorker } from '../../src/store/embedded/database-worker.ts';
import { DatabaseStream } from '../../src/store/embedded/database-stream.ts';
import { copyCluster } from '../support/place.ts';
import { emptyDirectory, temporaryDirectory } from './support.ts';

const ACKNOWLEDGED_BEFORE_KILL = 50;
const FOR_EVER = 'SELECT count(*) FROM generate_series(1, 100000000000)';

/** For tests that need no data directory of their own. */
let shared: Embedded;
let sharedDirectory: string;
beforeAll(async () => {
  sharedDirectory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  await copyCluster('empty', sharedDirectory);
  shared = await openEmbedded(sharedDirectory, { onFatal: (message) => expect.unreachable(message) });
});
afterAll(async () => {
  await shared?.close();
  await rm(sharedDirectory, { recursive: true });
});

async function open(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const onFatal = (message: string) => expect.unreachable(message);
  const database = await openEmbedded(dataDir, { onFatal, ...options });
  onTestFinished(() => database.close());
  return database;
}

function startChild(task: string, dataDir: string): ChildProcess {
  const file = fileURLToPath(new URL('./child.js', import.meta.url));
  const child = spawn(process.execPath, [file, task, dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

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

test('nothing acknowledged is lost when the process is killed', async () => {
  const dataDir = await emptyDirectory();
  const child = startChild('write', dataDir);
  let last = 0;
  for await (const line of createInterface({ input: child.stdout ?? expect.unreachable() })) {
    last = Number(line);
    // The lines that follow were acknowledged before it died: they count as well.
    if (last === ACKNOWLEDGED_BEFORE_KILL) child.kill('SIGKILL');
  }
  expect(last).toBeGreaterThanOrEqual(ACKNOWLEDGED_BEFORE_KILL);

  const { pool } = await open(dataDir);
  const { rows } = await pool.query('SELECT count(*)::int AS count, max("n") AS most FROM "written"');
  expect(rows[0].most).toBeGreaterThanOrEqual(last);
  expect(rows[0].count).toBe(rows[0].most);
});

test('a second process on one data directory is refused', async () => {
  const dataDir = await emptyDirectory();
  const { close } = await openEmbedded(dataDir, { onFatal: () => undefined });
  const refused = startChild('open', dataDir);
  const [said, [code]] = await Promise.all([text(refused.stderr ?? expect.unreachable()), once(refused, 'close')]);
  expect(said).toContain(dataDir);
  expect(said).toContain(`pid ${process.pid}`);
  expect(code).toBe(1);

  await close();
  const [freed] = await once(startChild('open', dataDir), 'close');
  expect(freed).toBe(0);
});

test('one process cannot open a data directory twice', async () => {
  const second = openEmbedded(sharedDirectory, { onFatal: () => undefined });
  await expect(second).rejects.toThrow(`${sharedDirectory} is in use`);
});

test('only its owner can enter a data directory', async () => {
  const dataDir = join(await temporaryDirectory(), 'deep', 'data');
  // A start that was killed while it made the database.
  await mkdir(join(dataDir, 'db.new-killed'), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, 'db.new-killed', 'PG_VERSION'), '18\n');
  // And one of version 0.1.
  await mkdir(join(dataDir, 'db'));
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '18\n');
  await writeFile(join(dataDir, 'db.incomplete'), '');

  const { pool } = await open(dataDir);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  for (const path of [dataDir, join(dataDir, 'db')]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(await readdir(dataDir)).toEqual(['db', 'lock']);
});

test('a first start that is killed half-way is begun again', async () => {
  const dataDir = await temporaryDirectory();
  const killed = startChild('open', dataDir);
  const begun = () => readdir(dataDir).then((names) => names.filter((name) => name.startsWith('db.new-')));
  const made = async () => (await begun()).some((name) => existsSync(join(dataDir, name, 'PG_VERSION')));
  await expect.poll(made, { timeout: 60_000, interval: 5 }).toBe(true);
  killed.kill('SIGKILL');
  await once(killed, 'close');
  expect(await readdir(dataDir)).not.toContain('db');

  const { pool } = await open(dataDir);
  expect((await pool.query('SELECT count(*)::int AS count FROM pg_database')).rows).toEqual([{ count: 3 }]);
}, 120_000);

test('what a broken connection left behind is gone', async () => {
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

test('an error of one query is no obstacle to the next', async () => {
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

test('a query that is never answered ends the database with a clear text', async () => {
  const onFatal = vi.fn();
  const { pool } = await open(await emptyDirectory(), { onFatal, callTimeoutMs: 300 });
  const text = 'The embedded database has not answered for 300 ms.';
  await expect(pool.query(FOR_EVER)).rejects.toThrow(text);
  await expect(pool.query('SELECT 1')).rejects.toThrow(text);
  expect(onFatal).toHaveBeenCalledExactlyOnceWith(text);
});

test('a database that dies says so', async () => {
  const onFatal = vi.fn();
  const { pool } = await open(await emptyDirectory(), { onFatal });
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await expect(pool.query('COPY "t" FROM STDIN')).rejects.toThrow('broke off');
  expect(onFatal).toHaveBeenCalledOnce();
});

test('the write-ahead log is emptied from time to time', async () => {
  const { pool } = await open(await emptyDirectory(), { checkpointMs: 20 });
  const lastCheckpoint = async () =>
    (await pool.query('SELECT redo_lsn FROM pg_control_checkpoint()')).rows[0].redo_lsn;
  const before = await lastCheckpoint();
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await expect.poll(lastCheckpoint).not.toBe(before);
});

test('a data directory that cannot be read is refused with the reason', async () => {
  const dataDir = await emptyDirectory();
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '9\n');
  await expect(openEmbedded(dataDir, { onFatal: () => undefined })).rejects.toThrow(/does not start|9/);
});

test('closing waits for queries under way, and opens again with all of it', async () => {
  const dataDir = await emptyDirectory();
  const { pool, close } = await openEmbedded(dataDir, { onFatal: () => undefined });
  await pool.query('CREATE TABLE "t" ("n" INTEGER)');
  const writing = pool.query('INSERT INTO "t" SELECT * FROM generate_series(1, 1000)');
  await close();
  await writing;
  const again = await open(dataDir);
  expect((await again.pool.query('SELECT count(*)::int AS count FROM "t"')).rows).toEqual([{ count: 1000 }]);
});

test('messages may be cut anywhere on their way', async () => {
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

test('a database in memory is gone when it is closed', async () => {
  const first = await openMemory();
  await first.pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await first.close();
  await expect(first.pool.query('SELECT 1')).rejects.toThrow();
});

test('what is urgent comes before all that waits, and after the transaction that is open', async () => {
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
