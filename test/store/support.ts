import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { openEmbedded, openMemory } from '../../src/store/embedded/index.ts';

export const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** Whether this run is the one against a PostgreSQL server. */
export const onServer = process.env.GATEWAY_TEST_DATABASE === 'postgres';

const serverUrl = process.env.TEST_DATABASE_URL || 'postgresql://postgres@127.0.0.1:5432/test';

/** A directory of the running test's own. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The URL of a new, empty database on the server, dropped when the test is over. */
export async function newServerDatabase(): Promise<string> {
  const name = `gateway_test_${randomBytes(8).toString('hex')}`;
  await onMaintenance(`CREATE DATABASE "${name}"`);
  onTestFinished(() => onMaintenance(`DROP DATABASE "${name}" WITH (FORCE)`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function onMaintenance(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Data directories of an empty embedded database; making one takes 3 s, copying it a moment. */
export async function dataDirectories(): Promise<{
  original: string;
  copy(): Promise<string>;
  remove(): Promise<void>;
}> {
  const original = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const prepared = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const { close } = await openEmbedded(original, { onFatal: () => undefined });
  await close();
  await cp(join(original, 'db'), join(prepared, 'db'), { recursive: true });
  return {
    original,
    copy: async () => {
      const directory = await temporaryDirectory();
      await cp(join(prepared, 'db'), join(directory, 'db'), { recursive: true });
      return directory;
    },
    remove: async () => {
      for (const directory of [original, prepared]) await rm(directory, { recursive: true });
    },
  };
}

/** Empty databases of the kind this run is about. */
export async function emptyDatabases(): Promise<{ next(): Promise<pg.Pool>; close(): Promise<void> }> {
  if (onServer) {
    return {
      next: async () => {
        const pool = new pg.Pool({ connectionString: await newServerDatabase(), max: 4 });
        pool.on('error', () => undefined);
        onTestFinished(() => pool.end());
        return pool;
      },
      close: async () => undefined,
    };
  }
  const { pool, close } = await openMemory();
  return {
    next: async () => {
      await pool.query('DROP SCHEMA "public" CASCADE; CREATE SCHEMA "public"');
      return pool;
    },
    close,
  };
}
