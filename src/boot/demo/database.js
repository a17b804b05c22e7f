// A database of a demo's own, in the PostgreSQL server of tests.

import { randomBytes } from 'node:crypto';
import { probe, testDatabaseUrl } from '../test-database.js';

/**
 * Makes an empty database.
 * @returns {Promise<{ url: string, drop(): Promise<void> }>}
 * @throws when no server answers; the message says what to do.
 */
export async function createDatabase() {
  const server = testDatabaseUrl();
  const absent = await probe(server);
  if (absent)
    throw new Error(`Several gateways share a PostgreSQL database, and ${absent}. Look at TEST_DATABASE_URL.`);
  const name = `gateway_demo_${randomBytes(8).toString('hex')}`;
  await run(server, `CREATE DATABASE "${name}"`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`) };
}

/** @param {string} connectionString @param {string} statement */
async function run(connectionString, statement) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
