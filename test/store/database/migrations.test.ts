import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { migrate } from '../../../src/store/database/migrations.ts';
import { pendingSchemaChange, sortIdsByBytes } from '../../../src/tools/schema-diff.ts';
import { openServerPool } from '../../support/gateway/server-pool.ts';
import { root } from '../../support/root.ts';
import { emptyDatabases, migrationsDir, newServerDatabase, onServer, temporaryDirectory } from '../support.ts';
import { add, directoryOf, TABLE_A, TABLE_B } from './migration-files.ts';

let databases: Awaited<ReturnType<typeof emptyDatabases>>;
beforeAll(async () => {
  databases = await emptyDatabases();
});
afterAll(() => databases.close());

test('a new database gets every table, and a second start finds nothing to do', async () => {
  const pool = await databases.next();
  const names = (await readdir(migrationsDir)).filter((name) => !name.endsWith('.toml')).sort();
  expect(await migrate(pool, migrationsDir)).toEqual(names);
  await expect(pool.query('SELECT * FROM "idempotent_answer"')).resolves.toMatchObject({ rows: [] });
  expect(await migrate(pool, migrationsDir)).toEqual([]);
});

test('ids sort by their bytes, whatever the locale of the database', async () => {
  const pool = await databases.next();
  await migrate(pool, migrationsDir);
  const { rows } = await pool.query(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' AND data_type = 'text'
       AND (column_name = 'id' OR column_name LIKE '%\\_id') AND collation_name IS DISTINCT FROM 'C'`,
  );
  expect(rows).toEqual([]);
});

test('a start that finds nothing to do asks the database once', async () => {
  const pool = await databases.next();
  const directory = await directoryOf(TABLE_A);
  await migrate(pool, directory);
  const query = vi.spyOn(pool, 'query');
  const connect = vi.spyOn(pool, 'connect');
  onTestFinished(() => {
    query.mockRestore();
    connect.mockRestore();
  });
  await migrate(pool, directory);
  expect(query).toHaveBeenCalledOnce();
});

test('only what is missing is applied, in the order of the names', async () => {
  const pool = await databases.next();
  const directory = await directoryOf(TABLE_A);
  await migrate(pool, directory);
  await add(directory, { '3_c': 'ALTER TABLE "b" ADD COLUMN "c" TEXT;', ...TABLE_B });
  expect(await migrate(pool, directory, { upTo: '2_b' })).toEqual(['2_b']);
  expect(await migrate(pool, directory)).toEqual(['3_c']);
});

test('what is written down is what Prisma would write', async () => {
  const pool = await databases.next();
  await migrate(pool, await directoryOf({ '1_a': 'CREATE TABLE "a" ("id" TEXT);\r\n' }));
  const { rows } = await pool.query('SELECT * FROM "_prisma_migrations"');
  expect(rows).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
      migration_name: '1_a',
      started_at: expect.any(Date),
      finished_at: expect.any(Date),
      rolled_back_at: null,
      logs: null,
      applied_steps_count: 1,
    },
  ]);
});

test('a migration that was edited after it was applied is refused', async () => {
  const pool = await databases.next();
  const directory = await directoryOf(TABLE_A);
  await migrate(pool, directory);
  await add(directory, { '1_a': 'CREATE TABLE "a" ("id" TEXT, "more" TEXT);' });
  await expect(migrate(pool, directory)).rejects.toThrow('1_a was edited after it was applied');
});

test('a migration that failed half-way under Prisma is refused', async () => {
  const pool = await databases.next();
  const directory = await directoryOf(TABLE_A);
  await migrate(pool, directory);
  await pool.query('UPDATE "_prisma_migrations" SET "finished_at" = NULL');
  await expect(migrate(pool, directory)).rejects.toThrow('1_a failed half-way earlier');
  await pool.query('UPDATE "_prisma_migrations" SET "rolled_back_at" = now()');
  await pool.query('DROP TABLE "a"');
  expect(await migrate(pool, directory)).toEqual(['1_a']);
});

test('a migration that fails leaves nothing behind, and can be repaired', async () => {
  const pool = await databases.next();
  const directory = await directoryOf({ ...TABLE_A, '2_b': 'CREATE TABLE "b" ("id" TEXT); SELECT 1/0;' });
  await expect(migrate(pool, directory)).rejects.toThrow(
    '2_b cannot be applied, and nothing of it was: division by zero',
  );
  const { rows } = await pool.query(`SELECT to_regclass('b') AS b, to_regclass('a') IS NOT NULL AS a`);
  expect(rows).toEqual([{ b: null, a: true }]);
  await add(directory, TABLE_B);
  expect(await migrate(pool, directory)).toEqual(['2_b']);
});

test('processes that start together apply each migration once', async () => {
  const pool = await databases.next();
  const directory = await directoryOf({ ...TABLE_A, ...TABLE_B });
  const applied = await Promise.all([1, 2, 3].map(() => migrate(pool, directory)));
  expect(applied.flat().sort()).toEqual(['1_a', '2_b']);
});

test.runIf(onServer)('a server without advisory locks is migrated by one process at a time as well', async () => {
  const url = await newServerDatabase();
  const name = new URL(url).pathname.slice(1);
  const prepare = new pg.Client({ connectionString: url });
  await prepare.connect();
  await prepare.query(`CREATE FUNCTION "pg_advisory_lock"(integer) RETURNS void LANGUAGE plpgsql AS
    $$ BEGIN RAISE feature_not_supported; END $$`);
  await prepare.query(`ALTER DATABASE "${name}" SET search_path = public, pg_catalog`);
  await prepare.end();

  const directory = await directoryOf({ ...TABLE_A, ...TABLE_B });
  const pools = [1, 2, 3].map(() => openServerPool(url, 2));
  onTestFinished(async () => void (await Promise.all(pools.map(({ close }) => close()))));
  const applied = await Promise.all(pools.map(({ pool }) => migrate(pool, directory)));
  expect(applied.flat().sort()).toEqual(['1_a', '2_b']);
});

test.skipIf(onServer)('the migrations say what prisma/schema.prisma says', { timeout: 180_000 }, async () => {
  const prismaDir = fileURLToPath(new URL('../../../prisma', import.meta.url));
  expect(await pendingSchemaChange(prismaDir)).toBeUndefined();
  // With a change it would write one.
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'dist/tools/migration.js'), 'none']);
  expect(stdout).toBe('no change: the migrations say what prisma/schema.prisma says\n');
});

test.skipIf(onServer)('a change of the schema becomes SQL, its ids sorting by their bytes', async () => {
  const prismaDir = await temporaryDirectory();
  await writeFile(
    join(prismaDir, 'schema.prisma'),
    'datasource db {\n  provider = "postgresql"\n}\nmodel Thing {\n  id String @id\n  otherId String? @map("other_id")\n  name String\n}\n',
  );
  const sql = await pendingSchemaChange(prismaDir);
  expect(sql).toContain('"id" TEXT COLLATE "C" NOT NULL');
  expect(sql).toContain('"other_id" TEXT COLLATE "C",');
  expect(sql).toContain('"name" TEXT NOT NULL');
});

test('only ids are sorted by their bytes, and none twice', () => {
  const changed = 'ALTER TABLE "t" ADD COLUMN     "a_id" TEXT, ALTER COLUMN "id" SET DATA TYPE TEXT;';
  const sorted =
    'ALTER TABLE "t" ADD COLUMN     "a_id" TEXT COLLATE "C", ALTER COLUMN "id" SET DATA TYPE TEXT COLLATE "C";';
  expect(sortIdsByBytes(changed)).toBe(sorted);
  expect(sortIdsByBytes(sorted)).toBe(sorted);
  const others = '"ids" TEXT[], "all_id" TEXT[], "name" TEXT NOT NULL';
  expect(sortIdsByBytes(others)).toBe(others);
});
