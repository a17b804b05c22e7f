import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { backup, type DatabaseLocation, restore } from '../../src/store/backup/backup.ts';
import { openDatabase } from '../../src/store/database/open-database.ts';
import { keyFile } from '../../src/store/server-key/server-key.ts';
import { copyCluster } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';
import { emptyDirectory, migrationsDir, temporaryDirectory } from './support.ts';

const CREDENTIALS = 1203;
const TABLES = [
  'account',
  'owner',
  'credential',
  'reserved_domain',
  'tls_certificate',
  'managed_certificate',
  'certificate_order',
  'acme_challenge',
  'acme_account',
  'edge',
  'edge_hostport',
  'event_destination',
  'event_batch',
  'setting',
  'audit_entry',
  'traffic_capture',
];

/** A gateway with rows of every shape, and a backup of it. */
let used: DatabaseLocation;
let file: string;
/** What the tool printed that made it. */
let printed: string;
beforeAll(async () => {
  const dataDir = await mkdtemp(join(inject('run'), 'directory-'));
  await copyCluster('migrated', dataDir);
  used = { databaseUrl: undefined, databasePool: 2, dataDir, serverKey: undefined };
  file = join(used.dataDir, 'backup');
  await fill(used);
  printed = await tool('backup', used, file);
});
afterAll(() => rm(used.dataDir, { recursive: true }));

async function embedded(): Promise<DatabaseLocation> {
  return { databaseUrl: undefined, databasePool: 2, dataDir: await emptyDirectory(), serverKey: undefined };
}

async function using<T>(place: DatabaseLocation, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const { pool, close } = await openDatabase(place, { onFatal: (text) => expect.unreachable(text) });
  return work(pool).finally(close);
}

async function fill(place: DatabaseLocation): Promise<void> {
  await writeFile(keyFile(place.dataDir), `${randomBytes(32).toString('base64')}\n`);
  await using(place, async (pool) => {
    await pool.query(`
      INSERT INTO "account" VALUES ('ac_1', '2026-11-21T09:00:00.123Z');
      INSERT INTO "owner" VALUES ('bot_1', 'ac_1', 'BOT', E'tab\\tline\\nquote"back\\\\slash é 😀', 'ADMIN', true, now());
      INSERT INTO "credential" SELECT 'cr_' || n, 'ac_1', 'bot_1', '', '', ARRAY['bind:*', 'a,b', '{"}'], 'd' || n, now()
        FROM generate_series(1, ${CREDENTIALS}) AS n;
      INSERT INTO "reserved_domain" VALUES ('rd_1', 'ac_1', 'a.example', '', '', '', 'c.example', NULL,
        '{"big": 12345678901234567890, "nested": {"none": null}}', now());
      INSERT INTO "managed_certificate" ("id", "domain_id", "account_id", "names", "private_key_type")
        VALUES ('mcert_1', 'rd_1', 'ac_1', '{a.example}', 'ecdsa');
      INSERT INTO "tls_certificate" ("id", "account_id", "certificate_pem", "private_key", "subject", "dns_names",
        "issuer_common_name", "serial_number", "private_key_type", "not_before", "not_after", "managed_certificate_id")
        VALUES ('cert_1', 'ac_1', 'pem', 'sealed', '{}', '{a.example}', 'CA', '01', 'ecdsa', now(), now(), 'mcert_1');
      UPDATE "reserved_domain" SET "certificate_id" = 'cert_1';
      INSERT INTO "certificate_order" ("id", "managed_certificate_id", "account_id", "directory_url", "names",
        "registered_domain", "is_renewal", "ordered_at")
        VALUES ('corder_1', 'mcert_1', 'ac_1', 'https://ca.example', '{a.example}', 'a.example', false, now());
      INSERT INTO "acme_challenge" ("id", "managed_certificate_id", "kind", "name", "value", "expires_at")
        VALUES ('chal_1', 'mcert_1', 'dns-01', 'a', 'b', now());
      INSERT INTO "acme_account" ("directory_url", "private_key") VALUES ('https://ca.example', 'sealed');
      INSERT INTO "edge" ("id", "account_id", "kind", "modules")
        VALUES ('edg_1', 'ac_1', 'HTTPS', '{"mutualTls": {"enabled": true}}');
      INSERT INTO "edge_hostport" VALUES ('a.example:443', 'edg_1', 'rd_1', 0);
      INSERT INTO "event_destination" VALUES ('ed_1', 'ac_1', '', '', 'json', '{"file": {"name": "a"}}', now());
      INSERT INTO "event_batch" ("destination_id", "is_traffic", "count", "bytes", "body")
        SELECT 'ed_1', false, 1, 3, '\\x1f00ff'::bytea FROM generate_series(1, 3);
      INSERT INTO "setting" VALUES ('check', 'value');
      INSERT INTO "audit_entry" ("id", "account_id", "created_at", "source", "action", "kind", "before")
        VALUES ('au_1', 'ac_1', now(), 'API', 'UPDATED', 'credential', '{"b": 1, "a": [null, "é"]}');
      INSERT INTO "traffic_capture" VALUES ('tcap_1', 'ac_1', 'http:a.example', 'http://a.example', 'bot_1', 0, '{x-own}',
        now(), now());
      INSERT INTO "node" VALUES ('n_1', now());
      INSERT INTO "tunnel_session" ("id", "account_id", "node_id", "client_id") VALUES ('ts_1', 'ac_1', 'n_1', 'c_1');
      INSERT INTO "claim" VALUES ('http:a.example', 'ac_1', 'cr_1', false, NULL);
    `);
  });
}

async function contents(pool: pg.Pool): Promise<unknown> {
  const tables = TABLES.map(async (table) => {
    const { rows } = await pool.query(`SELECT row_to_json(t)::text AS row FROM "${table}" AS t ORDER BY 1`);
    return [table, rows.map(({ row }) => row)];
  });
  return Promise.all(tables);
}

/** Runs `npm run backup` or `npm run restore` as an operator does. @returns what it prints. */
async function tool(name: 'backup' | 'restore', { dataDir }: DatabaseLocation, path: string): Promise<string> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const args = [join(root, `dist/tools/${name}.js`), path];
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
}

const lineOf = (name: string) => ({ account_id: 'ac_1', source: 'GATEWAY', user_agent: `npm run ${name}` });

/** Takes away what a tool has left behind what it did. @returns its lines in the audit trail. */
async function takeLines(pool: pg.Pool, action: string): Promise<unknown[]> {
  await pool.query(`DELETE FROM setting WHERE name = 'server_key_check'`); // As any start writes it.
  const sql = 'DELETE FROM audit_entry WHERE action::text = $1 RETURNING account_id, source, user_agent';
  return (await pool.query(sql, [action])).rows;
}

test('a backup carries everything to another directory', async () => {
  const [, all] = / is written: (\d+) rows and the server key\n/.exec(printed) ?? [];
  expect(Number(all)).toBeGreaterThan(CREDENTIALS);
  const target = await embedded();
  expect(await tool('restore', target, file)).toBe(`${file} is restored: ${all} rows\n`);

  const original = await using(used, async (pool) => {
    expect(await takeLines(pool, 'BACKED_UP')).toEqual([lineOf('backup')]);
    return contents(pool);
  });
  await using(target, async (pool) => {
    expect(await takeLines(pool, 'RESTORED')).toEqual([lineOf('restore')]);
    expect(await contents(pool)).toEqual(original);
    const { rows: added } =
      await pool.query(`INSERT INTO "event_batch" ("destination_id", "is_traffic", "count", "bytes", "body")
      VALUES ('ed_1', true, 1, 1, '\\x00') RETURNING id`);
    expect(added, 'the next number').toEqual([{ id: '4' }]);
  });
  expect(await readFile(keyFile(target.dataDir), 'utf8')).toBe(await readFile(keyFile(used.dataDir), 'utf8'));
  expect((await stat(keyFile(target.dataDir))).mode & 0o777).toBe(0o600);
});

test('what is live is not in a backup', async () => {
  const lines = gunzipSync(await readFile(file)).toString();
  for (const name of ['node', 'tunnel_session', 'tunnel', 'endpoint', 'claim', 'site'])
    expect(lines).not.toContain(`"${name}"`);
});

test('only its owner can read a backup, and nothing lies beside it', async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(used.dataDir)).sort()).toEqual(['backup', 'db', 'lock', 'server.key']);
});

test('a file that is cut short is refused, wherever it was cut', async () => {
  const whole = await readFile(file);
  const lines = gunzipSync(whole).toString().trimEnd().split('\n');
  const target = await embedded();
  const short = join(await temporaryDirectory(), 'cut');
  const cut = {
    'the file': whole.subarray(0, whole.length - 20),
    'the last line': gzipSync(`${lines.slice(0, -1).join('\n')}\n`),
    'a row': gzipSync(`${lines.toSpliced(5, 1).join('\n')}\n`),
    'half a line': gzipSync(lines.join('\n').slice(0, -3)),
    'everything after the start': gzipSync(`${lines[0]}\n`),
    everything: gzipSync(''),
  };
  for (const [what, bytes] of Object.entries(cut)) {
    await writeFile(short, bytes);
    await expect(restore(target, short, migrationsDir), what).rejects.toThrow(/cut short|damaged|read whole/);
  }
  await writeFile(short, 'not a backup at all');
  await expect(restore(target, short, migrationsDir)).rejects.toThrow('cannot be read whole');
  await expect(restore(target, join(short, 'missing'), migrationsDir)).rejects.toThrow('cannot be read whole');
  expect(await readdir(target.dataDir)).toEqual(['db']);
});

test('a database in use is left alone', async () => {
  await expect(restore(used, file, migrationsDir)).rejects.toThrow('The database is in use');
});

test('a data directory with another server key is left alone', async () => {
  const target = await embedded();
  await writeFile(keyFile(target.dataDir), `${randomBytes(32).toString('base64')}\n`);
  await expect(restore(target, file, migrationsDir)).rejects.toThrow('is the key of another gateway');
  const configured = { ...(await embedded()), serverKey: randomBytes(32) };
  await expect(restore(configured, file, migrationsDir)).rejects.toThrow('SERVER_KEY is not the key of the backup');
});

test('a backup of a newer gateway is refused', async () => {
  const later = join(await temporaryDirectory(), 'later');
  const lines = gunzipSync(await readFile(file)).toString();
  await writeFile(later, gzipSync(lines.replace(/("migrations":\[.*?)\]/, '$1,"99990101000000_later"]')));
  await expect(restore(await embedded(), later, migrationsDir)).rejects.toThrow('made by a newer gateway: it has 9999');
});

test('without a database or a server key there is nothing to back up', async () => {
  const empty = { ...(await embedded()), dataDir: await temporaryDirectory() };
  const nowhere = join(await temporaryDirectory(), 'backup');
  await expect(backup(empty, nowhere)).rejects.toThrow('There is no database');
  await expect(backup(await embedded(), nowhere)).rejects.toThrow('without the server key a backup is of no use');
  await expect(backup({ ...(await embedded()), serverKey: randomBytes(32) }, nowhere)).rejects.toThrow(
    'database is empty',
  );
  expect(await readdir(join(nowhere, '..'))).toEqual([]);
});

test('the embedded database of a running gateway is not backed up', async () => {
  await using(used, async () => {
    await expect(backup(used, file)).rejects.toThrow('is in use by another process');
  });
});
