// The file of a backup: gzip'd lines of JSON.
//
//   {"format":"tunnel-gateway backup","version":1,"createdAt":"…","migrations":["…"]}
//   {"serverKey":"…"}                      base64
//   ["account",{"id":"…", …}]              one line per row, every table after those it refers to
//   {"rows":{"account":1, …}}              the last line: a file without it was cut short

import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';

const FORMAT = 'tunnel-gateway backup';
const VERSION = 1;
const ROW = /^\["([a-z_]+)",(\{.*\})\]$/;

/** A backup cannot be made or restored; the text says why, and is meant for an operator. */
export class BackupError extends Error {}

const headerLine = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  createdAt: z.iso.datetime(),
  migrations: z.array(z.string()).min(1),
});
const keyLine = z.object({ serverKey: z.base64() });
const trailerLine = z.object({ rows: z.record(z.string(), z.number()) });

/** Rows by table. */
export type RowCounts = Record<string, number>;

export interface BackupContents {
  createdAt: string;
  /** The migrations of the database it was made of, oldest first. */
  migrations: string[];
  serverKey: Buffer;
  rows: RowCounts;
}

export interface BackupRow {
  table: string;
  /** The row as JSON: kept as text, so that no number loses digits on its way. */
  json: string;
}

/**
 * Writes a backup, complete or not at all. Only its owner can read it (mode 0600), because it holds the server key.
 * @returns how many rows it has.
 */
export async function writeBackupFile(
  file: string,
  { migrations, serverKey }: Pick<BackupContents, 'migrations' | 'serverKey'>,
  rows: AsyncIterable<BackupRow>,
  tables: string[],
): Promise<RowCounts> {
  const counts: RowCounts = Object.fromEntries(tables.map((table) => [table, 0]));
  async function* lines() {
    yield line({ format: FORMAT, version: VERSION, createdAt: new Date().toISOString(), migrations });
    yield line({ serverKey: serverKey.toString('base64') });
    for await (const { table, json } of rows) {
      counts[table] = (counts[table] ?? 0) + 1;
      yield `["${table}",${json}]\n`;
    }
    yield line({ rows: counts });
  }
  await writeFileAtomically(file, (handle) =>
    pipeline(Readable.from(lines()), createGzip(), (packed: AsyncIterable<Buffer>) => writeFile(handle, packed)),
  );
  return counts;
}

/** Writes a temporary file (mode 0600), syncs it, and renames it. */
export async function writeFileAtomically(
  file: string,
  write: (handle: FileHandle) => Promise<unknown>,
): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (process.platform === 'win32') return;
  const directory = await open(dirname(file), 'r');
  await directory.sync().finally(() => directory.close());
}

/**
 * Reads a whole backup, and compares its rows with its own counts.
 * @throws {BackupError} when the file is cut short, damaged, or not a backup.
 */
export async function checkBackupFile(file: string): Promise<BackupContents> {
  const found: RowCounts = {};
  let header: z.infer<typeof headerLine> | undefined;
  let serverKey: Buffer | undefined;
  let rows: RowCounts | undefined;
  for await (const text of readLines(file)) {
    if (rows) throw new BackupError(`${file} is damaged: there is something after its end.`);
    const row = parseRow(text);
    if (header && serverKey && row) found[row.table] = (found[row.table] ?? 0) + 1;
    else if (!header) header = parse(headerLine, text, file);
    else if (!serverKey) serverKey = Buffer.from(parse(keyLine, text, file).serverKey, 'base64');
    else rows = parse(trailerLine, text, file).rows;
  }
  if (!header || !serverKey || !rows) throw new BackupError(`${file} is cut short: its last line is missing.`);
  const tables = new Set([...Object.keys(rows), ...Object.keys(found)]);
  for (const table of tables) {
    const [actual, expected] = [found[table] ?? 0, rows[table] ?? 0];
    if (actual !== expected)
      throw new BackupError(`${file} is damaged: it has ${actual} rows of "${table}" and should have ${expected}.`);
  }
  return { createdAt: header.createdAt, migrations: header.migrations, serverKey, rows };
}

/** The rows of a backup, in the order in which they can be inserted. */
export async function* readRows(file: string): AsyncGenerator<BackupRow> {
  for await (const text of readLines(file)) {
    const row = parseRow(text);
    if (row) yield row;
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function parseRow(text: string): BackupRow | undefined {
  const [, table, json] = ROW.exec(text) ?? [];
  return table !== undefined && json !== undefined ? { table, json } : undefined;
}

function parse<T>(schema: z.ZodType<T>, text: string, file: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BackupError(`${file} is damaged, or not a backup that this version can read.`, { cause });
  }
}

async function* readLines(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const unpacked = createGunzip().setEncoding('utf8');
  source.on('error', (error) => unpacked.destroy(error)).pipe(unpacked);
  let rest = '';
  try {
    for await (const chunk of unpacked as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (cause) {
    throw new BackupError(`${file} cannot be read whole: ${cause instanceof Error ? cause.message : cause}.`, {
      cause,
    });
  } finally {
    source.destroy();
  }
  if (rest !== '') throw new BackupError(`${file} is cut short: its last line has no end.`);
}
