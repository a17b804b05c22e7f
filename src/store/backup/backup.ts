// Backups: all lasting data in one file, from which an embedded or a server database can be restored.

import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { appliedMigrations, knownMigrations, migrate } from '../database/migrations.ts';
import { openDatabase } from '../database/open-database.ts';
import { keyFile } from '../server-key/server-key.ts';
import type { StoreSettings } from '../settings.ts';
import { BackupError, checkBackupFile, type RowCounts, writeBackupFile, writeFileAtomically } from './backup-file.ts';
import { dumpRows, loadRows, tablesInOrder } from './backup-rows.ts';

export { BackupError } from './backup-file.ts';

/** The part of the configuration that says where the data is. */
export type DatabaseLocation = Pick<StoreSettings, 'databaseUrl' | 'databasePool' | 'dataDir' | 'serverKey'>;

/**
 * Writes the database that the configuration names, and its server key, into a file. The embedded database must not be
 * in use; a server may be.
 * @returns how many rows of each table.
 * @throws {BackupError} when there is nothing to back up. {EmbeddedError} when a gateway uses the embedded database.
 */
export async function backup(location: DatabaseLocation, file: string): Promise<RowCounts> {
  if (location.databaseUrl === undefined && !existsSync(join(location.dataDir, 'db'))) {
    throw new BackupError(`There is no database in ${location.dataDir}: set DATA_DIR or DATABASE_URL.`);
  }
  const serverKey = location.serverKey ?? (await readKey(location.dataDir));
  if (!serverKey) {
    throw new BackupError(
      `There is no ${keyFile(location.dataDir)}, and without the server key a backup is of no use: set SERVER_KEY.`,
    );
  }
  return withDatabase(location, (pool) =>
    withTransaction(pool, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async (client) => {
      const migrations = await appliedMigrations(client);
      if (migrations.length === 0) throw new BackupError('The database is empty: there is nothing to back up.');
      const tables = await tablesInOrder(client);
      return writeBackupFile(file, { migrations, serverKey }, dumpRows(client, tables), tables);
    }),
  );
}

/**
 * Restores a backup into the database that the configuration names, all rows or none, and migrates it to this code's schema.
 * Unless `SERVER_KEY` is set, the server key is written to its file in the data directory (mode 0600).
 * @param migrationsDir this code's migrations.
 * @returns how many rows of each table.
 * @throws {BackupError} when the file is not whole, is newer than this code, or the database or the server key belongs
 * to another gateway. {EmbeddedError} when a gateway uses the embedded database.
 */
export async function restore(location: DatabaseLocation, file: string, migrationsDir: string): Promise<RowCounts> {
  const { migrations, serverKey, rows } = await checkBackupFile(file);
  refuseNewer(migrations, await knownMigrations(migrationsDir), file);
  await refuseOtherKey(location, serverKey);
  return withDatabase(location, async (pool) => {
    // The rows fit the schema that they were written with. Later migrations then change them as usual.
    await migrate(pool, migrationsDir, { upTo: migrations.at(-1) });
    await withTransaction(pool, 'BEGIN', async (client) => {
      await refuseUsed(client, migrations);
      await loadRows(client, file, rows);
      // Written before the commit: rows without their key are useless, but a key without rows does no harm.
      if (location.serverKey === undefined) await writeKey(location.dataDir, serverKey);
    });
    await migrate(pool, migrationsDir);
    return rows;
  });
}

async function withDatabase<T>(location: DatabaseLocation, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  // When the database is lost, the query in progress fails with the same reason.
  const { pool, close } = await openDatabase(location, { onFatal: () => undefined });
  try {
    return await work(pool);
  } finally {
    await close();
  }
}

async function withTransaction<T>(pool: pg.Pool, begin: string, work: (client: pg.ClientBase) => Promise<T>) {
  const client = await pool.connect();
  let done = false;
  try {
    // A large table may take longer than a query of the API is allowed to.
    await client.query('SET statement_timeout = 0');
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    done = true;
    return result;
  } finally {
    // Ending the connection ends a transaction that is still open.
    client.release(!done);
  }
}

async function readKey(dataDir: string): Promise<Buffer | undefined> {
  const text = await readFile(keyFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : Buffer.from(text.trim(), 'base64');
}

async function writeKey(dataDir: string, key: Buffer): Promise<void> {
  if (await readKey(dataDir)) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFileAtomically(keyFile(dataDir), (handle) => handle.writeFile(`${key.toString('base64')}\n`));
}

function refuseNewer(migrations: string[], known: string[], file: string): void {
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new BackupError(
      `${file} was made by a newer gateway: it has ${unknown.join(', ')}, which this version does not know. ` +
        'Restore it with that version, or a later one.',
    );
  }
}

async function refuseOtherKey({ serverKey, dataDir }: DatabaseLocation, wanted: Buffer): Promise<void> {
  if (serverKey) {
    if (!serverKey.equals(wanted)) {
      throw new BackupError('SERVER_KEY is not the key of the backup: unset it, and the key is restored as well.');
    }
    return;
  }
  const present = await readKey(dataDir);
  if (present && !present.equals(wanted)) {
    throw new BackupError(`${keyFile(dataDir)} is the key of another gateway: set DATA_DIR to a new directory.`);
  }
}

async function refuseUsed(client: pg.ClientBase, migrations: string[]): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM "account" LIMIT 1');
  if (rows.length > 0) throw new BackupError('The database is in use: restore into an empty one.');
  const applied = await appliedMigrations(client);
  const later = applied.filter((name) => !migrations.includes(name));
  if (later.length > 0) {
    throw new BackupError(
      `The database has the schema of a later version (${later.join(', ')}): restore into an empty one.`,
    );
  }
}
