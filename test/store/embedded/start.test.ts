// Data directories of the embedded database: locks, permissions, first starts, and starts after a crash.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Embedded, openEmbedded, openMemory } from '../../../src/store/embedded/index.ts';
import { copyCluster } from '../../support/gateway/place.ts';
import { emptyDirectory, temporaryDirectory } from '../support.ts';
import { open, startChild } from './open.ts';

const ACKNOWLEDGED_BEFORE_KILL = 50;

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

test('a first start that was killed is repeated', async () => {
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

test('a data directory that cannot be read is refused with the reason', async () => {
  const dataDir = await emptyDirectory();
  await writeFile(join(dataDir, 'db', 'PG_VERSION'), '9\n');
  await expect(openEmbedded(dataDir, { onFatal: () => undefined })).rejects.toThrow(/does not start|9/);
});

// It runs initdb in this process, for the tool that writes migrations.
test('a database in memory is gone when it is closed', async () => {
  const first = await openMemory();
  await first.pool.query('CREATE TABLE "t" ("n" INTEGER)');
  await first.close();
  await expect(first.pool.query('SELECT 1')).rejects.toThrow();
});
