// The database that everything is measured on: made for one run, filled, dropped.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { cpuTime } from './processes.js';

const CREDENTIALS = 10_000;
const OWNERS = 10;
/** What a created credential is called, and known by when it is removed again. */
export const MADE = 'made by the benchmark';

const server = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/test';

/**
 * @param {string} name
 * @returns {Promise<{ url: string, drop: () => Promise<void> }>}
 * @throws {Error} that says what to do, when there is no server.
 */
export async function createDatabase(name) {
  const admin = new pg.Client({ connectionString: server, connectionTimeoutMillis: 2000 });
  await admin.connect().catch((error) => {
    throw new Error(
      `There is no PostgreSQL server at ${server} (${error.message || error.code}). Set TEST_DATABASE_URL to one whose ` +
        'user may create databases.',
    );
  });
  await admin.query(`CREATE DATABASE "${name}"`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    async drop() {
      await admin.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
      await admin.end();
    },
  };
}

/**
 * Fills the gateway's tables. The account is the one its first start made.
 * @param {pg.Client} client
 * @param {string} dist
 * @returns {Promise<string[]>} the ids of the credentials.
 */
export async function fill(client, dist) {
  const { newId } = await import(pathToFileURL(join(dist, 'store/ids.js')).href);
  const { rows } = await client.query('SELECT id, account_id FROM owner');
  const { id: admin, account_id: account } = rows[0];
  const owners = Array.from({ length: OWNERS }, (_, n) => ({
    id: newId(n % 2 ? 'bot' : 'usr'),
    kind: n % 2 ? 'BOT' : 'USER',
    n,
  }));
  await client.query(
    `INSERT INTO owner (id, account_id, kind, subject, role)
      SELECT id, $1, kind::"OwnerKind", 'owner ' || n, 'MEMBER' FROM json_to_recordset($2) AS t (id text, kind text, n int)`,
    [account, JSON.stringify(owners)],
  );
  const holders = [admin, ...owners.map(({ id }) => id)];
  const credentials = Array.from({ length: CREDENTIALS }, (_, n) => ({
    id: newId('cr'),
    owner: holders[n % holders.length],
    n,
    acl: n % 3 ? [`bind:device-${n}.example.com`, 'bind:*.devices.example.com'] : [],
  }));
  await client.query(
    `INSERT INTO credential (id, account_id, owner_id, description, metadata, acl, digest)
      SELECT id, $1, owner, 'device ' || n || ' at site ' || n % 50, json_build_object('device', n, 'site', n % 50)::text,
        ARRAY(SELECT json_array_elements_text(acl)), 'digest ' || n
      FROM json_to_recordset($2) AS t (id text, owner text, n int, acl json)`,
    [account, JSON.stringify(credentials)],
  );
  await client.query('ANALYZE');
  return credentials.map(({ id }) => id);
}

/** Removes what a case wrote, so that each round meets the same tables. @param {pg.Client} client */
export async function removeMade(client) {
  await client.query('TRUNCATE audit_entry');
  const { rowCount } = await client.query('DELETE FROM credential WHERE description = $1', [MADE]);
  if (rowCount) await client.query('VACUUM credential');
}

/**
 * The CPU time of the server's processes that serve this database, but for this connection's own: microseconds by pid. What ends
 * meanwhile is not counted.
 * @param {pg.Client} client
 * @returns {Promise<Map<number, number>>} times that are NaN where the server is on another machine.
 */
export async function backendTimes(client) {
  const { rows } = await client.query(
    `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  );
  return new Map(rows.map(({ pid }) => [pid, backendTime(pid)]));
}

/** @param {number} pid */
function backendTime(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres') ? cpuTime(pid) : Number.NaN;
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'ESRCH') return 0; // It has ended since.
    return Number.NaN;
  }
}

/** The microseconds between two looks. @param {Map<number, number>} earlier @param {Map<number, number>} later */
export function timeBetween(earlier, later) {
  return [...later].reduce((sum, [pid, time]) => sum + Math.max(0, time - (earlier.get(pid) ?? 0)), 0);
}
