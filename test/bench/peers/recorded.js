// Writes as the gateway does, by hand: the row, an entry of the audit trail and a notice to others in one transaction, in which it is
// asked for subscriptions to events, too.

import { newAuditId, newCredential, pool } from './common.js';
import { body, COLUMNS } from './rest.js';

/** @typedef {import('./common.js').Caller} Caller */

/** @param {Caller} caller @param {any} input @param {string} base */
export async function create(caller, { description = '', metadata = '', acl = [] }, base) {
  const { id, token, digest } = newCredential();
  return within(async (client) => {
    const { rows } = await client.query({
      name: 'recorded create',
      text: `INSERT INTO credential (id, account_id, owner_id, description, metadata, acl, digest)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
      values: [id, caller.accountId, caller.ownerId, description, metadata, acl, digest],
    });
    const answer = body(rows[0], base, token);
    await record(client, caller, 'CREATED', id, description, null, { ...answer, token: undefined });
    return answer;
  });
}

/** @param {Caller} caller @param {string} id @param {any} input @param {string} base */
export async function update(caller, id, { description = null, metadata = null, acl = null }, base) {
  return within(async (client) => {
    const { rows: before } = await client.query({
      name: 'recorded lock',
      text: `SELECT ${COLUMNS} FROM credential WHERE id = $1 AND account_id = $2 FOR NO KEY UPDATE`,
      values: [id, caller.accountId],
    });
    if (!before[0]) return undefined;
    const { rows } = await client.query({
      name: 'recorded update',
      text: `UPDATE credential SET description = coalesce($3, description), metadata = coalesce($4, metadata),
          acl = coalesce($5, acl)
        WHERE id = $1 AND account_id = $2 RETURNING ${COLUMNS}`,
      values: [id, caller.accountId, description, metadata, acl],
    });
    const [old, current] = [body(before[0], base), body(rows[0], base)];
    const { description: name } = current;
    await record(client, caller, 'UPDATED', id, name, { description: old.description }, { description: name });
    return current;
  });
}

/**
 * @param {import('pg').PoolClient} client
 * @param {Caller} caller
 * @param {string} action
 * @param {string} id
 * @param {string} name
 * @param {object | null} before
 * @param {object} after
 */
async function record(client, { accountId, ownerId, keyId }, action, id, name, before, after) {
  const notice = JSON.stringify({ node: 'peer', changes: [{ kind: 'credential', action, id, accountId }] });
  await client.query({
    name: 'record',
    text: `WITH entry AS (
        INSERT INTO audit_entry (id, account_id, created_at, source, actor_id, credential_id, action, kind, object_id, before, after,
          ip, operation_id, object_name, words)
        VALUES ($1, $2, now(), 'API', $3, $4, $5, 'credential', $6, $7, $8, '127.0.0.1', $11, $12, $13)
      ), notice AS (SELECT pg_notify('gateway_changes', $9))
      SELECT (SELECT count(*) FROM notice), (SELECT json_agg(d.destination_id)
        FROM event_subscription s JOIN event_source e ON e.subscription_id = s.id
        JOIN subscription_destination d ON d.subscription_id = s.id
        WHERE s.account_id = $2 AND e.type = $10)`,
    values: [
      ...[newAuditId(), accountId, ownerId, keyId, action, id],
      ...[
        before && JSON.stringify(before),
        JSON.stringify(after),
        notice,
        `tunnel_credential_${action.toLowerCase()}.v0`,
        newAuditId(),
        name,
        [name, id, '127.0.0.1', ownerId, keyId].join('\n').toLowerCase(),
      ],
    ],
  });
}

/**
 * @template T
 * @param {(client: import('pg').PoolClient) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function within(work) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(true); // With its transaction.
    throw error;
  }
}
