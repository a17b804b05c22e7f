// Brings the database to this code's schema: plain SQL files, in Prisma's own table, so that `prisma migrate` agrees.
//
// A migration expands the schema: code of before it goes on with what it leaves. So this code uses a database that has migrations which
// it does not know. One that takes away what earlier code uses contracts the schema, and says so with the migration that code must know
// to live without that. It is written down, and refused while earlier code runs.

import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { withMigrationLock } from './migration-lock.ts';

const UNDEFINED_TABLE = '42P01';

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/** The database and the migrations of this code do not fit; the text says how, and what to do. */
export class MigrationError extends Error {}

/** The line of a migration that contracts the schema, as `-- contract: NAME`: code that knows the migration NAME lives with it. */
const CONTRACT = /^-- (contract: (\S+))\s*$/m;

interface Migration {
  name: string;
  sql: string;
  /** The migration that code must know to live with this one; undefined when it expands the schema. */
  needs: string | undefined;
  /** SHA-256 in hexadecimal. */
  checksum: string;
}

interface Applied {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  /** As `CONTRACT` has it, for one that contracts the schema. Prisma writes here why one has failed. */
  logs: string | null;
}

export interface MigrateOptions {
  /** The name of the last migration to apply; default: all. */
  upTo?: string;
  /** Finds the nodes that run on this database with code that does not know a migration. Left out: none does. */
  findOlderNodes?(on: Pick<pg.ClientBase, 'query'>, migration: string): Promise<string[]>;
}

/**
 * Applies the migrations that the database lacks, each in a transaction of its own; one process at a time does, the
 * others wait for it. When there is nothing to do that is one query.
 * @param directory holds `<name>/migration.sql`, applied in the order of the names.
 * @returns the names of those applied now.
 * @throws {MigrationError} when the database is too new for this code, a migration was edited, one failed, or one may not be
 * applied while older code runs.
 */
export async function migrate(
  pool: pg.Pool,
  directory: string,
  { upTo, findOlderNodes = async () => [] }: MigrateOptions = {},
): Promise<string[]> {
  const known = await readMigrations(directory);
  const wanted = upTo === undefined ? known : known.filter(({ name }) => name <= upTo);
  const before = await readApplied(pool);
  if (before && isFinished(before) && pending(known, wanted, before).length === 0) return [];

  return withMigrationLock(pool, async (client) => {
    await client.query(TABLE);
    // Whoever had the lock before may have done it all.
    const applied = (await readApplied(client)) ?? [];
    const failed = applied.find((row) => row.finished_at === null);
    if (failed) {
      throw new MigrationError(
        `The migration ${failed.migration_name} failed half-way earlier. Repair the database, then tell Prisma ` +
          `("prisma migrate resolve --applied" or "--rolled-back" ${failed.migration_name}).`,
      );
    }
    const missing = pending(known, wanted, applied);
    for (const migration of missing) {
      if (migration.needs !== undefined)
        refuseBesideOlder(migration.name, migration.needs, await findOlderNodes(client, migration.needs));
      await apply(client, migration);
    }
    return missing.map(({ name }) => name);
  });
}

/** The names of the migrations that are applied, oldest first; none when the database is empty. */
export async function appliedMigrations(on: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  return ((await readApplied(on)) ?? []).map((row) => row.migration_name).sort();
}

/** The names of the migrations that this code has, oldest first. */
export async function knownMigrations(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const read = async (name: string) => {
    const text = await readFile(join(directory, name, 'migration.sql'), 'utf8');
    // A checkout may have changed the ends of lines.
    const sql = text.replaceAll('\r\n', '\n');
    return { name, sql, needs: CONTRACT.exec(sql)?.[2], checksum: createHash('sha256').update(sql).digest('hex') };
  };
  const all = await Promise.all((await knownMigrations(directory)).map(read));
  const isWrong = ({ name, needs }: Migration) =>
    needs !== undefined && !all.some((other) => other.name === needs && other.name < name);
  const wrong = all.find(isWrong);
  if (wrong) throw new MigrationError(`The migration ${wrong.name} needs ${wrong.needs}, which is none before it.`);
  return all;
}

async function readApplied(on: Pick<pg.ClientBase, 'query'>): Promise<Applied[] | undefined> {
  try {
    const { rows } = await on.query<Applied>(
      `SELECT "migration_name", "checksum", "finished_at", "logs" FROM "_prisma_migrations"
       WHERE "rolled_back_at" IS NULL`,
    );
    return rows;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

/** One that is not finished may be under way in another process: only who has the lock can tell that it failed. */
function isFinished(applied: Applied[]): boolean {
  return applied.every((row) => row.finished_at !== null);
}

function pending(known: Migration[], wanted: Migration[], applied: Applied[]): Migration[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  const unknown = applied.filter((row) => !byName.has(row.migration_name));
  const done = new Set(applied.map((row) => row.migration_name));
  const missing = wanted.filter(({ name }) => !done.has(name));
  const contracts = unknown.filter(({ logs }) => {
    const [, , needs] = CONTRACT.exec(`-- ${logs}`) ?? [];
    return needs !== undefined && !byName.has(needs);
  });
  if (contracts.length > 0) {
    throw new MigrationError(
      `The database is newer than this gateway: ${listOf(contracts)} took away what this version uses. ` +
        'Start the version that made it, or a later one.',
    );
  }
  if (unknown.length > 0 && missing.length > 0) {
    throw new MigrationError(
      `This gateway is no earlier version of the one that made the database: that has ${listOf(unknown)}, and lacks ` +
        `${missing.map(({ name }) => name).join(', ')}. Start a version that has all of them.`,
    );
  }
  const edited = applied.find(({ migration_name, checksum }) => {
    const known = byName.get(migration_name);
    return known && known.checksum !== checksum;
  });
  if (edited) {
    throw new MigrationError(
      `The migration ${edited.migration_name} was edited after it was applied: its file and the database differ. ` +
        'Restore the file, and put the change into a new migration.',
    );
  }
  return missing;
}

const listOf = (applied: readonly Applied[]) => applied.map((row) => row.migration_name).join(', ');

/** @param olderNodes nodes that run and do not know the migration that the contracting one needs. */
function refuseBesideOlder(name: string, needs: string, olderNodes: readonly string[]): void {
  if (olderNodes.length === 0) return;
  throw new MigrationError(
    `The migration ${name} takes away what versions before ${needs} use, and such a version runs on this database ` +
      `(${olderNodes.join(', ')}). Upgrade to a version that has ${needs} first, or stop all gateways and start this one. ` +
      'One that was killed counts as running for NODE_LEASE_MS.',
  );
}

async function apply(client: pg.ClientBase, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(
      `INSERT INTO "_prisma_migrations"
         ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count", "logs")
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1, $4)`,
      [randomUUID(), checksum, name, CONTRACT.exec(sql)?.[1] ?? null],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`The migration ${name} cannot be applied, and nothing of it was: ${reason}`, {
      cause: error,
    });
  }
}
