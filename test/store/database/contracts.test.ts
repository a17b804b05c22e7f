// Migrations that expand the schema, which earlier code lives with, and those that contract it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  knownMigrations,
  type MigrateOptions,
  MigrationError,
  migrate,
} from '../../../src/store/database/migrations.ts';
import { takesAway } from '../../../src/tools/schema-diff.ts';
import { emptyDatabases, migrationsDir } from '../support.ts';
import { directoryOf, TABLE_A, TABLE_B } from './migration-files.ts';

/** Migrations up to this one say nothing of it: all code that can be refused knows them. */
const BEFORE_CONTRACTS = '20261124100000_tunnel_legs';

let databases: Awaited<ReturnType<typeof emptyDatabases>>;
beforeAll(async () => {
  databases = await emptyDatabases();
});
afterAll(() => databases.close());

describe('code of before a migration', () => {
  const LESS = { '3_less': '-- contract: 2_b\nDROP TABLE "a";' };

  test('goes on with what expands the schema', async () => {
    const pool = await databases.next();
    await migrate(pool, await directoryOf({ ...TABLE_A, ...TABLE_B }));
    const query = vi.spyOn(pool, 'query');
    onTestFinished(() => query.mockRestore());
    expect(await migrate(pool, await directoryOf(TABLE_A))).toEqual([]);
    expect(query).toHaveBeenCalledOnce();
  });

  test('is refused after one that contracts it, unless it knows what that one needs', async () => {
    const pool = await databases.next();
    await migrate(pool, await directoryOf({ ...TABLE_A, ...TABLE_B, ...LESS }));
    const older = migrate(pool, await directoryOf(TABLE_A));
    await expect(older).rejects.toThrow(MigrationError);
    await expect(older).rejects.toThrow('3_less took away what this version uses. Start the version that made it');
    expect(await migrate(pool, await directoryOf({ ...TABLE_A, ...TABLE_B }))).toEqual([]);
    const { rows } = await pool.query('SELECT "logs" FROM "_prisma_migrations" ORDER BY "migration_name"');
    expect(rows).toEqual([{ logs: null }, { logs: null }, { logs: 'contract: 2_b' }]);
  });

  test('keeps one that contracts from being applied while it runs, and no other', async () => {
    const pool = await databases.next();
    const directory = await directoryOf({ ...TABLE_A, ...TABLE_B, ...LESS });
    const asked: string[] = [];
    let running = ['node_1', 'node_2'];
    const options: MigrateOptions = {
      findOlderNodes: async (_, migration) => {
        asked.push(migration);
        return running;
      },
    };
    const refused = migrate(pool, directory, options);
    await expect(refused).rejects.toThrow('3_less takes away what versions before 2_b use');
    await expect(refused).rejects.toThrow('(node_1, node_2). Upgrade to a version that has 2_b first, or stop all');
    await expect(pool.query('SELECT * FROM "a"')).resolves.toMatchObject({ rows: [] });
    running = [];
    expect(await migrate(pool, directory, options)).toEqual(['3_less']);
    expect(asked).toEqual(['2_b', '2_b']);
  });

  test('is refused when it has others that the database lacks', async () => {
    const pool = await databases.next();
    await migrate(pool, await directoryOf({ ...TABLE_A, ...TABLE_B }));
    const other = migrate(pool, await directoryOf({ ...TABLE_A, '1_b': 'CREATE TABLE "c" ("id" TEXT);' }));
    await expect(other).rejects.toThrow('that has 2_b, and lacks 1_b. Start a version that has all of them.');
  });
});

test('a migration that needs one which is not before it is refused', async () => {
  const pool = await databases.next();
  for (const needs of ['1_x', '2_b', '3_c']) {
    const directory = await directoryOf({ ...TABLE_A, '2_b': `-- contract: ${needs}\nDROP TABLE "a";` });
    await expect(migrate(pool, directory)).rejects.toThrow(`2_b needs ${needs}, which is none before it`);
  }
});

test('of this code, those that take something away say what they need', async () => {
  const names = (await knownMigrations(migrationsDir)).filter((name) => name > BEFORE_CONTRACTS);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const sql = await readFile(join(migrationsDir, name, 'migration.sql'), 'utf8');
    expect(takesAway(sql), name).toBe(/^-- contract: /m.test(sql));
  }
});

test('what drops, renames or demands more takes something away; what adds does not', () => {
  for (const sql of [
    'DROP TABLE "a";',
    'ALTER TABLE "a" DROP COLUMN "b";',
    'DROP INDEX "a_key";',
    'ALTER TABLE "a" RENAME TO "b";',
    'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
    'ALTER TABLE "a" ALTER COLUMN "b" SET DATA TYPE TEXT;',
    'ALTER TABLE "a" ADD COLUMN     "b" TEXT NOT NULL;',
    'ALTER TABLE "a" ADD COLUMN     "b" TEXT NOT NULL DEFAULT \'\',\nADD COLUMN     "c" TEXT COLLATE "C" NOT NULL;',
  ])
    expect(takesAway(sql), sql).toBe(true);
  for (const sql of [
    'CREATE TABLE "a" ("id" TEXT NOT NULL);',
    'CREATE INDEX "a_b_idx" ON "a"("b");',
    'ALTER TABLE "a" ADD COLUMN     "b" TEXT;\n\nCREATE TABLE "c" ("id" TEXT NOT NULL);',
    'ALTER TABLE "a" ADD COLUMN     "b" TEXT NOT NULL DEFAULT \'\';',
    'ALTER TABLE "a" ALTER COLUMN "b" DROP NOT NULL;',
    '-- DROP TABLE "a"\nCREATE SEQUENCE "a";',
  ])
    expect(takesAway(sql), sql).toBe(false);
});
