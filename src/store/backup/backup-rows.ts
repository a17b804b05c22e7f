import type pg from 'pg';
import { BackupError, type BackupRow, type RowCounts, readRows } from './backup-file.ts';

/** Tables of live objects, which do not exist after a restore, tables of figures, and tables that the migrations fill. */
const EXCLUDED_TABLES = new Set([
  'node',
  'tunnel_session',
  'tunnel',
  'tunnel_leg',
  'endpoint',
  'claim',
  'site',
  'traffic_stat',
  'traffic_task',
  'endpoint_health',
  'endpoint_day',
  'alert_evaluator',
  'browser_session',
  'sign_in_link',
  'app_session',
  '_prisma_migrations',
  '_gateway_migration_lock',
]);
/**
 * Columns of tables that refer to each other: a domain refers to its certificate, that to what renews it, and that to the domain. They
 * are filled when all rows are there.
 */
const LATE_REFERENCES: ReadonlyMap<string, string> = new Map([['tls_certificate', 'managed_certificate_id']]);
const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 1024 * 1024;

/** Selects the columns with a sequence, and their sequences. */
const SEQUENCES = `
  SELECT table_name AS "table", column_name AS "column", pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
  FROM information_schema.columns
  WHERE table_schema = current_schema() AND column_default LIKE 'nextval(%'`;

/** The tables of a backup, each after those that it refers to, but for late references. */
export async function tablesInOrder(client: pg.ClientBase): Promise<string[]> {
  const tables = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name`,
  );
  const references = await client.query<{ child: string; parent: string; column: string }>(
    `SELECT child.relname AS child, parent.relname AS parent, a.attname AS "column" FROM pg_constraint AS k
     JOIN pg_class AS child ON child.oid = k.conrelid JOIN pg_class AS parent ON parent.oid = k.confrelid
     JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     JOIN pg_namespace AS n ON n.oid = child.relnamespace
     WHERE k.contype = 'f' AND n.nspname = current_schema()`,
  );
  const early = references.rows.filter(({ child, column }) => LATE_REFERENCES.get(child) !== column);
  const waiting = new Set(tables.rows.map(({ name }) => name).filter((name) => !EXCLUDED_TABLES.has(name)));
  const ordered: string[] = [];
  while (waiting.size > 0) {
    const free = [...waiting].filter((name) =>
      early.every(({ child, parent }) => child !== name || parent === name || !waiting.has(parent)),
    );
    if (free.length === 0) throw new Error(`the tables ${[...waiting].join(', ')} refer to each other`);
    for (const name of free) waiting.delete(name);
    ordered.push(...free);
  }
  return ordered;
}

/** Reads tables row by row, within a transaction. */
export async function* dumpRows(client: pg.ClientBase, tables: string[]): AsyncGenerator<BackupRow> {
  for (const table of tables) {
    await client.query(`DECLARE "backup" CURSOR FOR SELECT row_to_json(t)::text AS json FROM "${table}" AS t`);
    for (;;) {
      const { rows } = await client.query<{ json: string }>(`FETCH ${BATCH_ROWS} FROM "backup"`);
      for (const { json } of rows) yield { table, json };
      if (rows.length < BATCH_ROWS) break;
    }
    await client.query('CLOSE "backup"');
  }
}

/**
 * Replaces the contents of the tables by a backup's, within a transaction.
 * @param expected how many rows of each table the backup has.
 * @throws {BackupError} when it has rows of a table that is not there, or out of order.
 */
export async function loadRows(client: pg.ClientBase, file: string, expected: RowCounts): Promise<void> {
  const tables = await tablesInOrder(client);
  const unknown = Object.keys(expected).filter((table) => !tables.includes(table));
  if (unknown.length > 0) throw new BackupError(`${file} has tables that the database lacks: ${unknown.join(', ')}.`);
  for (const table of tables.toReversed()) await client.query(`DELETE FROM "${table}"`);

  for await (const { table, rows } of batches(readRows(file))) {
    // The name comes from a file. Only the name of an existing table may become part of a statement.
    if (!tables.includes(table)) throw new BackupError(`${file} has rows of an unknown table "${table}".`);
    const names = await earlyColumns(client, table);
    const values = `json_populate_recordset(NULL::"${table}", $1::json)`;
    await client.query(`INSERT INTO "${table}" (${names}) SELECT ${names} FROM ${values}`, [`[${rows.join(',')}]`]);
  }
  await fillLateReferences(client, file);
  await advanceSequences(client);
  for (const [table, count] of Object.entries(expected)) {
    const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM "${table}"`);
    if (Number(rows[0]?.count) !== count) throw new BackupError(`${file} changed while it was being restored.`);
  }
}

/** The columns of a table that are filled at once, quoted. */
async function earlyColumns(client: pg.ClientBase, table: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  const early = rows.filter(({ name }) => LATE_REFERENCES.get(table) !== name);
  return early.map(({ name }) => `"${name}"`).join();
}

async function fillLateReferences(client: pg.ClientBase, file: string): Promise<void> {
  for await (const { table, rows } of batches(readRows(file))) {
    const column = LATE_REFERENCES.get(table);
    if (column === undefined) continue;
    await client.query(
      `UPDATE "${table}" AS kept SET "${column}" = known."${column}"
       FROM json_populate_recordset(NULL::"${table}", $1::json) AS known WHERE kept.id = known.id`,
      [`[${rows.join(',')}]`],
    );
  }
}

/** Advances the sequences, so that new rows get numbers above those of the loaded rows. */
async function advanceSequences(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(SEQUENCES);
  for (const { table, column, sequence } of rows)
    await client.query(`SELECT setval($1, coalesce(max("${column}"), 0) + 1, false) FROM "${table}"`, [sequence]);
}

async function* batches(rows: AsyncIterable<BackupRow>): AsyncGenerator<{ table: string; rows: string[] }> {
  let batch: { table: string; rows: string[] } = { table: '', rows: [] };
  let characters = 0;
  for await (const { table, json } of rows) {
    const full = batch.rows.length >= BATCH_ROWS || characters + json.length > BATCH_CHARACTERS;
    if (batch.rows.length > 0 && (full || table !== batch.table)) {
      yield batch;
      batch = { table, rows: [] };
      characters = 0;
    }
    batch.table = table;
    batch.rows.push(json);
    characters += json.length;
  }
  if (batch.rows.length > 0) yield batch;
}
