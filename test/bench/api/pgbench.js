// What the database does by itself: PostgreSQL's own load generator writes the rows that a create of the gateway writes.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { find } from '../data-plane/processes.js';
import { MADE } from './data.js';

/** Debian puts it there, and a link to it where programs are. */
const program = find('pgbench');

export const hasPgbench = program !== undefined;

/** Ids are as long as the gateway's, and newer ones are greater. */
const INSERTS = `BEGIN;
WITH own AS (SELECT to_char(clock_timestamp(), 'YYYYMMDDHH24MISSUS') || lpad((:client_id)::text, 7, '0') AS id)
INSERT INTO credential (id, account_id, owner_id, description, metadata, acl, digest)
  SELECT 'cr_' || own.id, o.account_id, o.id, '${MADE}', '', '{bind:*.example.com}', own.id || own.id FROM own, owner o
  WHERE o.role = 'ADMIN' LIMIT 1 RETURNING id, created_at, description, metadata, acl, owner_id;
WITH own AS (SELECT to_char(clock_timestamp(), 'YYYYMMDDHH24MISSUS') || lpad((:client_id)::text, 7, '0') AS id)
INSERT INTO audit_entry (id, account_id, created_at, source, actor_id, credential_id, action, kind, object_id, after, ip,
    operation_id, object_name, words)
  SELECT 'au_' || own.id, o.account_id, now(), 'API', o.id, '', 'CREATED', 'credential', 'cr_' || own.id,
    '{"description":"${MADE}","metadata":"","acl":["bind:*.example.com"]}', '127.0.0.1', 'op_' || own.id, '${MADE}',
    '${MADE}' || own.id || '127.0.0.1' || o.id FROM own, owner o WHERE o.role = 'ADMIN' LIMIT 1;
`;
const NOTICE = `SELECT pg_notify('gateway_changes', '{"node":"peer","changes":[{"kind":"credential","action":"CREATED"}]}');
`;

/**
 * @param {object} job
 * @param {string} job.url of the database.
 * @param {string} job.directory for its script.
 * @param {boolean} job.hasNotice whether each transaction sends a notice, too.
 * @param {number} job.clients
 * @param {number} job.seconds
 * @returns {Promise<{ perSecond: number }>} its commits.
 */
export async function commitsOfPgbench({ url, directory, hasNotice, clients, seconds }) {
  const script = join(directory, 'create.sql');
  writeFileSync(script, `${INSERTS}${hasNotice ? NOTICE : ''}COMMIT;\n`);
  const time = Math.max(1, Math.round(seconds));
  const args = ['-n', '-M', 'prepared', '-c', clients, '-j', '1', '-T', time, '-f', script, url].map(String);
  const { stdout } = await promisify(execFile)(program ?? 'pgbench', args);
  const failed = Number(/number of failed transactions: (\d+)/.exec(stdout)?.[1] ?? 0);
  const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0) || failed > 0) throw new Error(`pgbench made no commits:\n${stdout}`);
  return { perSecond };
}
