// Compares prisma/schema.prisma with prisma/migrations, by Prisma's own engine in WebAssembly and without a server.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import type pg from 'pg';
import { knownMigrations } from '../store/database/migrations.ts';
import { openMemory } from '../store/embedded/index.ts';

const ENGINE = '@prisma/schema-engine-wasm/schema_engine_bg';
/** The engine's exit code for a difference. */
const DIFFERENT = 2;
/** The OIDs of PostgreSQL's types `"char"` and `text`. */
const LETTER = 18;
const TEXT = 25;

/**
 * Computes the SQL of the migration that makes migrations and schema agree. It takes some seconds, as all migrations are
 * applied to a database in memory.
 * @param prismaDir holds `schema.prisma` and `migrations/`.
 * @returns undefined when they agree.
 */
export async function pendingSchemaChange(prismaDir: string): Promise<string | undefined> {
  const schema = {
    path: join(prismaDir, 'schema.prisma'),
    content: await readFile(join(prismaDir, 'schema.prisma'), 'utf8'),
  };
  const scratch = scratchDatabases();
  const engine = await startEngine(schema, scratch);
  try {
    const { exitCode, stdout } = await engine.diff({
      from: await readHistory(join(prismaDir, 'migrations')),
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === DIFFERENT && stdout ? sortIdsByBytes(withoutSchema(stdout)) : undefined;
  } finally {
    engine.free();
    await scratch.close();
  }
}

/**
 * Gives every text column called "id" or "…_id" COLLATE "C": pages are cut by `id < cursor`, and the database has to
 * order ids as the code does, whatever its locale.
 */
export function sortIdsByBytes(sql: string): string {
  return sql.replace(/("(?:id|\w+_id)" (?:SET DATA TYPE )?TEXT)(?! COLLATE|\[)\b/g, '$1 COLLATE "C"');
}

/** Whether a migration takes away what earlier code may use, or demands what that does not give. */
export function takesAway(sql: string): boolean {
  const statements = sql.replace(/--.*/g, '');
  if (/\b(DROP (?!NOT NULL|DEFAULT)|RENAME |SET NOT NULL|SET DATA TYPE)/.test(statements)) return true;
  const added = statements.split(/[,;]\s*(?=ALTER|ADD|CREATE|$)/).filter((part) => /\bADD COLUMN\b/.test(part));
  return added.some((column) => /\bNOT NULL\b/.test(column) && !/\bDEFAULT\b/.test(column));
}

/**
 * The statement at the start of the first migration. It is removed: the schema exists everywhere, and not every role may
 * create one.
 */
function withoutSchema(sql: string): string {
  return sql.replace('-- CreateSchema\nCREATE SCHEMA IF NOT EXISTS "public";\n\n', '');
}

/** Node has this function, but the types of Node 20 lack it. */
declare const WebAssembly: {
  instantiate(wasm: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

/** The loaded engine. Its JavaScript supports one instance in a process. */
let loaded: Promise<void> | undefined;

async function load(): Promise<void> {
  const script = createRequire(import.meta.url).resolve(ENGINE);
  const wasm = await readFile(script.replace(/\.js$/, '.wasm'));
  // The engine reports a panic to this global.
  const set_message = (text: string) => {
    throw new Error(`Prisma's schema engine failed: ${text}`);
  };
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message } });
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
}

async function startEngine(
  schema: { path: string; content: string },
  adapter: SqlMigrationAwareDriverAdapterFactory,
): Promise<glue.SchemaEngine> {
  loaded ??= load();
  await loaded;
  return glue.SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
}

async function readHistory(baseDir: string) {
  const names = existsSync(baseDir) ? await knownMigrations(baseDir) : [];
  if (names.length === 0) return { tag: 'empty' as const };
  const read = async (path: string) => ({
    path,
    content: existsSync(join(baseDir, path)) ? await readFile(join(baseDir, path), 'utf8') : null,
  });
  const migrationDirectories = names.map(async (path) => {
    const content = await readFile(join(baseDir, path, 'migration.sql'), 'utf8');
    return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: content } } };
  });
  return {
    tag: 'migrations' as const,
    baseDir,
    lockfile: await read('migration_lock.toml'),
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(migrationDirectories),
  };
}

/** Creates the databases that the engine requests for a comparison. */
function scratchDatabases(): SqlMigrationAwareDriverAdapterFactory & { close(): Promise<void> } {
  const opened: Promise<{ close(): Promise<void> }>[] = [];
  const connect = async (): Promise<SqlDriverAdapter> => {
    const opening = openMemory();
    opened.push(opening);
    const { pool } = await opening;
    const query = pool.query.bind(pool);
    const adapter = await new PrismaPg(pool).connect();
    teachLetters(pool, adapter);
    // The adapter's own method splits a script at every semicolon, also within functions. Errors are reported here, as the
    // engine only reports that there was one.
    adapter.executeScript = async (script) => {
      await query(script).catch((error) => {
        console.error(`A migration fails: ${error}`);
        throw error;
      });
    };
    return adapter;
  };
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect,
    connectToShadowDb: connect,
    close: async () => {
      for (const database of opened) await (await database).close();
    },
  };
}

/** The engine reads columns of the type `"char"` in system tables, which the driver adapter does not support. */
function teachLetters(pool: pg.Pool, adapter: SqlDriverAdapter): void {
  const letters = new WeakMap<object, number[]>();
  const query = pool.query.bind(pool);
  const asText = async (config: pg.QueryConfig) => {
    const result = await query(config);
    const found = result.fields.flatMap((field, index) => (field.dataTypeID === LETTER ? index : []));
    for (const index of found) Object.assign(result.fields[index] ?? {}, { dataTypeID: TEXT });
    // The adapter returns these row objects themselves.
    letters.set(result.rows, found);
    return result;
  };
  Object.assign(pool, { query: asText });
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (statement) => {
    const result = await queryRaw(statement);
    for (const index of letters.get(result.rows) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
}
