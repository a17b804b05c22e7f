import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { openEmbedded } from '../../src/store/embedded/index.ts';
import { copyCluster } from '../support/gateway/place.ts';
import { openServerPool } from '../support/gateway/server-pool.ts';

export const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** Whether this run is the one against a PostgreSQL server. */
export const onServer = process.env.GATEWAY_TEST_DATABASE === 'postgres';

const serverUrl = process.env.TEST_DATABASE_URL || 'postgresql://postgres@127.0.0.1:5432/test';

/** A directory of the running test's own. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(inject('run'), 'directory-'));
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

/** A data directory of the running test's own, with an empty embedded database. */
export async function emptyDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  await copyCluster('empty', directory);
  return directory;
}

/** Empty databases of the kind this run is about. */
export async function emptyDatabases(): Promise<{ next(): Promise<pg.Pool>; close(): Promise<void> }> {
  if (onServer) {
    return {
      next: async () => {
        const { pool, close } = openServerPool(await newServerDatabase());
        onTestFinished(close);
        return pool;
      },
      close: async () => undefined,
    };
  }
  const directory = await mkdtemp(join(inject('run'), 'directory-'));
  await copyCluster('empty', directory);
  const { pool, close } = await openEmbedded(directory, { onFatal: () => undefined });
  return {
    next: async () => {
      await pool.query('DROP SCHEMA "public" CASCADE; CREATE SCHEMA "public"');
      return pool;
    },
    close: () => close().finally(() => rm(directory, { recursive: true })),
  };
}
