// Where a gateway of a test keeps its data: a directory and a database of its own, made from a template.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { compileOnce } from '../../../src/store/embedded/baseline-wasm.js';
import { root } from '../root.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated database to clone, on the server; made by `global-setup.ts`, as the others. */
    template: string;
    /** Holds the embedded database's files to copy: `empty`, and `migrated`. */
    clusters: string;
    /** Directory of this run of the project; what is left in it, and in databases named after it, is removed at the end. */
    run: string;
  }
}

export const migrations = join(root, 'prisma/migrations');

/** Whether this run is the one against a PostgreSQL server. */
export const onServer = process.env.GATEWAY_TEST_DATABASE === 'postgres';
/** Whether visitors come to another node than agents. */
export const hops = process.env.GATEWAY_TEST_HOP === '1';
/** Whether a worker carries visitors and agents, beside the control process. */
export const hasWorkers = process.env.GATEWAY_TEST_WORKERS === '1';
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
  /** Without an embedded database, as the gateway is lent one. */
  isLent?: boolean;
  /** Follows `CREATE DATABASE name`, as `LOCALE 'C'`; PostgreSQL only. */
  creation?: string;
}

/** A data directory and a database, of the kind this run is about. */
export async function newPlace({ empty = false, isLent = false, creation }: PlaceOptions = {}): Promise<Place> {
  const dataDir = await mkdtemp(join(inject('run'), 'place-'));
  const removeDirectory = () => rm(dataDir, { recursive: true, force: true });
  if (!onServer) {
    if (!empty && !isLent) await copyCluster('migrated', dataDir);
    return { env: { DATA_DIR: dataDir }, dataDir, remove: removeDirectory };
  }
  const name = databaseName(inject('run'), randomBytes(8).toString('hex'));
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

interface Cluster {
  directories: string[];
  files: { path: string; bytes: Buffer; length: number }[];
}

/** What this worker has copied before: each test file copies a cluster or more, and reading one takes longer than writing it. */
const clusters = new Map<string, Cluster>();

/** Puts an embedded database into a data directory. */
export async function copyCluster(which: 'empty' | 'migrated', dataDir: string): Promise<void> {
  keepDatabaseCode();
  const cluster = clusters.get(which) ?? readCluster(join(inject('clusters'), which));
  clusters.set(which, cluster);
  // Hundreds of small files: without the thread pool this takes a fifth of the time.
  const to = join(dataDir, 'db');
  for (const directory of cluster.directories) mkdirSync(join(to, directory), { mode: 0o700 });
  for (const { path, bytes, length } of cluster.files) {
    writeFileSync(join(to, path), bytes, { mode: 0o600 });
    if (length > bytes.length) truncateSync(join(to, path), length);
  }
}

let databaseCode: WebAssembly.Module | undefined;

/**
 * V8 shares what it has compiled of a module among all that load the same bytes, and drops it with the last of them: held here, each
 * gateway after the first opens its database in two thirds of the time.
 */
function keepDatabaseCode(): void {
  if (databaseCode) return;
  compileOnce();
  databaseCode = new WebAssembly.Module(
    readFileSync(new URL('./pglite.wasm', import.meta.resolve('@electric-sql/pglite'))),
  );
}

/** Its log of changes is 16 MB, nearly all zeros at the end: those are left out. */
function readCluster(from: string): Cluster {
  const cluster: Cluster = { directories: [''], files: [] };
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (entry.isDirectory()) {
      cluster.directories.push(path);
      continue;
    }
    const bytes = readFileSync(join(from, path));
    let end = bytes.length;
    while (end >= ZEROS.length && ZEROS.equals(bytes.subarray(end - ZEROS.length, end))) end -= ZEROS.length;
    cluster.files.push({ path, bytes: Buffer.from(bytes.subarray(0, end)), length: bytes.length });
  }
  cluster.directories.sort(); // What holds a directory comes before it.
  return cluster;
}

const ZEROS = Buffer.alloc(8192);

/** The name of a database of a run. */
export const databaseName = (run: string, what: string) => `${basename(run)}_${what}`;

/** Every listener at any free port. */
export const freePorts = {
  API_PORT: '0',
  ADMIN_PORT: '0',
  AGENT_PORT: '0',
  HTTP_PORT: '0',
  HTTPS_PORT: '0',
  TCP_PORTS: '0',
};

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
