// Embedded databases that gateways of tests get one after another: opening one takes longer than all else at a gateway's start.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { inject } from 'vitest';
import type { Database } from '../../../src/store/database/open-database.ts';
import { DatabaseWorker } from '../../../src/store/embedded/database-worker.ts';
import { poolOn } from '../../../src/store/embedded/index.ts';
import { copyCluster } from './place.ts';

const CALL_MS = 30_000;
/** As the gateway itself: what takes longer at the end is not waited for. */
const CLOSE_MS = 5000;
/** Most that wait for another gateway, each in some 100 MB. */
const MOST_IDLE = 2;

/** What a gateway has written. To vacuum a table empties its file: only those written since have one. */
const WRITTEN = `
SELECT string_agg(quote_ident(relname), ',') AS tables FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations' AND pg_relation_size(oid) > 0`;
/** Rows go without their constraints and triggers. TRUNCATE would take ten times as long, for the files that it makes. */
const EMPTY = (tables: string[]) => `
BEGIN;
SET LOCAL session_replication_role = replica;
${tables.map((table) => `DELETE FROM ${table};`).join('')}
ALTER SEQUENCE change_version RESTART;
ALTER SEQUENCE event_batch_id_seq RESTART;
COMMIT`;
/** Tests rename tables, and make triggers. */
const SCHEMA = `
SELECT md5(string_agg(part, ' ' ORDER BY part)) AS schema FROM (
  SELECT concat(relname, '.', attname, atttypid) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT concat(tgname, tgenabled) FROM pg_trigger
  UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT conname::text FROM pg_constraint
  UNION ALL SELECT migration_name FROM _prisma_migrations
) AS all_of_it (part)`;

interface Lendable {
  directory: string;
  worker: DatabaseWorker;
  schema: string;
  onFatal: (text: string) => void;
}

const idle: Lendable[] = [];

/** A migrated database without rows. Closing it empties it for the next one. */
export async function lendDatabase(onFatal: (text: string) => void): Promise<Database> {
  const lent = idle.pop() ?? (await openLendable());
  lent.onFatal = onFatal;
  const pool = poolOn({ current: lent.worker });
  return {
    kind: 'embedded',
    pool,
    urgent: pool.queryNext.bind(pool),
    isFull: async () => false,
    async close() {
      lent.onFatal = () => undefined;
      const emptied = async () => {
        await empty(pool); // After all that wait for the connection.
        const { rows } = await pool.query(SCHEMA);
        await pool.end();
        return rows[0].schema === lent.schema;
      };
      const timeout = new AbortController();
      const isEmpty = await Promise.race([
        emptied().catch(() => false),
        wait(CLOSE_MS, false, { signal: timeout.signal }).catch(() => false),
      ]);
      timeout.abort();
      if (isEmpty && idle.length < MOST_IDLE) idle.push(lent);
      else await discard(lent);
    },
  };
}

async function empty(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ tables: string | null }>(WRITTEN);
  const written = rows[0]?.tables;
  if (!written) return;
  await pool.query(EMPTY(written.split(',')));
  await pool.query(`VACUUM ${written}`);
  await pool.query('CHECKPOINT');
}

async function openLendable(): Promise<Lendable> {
  const directory = await mkdtemp(join(inject('run'), 'lent-'));
  await copyCluster('migrated', directory);
  const lendable: Omit<Lendable, 'worker'> = { directory, schema: '', onFatal: () => undefined };
  const worker = new DatabaseWorker(join(directory, 'db'), CALL_MS, (text) => lendable.onFatal(text));
  await worker.opened();
  const pool = poolOn({ current: worker });
  const { rows } = await pool.query(SCHEMA);
  await pool.end();
  return Object.assign(lendable, { worker, schema: rows[0].schema });
}

async function discard({ directory, worker }: Lendable): Promise<void> {
  await worker.close();
  await rm(directory, { recursive: true, force: true });
}
