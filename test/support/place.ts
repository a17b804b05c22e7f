// Where a gateway of a test keeps its data: a directory and a database of its own, made from a template.

import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Migrated data directory to copy, or migrated database to clone; made by `global-setup.ts`. */
    template: string;
  }
}

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const migrations = join(root, 'prisma/migrations');

/** Whether this run is the one against a PostgreSQL server. */
export const onServer = process.env.GATEWAY_TEST_DATABASE === 'postgres';
export const serverUrl = process.env.TEST_DATABASE_URL || 'postgresql://postgres@127.0.0.1:5432/test';

export interface Place {
  /** What a gateway's configuration needs to find it. */
  env: Record<string, string>;
  dataDir: string;
  remove(): Promise<void>;
}

export interface PlaceOptions {
  /** Without migrations applied. */
  empty?: boolean;
  /** Follows `CREATE DATABASE name`, as `LOCALE 'C'`; PostgreSQL only. */
  creation?: string;
}

/** A data directory and a database, of the kind this run is about. */
export async function newPlace({ empty = false, creation }: PlaceOptions = {}): Promise<Place> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const removeDirectory = () => rm(dataDir, { recursive: true, force: true });
  if (!onServer) {
    if (!empty) await cp(join(inject('template'), 'db'), join(dataDir, 'db'), { recursive: true });
    return { env: { DATA_DIR: dataDir }, dataDir, remove: removeDirectory };
  }
  const name = `gateway_test_${randomBytes(8).toString('hex')}`;
  await onMaintenance(`CREATE DATABASE "${name}" ${creation ?? (empty ? '' : `TEMPLATE "${inject('template')}"`)}`);
  return {
    env: { DATA_DIR: dataDir, DATABASE_URL: urlOf(name) },
    dataDir,
    async remove() {
      await onMaintenance(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
      await removeDirectory();
    },
  };
}

/** The URL of a database of the server. */
export function urlOf(name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs a statement about databases. */
export async function onMaintenance(sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  return client.query(sql).finally(() => client.end());
}
