// Before the first test of a project: databases to copy.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/store/database/migrations.ts';
import { openEmbedded } from '../../src/store/embedded/index.ts';
import { databaseName, migrations, onMaintenance, urlOf } from './gateway/place.ts';
import { openServerPool } from './gateway/server-pool.ts';
import { root } from './root.ts';

export default async function setup(project: TestProject): Promise<(() => Promise<unknown>) | undefined> {
  const kind = project.config.env?.GATEWAY_TEST_DATABASE;
  if (!kind) return undefined; // The root project, which has no tests.
  const run = await mkdtemp(join(await placeOfRuns(), `gateway-tests-${process.pid}-`));
  project.provide('run', run);
  project.provide('clusters', await embeddedClusters());
  if (kind === 'postgres') project.provide('template', await serverTemplate(run));
  return async () => {
    await rm(run, { recursive: true, force: true });
    if (kind === 'postgres') await dropDatabases(run);
  };
}

/** Linux keeps files here in memory. */
const MEMORY = '/dev/shm';
/** Most of the databases of a run are removed before it ends; what there is at a time takes less than half of this. */
const ROOM = 4 * 2 ** 30;

/**
 * Where the data of a run is: in memory, as each gateway of a test has a database of 600 files and syncs it, for which a disk
 * takes many times as long. Soaks are about what disks do, too. What runs that were killed have left is removed, since it would
 * take up memory until the machine ends.
 */
async function placeOfRuns(): Promise<string> {
  if (process.env.SOAK) return tmpdir();
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < ROOM) return tmpdir();
  for (const name of await readdir(MEMORY)) {
    const [, pid] = /^gateway-tests-(\d+)-/.exec(name) ?? [];
    const place = join(MEMORY, name);
    if (pid && !existsSync(`/proc/${pid}`) && (await isOld(place))) await rm(place, { recursive: true, force: true });
  }
  return MEMORY;
}

/** No run lasts for so long. One in a container may have a process id that is not known here. */
const OLD_MS = 2 * 60 * 60 * 1000;

async function isOld(place: string): Promise<boolean> {
  return Date.now() - (await stat(place)).mtimeMs > OLD_MS;
}

async function serverTemplate(run: string): Promise<string> {
  const name = databaseName(run, 'template');
  await onMaintenance(`CREATE DATABASE "${name}"`);
  const { pool, close } = openServerPool(urlOf(name));
  await migrate(pool, migrations).finally(close);
  return name;
}

/** The template, and what is left: a gateway that a worker's files share ends with the worker. */
async function dropDatabases(run: string): Promise<void> {
  const { rows } = await onMaintenance(
    `SELECT datname FROM pg_database WHERE datname LIKE '${databaseName(run, '%')}'`,
  );
  for (const { datname } of rows) await onMaintenance(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
}

/** Making a cluster takes seconds, so they are kept from run to run, under a hash of what they were made from. */
async function embeddedClusters(): Promise<string> {
  const sources = [join(root, 'package-lock.json'), join(root, 'test/support/global-setup.ts')];
  const hash = createHash('sha256');
  for (const source of sources) hash.update(readFileSync(source));
  for (const entry of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).sort())
    if (entry.endsWith('.sql')) hash.update(entry).update(readFileSync(join(migrations, entry)));
  const place = join(root, 'node_modules/.cache', `gateway-test-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(place)) return place;

  await mkdir(dirname(place), { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  await onEmbedded(draft, slim);
  await cp(join(draft, 'db'), join(draft, 'empty'), { recursive: true });
  await onEmbedded(draft, (pool) => migrate(pool, migrations));
  await rename(join(draft, 'db'), join(draft, 'migrated'));
  // Another run may have been quicker.
  await rename(draft, place).catch(() => rm(draft, { recursive: true }));
  return place;
}

async function onEmbedded(dataDir: string, work: (pool: pg.Pool) => Promise<unknown>): Promise<void> {
  const { pool, close } = await openEmbedded(dataDir, { onFatal: (text) => process.stderr.write(`${text}\n`) });
  await work(pool).finally(close);
}

/** Two thirds of the files are only for CREATE DATABASE, and every test would copy them. */
async function slim(pool: pg.Pool): Promise<void> {
  await pool.query('UPDATE pg_database SET datistemplate = false');
  for (const name of ['template0', 'template1']) await pool.query(`DROP DATABASE "${name}"`);
}
