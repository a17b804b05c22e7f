// What every peer does in the same way: it knows the caller by the digest of the API key, writes one log line a
// request, uses a pool of as many connections as the gateway has (`DATABASE_POOL`), and says where it listens.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';

/** @param {string} path a compiled file of the gateway, under `dist`. */
const ofGateway = (path) => import(pathToFileURL(join(process.env.BENCH_DIST ?? '', path)).href);

const { deriveKeys } = await ofGateway('store/keys/keys.js');
const { openDatabase } = await ofGateway('store/database/open-database.js');
const { openClient } = await ofGateway('store/database/client.js');
const { newId, newSecret } = await ofGateway('store/ids.js');

const TRUST_MS = 5000; // As long as the gateway does.

/** @type {{ digest(secret: string): string }} */
const keys = deriveKeys(Buffer.from(process.env.SERVER_KEY ?? '', 'base64'));
const database = await openDatabase(
  { databaseUrl: process.env.DATABASE_URL, databasePool: Number(process.env.DATABASE_POOL) },
  {},
);

/** The driver, the settings and the number of connections that the gateway has. */
export const pool = /** @type {import('pg').Pool} */ (database.pool);
/** The gateway's own generated Prisma client. */
export const openPrisma = () => openClient(pool);

const log = pino({ base: null }, pino.destination({ fd: 2, sync: true }));

/** @typedef {{ keyId: string, accountId: string, ownerId: string }} Caller */
/** @type {Map<string, { caller: Caller, until: number }>} */
const known = new Map();

/**
 * @param {string | undefined} authorization
 * @returns {Promise<Caller | undefined>}
 */
export async function callerOf(authorization) {
  const [, key] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
  if (!key) return undefined;
  const digest = keys.digest(key);
  const kept = known.get(digest);
  if (kept && kept.until > Date.now()) return kept.caller;
  const { rows } = await pool.query({
    name: 'caller',
    text: `SELECT k.id AS "keyId", k.account_id AS "accountId", k.owner_id AS "ownerId"
      FROM api_key k JOIN owner o ON o.id = k.owner_id WHERE k.digest = $1 AND o.active`,
    values: [digest],
  });
  if (rows[0]) known.set(digest, { caller: rows[0], until: Date.now() + TRUST_MS });
  return rows[0];
}

/**
 * @param {{ method?: string, url?: string }} request
 * @param {number} status
 * @param {number} started by `performance.now()`.
 * @param {Caller | undefined} caller
 */
export function logRequest({ method, url }, status, started, caller) {
  const ms = Math.round((performance.now() - started) * 100) / 100;
  const { accountId: account_id, keyId: key_id } = caller ?? {};
  log.info({ method, path: url?.split('?', 1)[0], status, ms, account_id, key_id }, 'request');
}

/** @param {Date} time */
export const rfc3339 = (time) => `${time.toISOString().slice(0, 19)}Z`;

/** A new credential's id, token and digest. */
export function newCredential() {
  const id = newId('cr');
  const token = newSecret(id);
  return { id, token, digest: keys.digest(token) };
}

export const newAuditId = () => newId('au');

/** @param {number} port that is listened on, on 127.0.0.1. */
export const ready = (port) => process.stdout.write(`ready http://127.0.0.1:${port}\n`);
