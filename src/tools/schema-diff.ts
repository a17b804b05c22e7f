// What prisma/schema.prisma says that prisma/migrations does not: Prisma's own engine, in WebAssembly, without a server.

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
/** The engine's exit code for "there is a difference". */
const DIFFERENT = 2;
/** Types of columns, as PostgreSQL numbers them: one letter (`"char"`), and any text. */
const LETTER = 18;
const TEXT = 25;

/**
 * Computes the SQL that a new migration needs, so that migrations and schema agree. Takes some seconds: the migrations
 * are applied to a database in memory.
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

/** The first migration begins with it. It is there everywhere, and not everyone may create one. */
function withoutSchema(sql: string): string {
  return sql.replace('-- CreateSchema\nCREATE SCHEMA IF NOT EXISTS "public";\n\n', '');
}

/** Node has it, but the types of Node 20 do not say so. */
declare const WebAssembly: {
  instantiate(wasm: Uint8Array, imports: object): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
};

/** The engine's JavaScript holds one instance for the whole process, so it can be loaded only once. */
let loaded: Promise<void> | undefined;

async function load(): Promise<void> {
  const script = createRequire(import.meta.url).resolve(ENGINE);
  const wasm = await readFile(script.replace(/\.js$/, '.wasm'));
  // Where the engine looks for someone to tell why it breaks down.
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

/** The engine asks for a database of its own each time it compares. */
function scratchDatabases(): SqlMigrationAwareDriverAdapterFactory & { close(): Promise<void> } {
  const opened: Promise<{ close(): Promise<void> }>[] = [];
  const connect = async (): Promise<SqlDriverAdapter> => {
    const opening = openMemory();
    opened.push(opening);
    const { pool } = await opening;
    const query = pool.query.bind(pool);
    const adapter = await new PrismaPg(pool).connect();
    teachLetters(pool, adapter);
    // Its own cuts a script at every semicolon, those within functions too. What fails is told here, since the engine
    // says no more than that something did.
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

/** The engine reads columns of one letter in the system's tables, whose type the driver adapter does not know. */
function teachLetters(pool: pg.Pool, adapter: SqlDriverAdapter): void {
  const letters = new WeakMap<object, number[]>();
  const query = pool.query.bind(pool);
  const asText = async (config: pg.QueryConfig) => {
    const result = await query(config);
    const found = result.fields.flatMap((field, index) => (field.dataTypeID === LETTER ? index : []));
    for (const index of found) Object.assign(result.fields[index] ?? {}, { dataTypeID: TEXT });
    // The adapter hands on the very rows.
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
