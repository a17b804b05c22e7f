// Directories of migrations, as a version of the gateway has one.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support.ts';

export const TABLE_A = { '1_a': 'CREATE TABLE "a" ("id" TEXT);' };
export const TABLE_B = { '2_b': 'CREATE TABLE "b" ("id" TEXT);' };

export async function directoryOf(migrations: Record<string, string>): Promise<string> {
  const directory = await temporaryDirectory();
  await add(directory, migrations);
  return directory;
}

export async function add(directory: string, migrations: Record<string, string>): Promise<void> {
  for (const [name, sql] of Object.entries(migrations)) {
    await mkdir(join(directory, name), { recursive: true });
    await writeFile(join(directory, name, 'migration.sql'), sql);
  }
}
