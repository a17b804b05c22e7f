// The SQL and the JSON of the bare REST peers, as one would write them by hand: prepared statements, scoped to the
// account.

import { newCredential, pool, rfc3339 } from './common.js';

export const COLUMNS = 'id, created_at, description, metadata, acl, owner_id';
const PAGE = 100;

/** @typedef {import('./common.js').Caller} Caller */

/** @param {any} row @param {string} base @param {string | null} token */
export const body = (row, base, token = null) => ({
  id: row.id,
  uri: `${base}/credentials/${row.id}`,
  created_at: rfc3339(row.created_at),
  description: row.description,
  metadata: row.metadata,
  token,
  acl: row.acl,
  owner_id: row.owner_id,
});

/** @param {Caller} caller @param {string} id @param {string} base */
export async function get({ accountId }, id, base) {
  const { rows } = await pool.query({
    name: 'get',
    text: `SELECT ${COLUMNS} FROM credential WHERE id = $1 AND account_id = $2`,
    values: [id, accountId],
  });
  return rows[0] && body(rows[0], base);
}

/** @param {Caller} caller @param {string | null | undefined} limit @param {string} base */
export async function list({ accountId }, limit, base) {
  const size = Number(limit ?? PAGE);
  const { rows } = await pool.query({
    name: 'list',
    text: `SELECT ${COLUMNS} FROM credential WHERE account_id = $1 ORDER BY id DESC LIMIT $2`,
    values: [accountId, size + 1],
  });
  const more = rows.length > size;
  if (more) rows.pop();
  const uri = `${base}/credentials`;
  return {
    credentials: rows.map((row) => body(row, base)),
    uri,
    next_page_uri: more ? `${uri}?before_id=${rows.at(-1).id}&limit=${size}` : null,
  };
}

/** @param {Caller} caller @param {any} input @param {string} base */
export async function create({ accountId, ownerId }, { description = '', metadata = '', acl = [] }, base) {
  const { id, token, digest } = newCredential();
  const { rows } = await pool.query({
    name: 'create',
    text: `INSERT INTO credential (id, account_id, owner_id, description, metadata, acl, digest)
      VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
    values: [id, accountId, ownerId, description, metadata, acl, digest],
  });
  return body(rows[0], base, token);
}

/** @param {Caller} caller @param {string} id @param {any} input @param {string} base */
export async function update({ accountId }, id, { description = null, metadata = null, acl = null }, base) {
  const { rows } = await pool.query({
    name: 'update',
    text: `UPDATE credential SET description = coalesce($3, description), metadata = coalesce($4, metadata),
        acl = coalesce($5, acl)
      WHERE id = $1 AND account_id = $2 RETURNING ${COLUMNS}`,
    values: [id, accountId, description, metadata, acl],
  });
  return rows[0] && body(rows[0], base);
}
