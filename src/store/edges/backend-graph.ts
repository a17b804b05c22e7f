// Which backends lead to which: over any number of steps, and also where they lead in a circle, which nobody may store.

import type { Db } from '../database/client.ts';

/** A backend that leads to a certain one, and all that it leads to. */
export interface LeadingBackend {
  id: string;
  /** How many backends it leads to, itself among them. */
  size: number;
  /** The size of all fixed responses among them, as they are stored; bytes. */
  responseBytes: number;
  hasResponse: boolean;
  /** Whether a TLS or TCP edge sends its connections there. */
  isOfConnections: boolean;
}

/**
 * Lets the writes to an account's backends, and to what names them, follow each other, so that what one has checked is so when
 * it is stored. It must be called in the transaction, before anything is read that is checked.
 */
export async function lockBackends(db: Db, accountId: string): Promise<void> {
  await db.$queryRaw`SELECT id FROM account WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/** The backend and all that lead to it. */
export function findLeadingBackends(db: Db, id: string): Promise<LeadingBackend[]> {
  return db.$queryRaw<LeadingBackend[]>`
    WITH RECURSIVE above AS (
      SELECT ${id}::text COLLATE "C" AS id UNION SELECT backend_id FROM backend_member JOIN above ON id = member_id
    ), led AS (
      SELECT id AS root, id FROM above UNION SELECT root, member_id FROM led JOIN backend_member ON backend_id = id
    )
    SELECT root AS id, count(*)::int AS size, coalesce(sum(octet_length(response::text)), 0)::int AS "responseBytes",
      bool_or(kind = 'HTTP_RESPONSE') AS "hasResponse",
      EXISTS (SELECT 1 FROM edge WHERE edge.backend_id = root) AS "isOfConnections"
    FROM led JOIN backend USING (id) GROUP BY root`;
}

/** The member of a backend that leads back to it; undefined when none does. */
export async function findCircularMember(db: Db, id: string): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE above AS (
      SELECT ${id}::text COLLATE "C" AS id UNION SELECT backend_id FROM backend_member JOIN above ON id = member_id
    )
    SELECT member_id AS id FROM backend_member JOIN above ON id = member_id WHERE backend_id = ${id}
    ORDER BY position LIMIT 1`;
  return row?.id;
}

/** A fixed response that a backend is or leads to; undefined when there is none. */
export async function findFixedResponse(db: Db, id: string): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE led AS (
      SELECT ${id}::text COLLATE "C" AS id UNION SELECT member_id FROM backend_member JOIN led ON backend_id = id
    )
    SELECT id FROM led JOIN backend USING (id) WHERE kind = 'HTTP_RESPONSE' ORDER BY id LIMIT 1`;
  return row?.id;
}
