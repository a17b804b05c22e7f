// Dead letters: events that could not be delivered. They are stored, so that users can inspect them and deliver them again.

import { packEvents } from '../../events/batch.ts';
import type { UndeliverableEvent } from '../../events/delivery/destination-queue.ts';
import { isTrafficEvent } from '../../events/traffic/fields.ts';
import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';

/** The most characters that are stored. No target accepts a longer event. */
const EVENT_MAX = 10 * 1024 * 1024;
const CODE_MAX = 100;
const MESSAGE_MAX = 300;
/** The most dead letters of one statement. */
const ROWS = 500;
/** The most characters of the events that one batch puts back; a single longer event is a batch of its own. */
const CHUNK = 1024 * 1024;

export interface DeadLetterSelection {
  destinationId: string;
  /** Undefined for all. Ids of other destinations are ignored. */
  ids?: readonly string[] | undefined;
}

/** Stores dead letters in the given order. */
export async function storeDeadLetters(
  db: Db,
  { destinationId, accountId }: { destinationId: string; accountId: string },
  dead: readonly UndeliverableEvent[],
  now: Prisma.Sql,
): Promise<void> {
  for (let from = 0; from < dead.length; from += ROWS) {
    const letters = dead.slice(from, from + ROWS);
    const column = (of: (letter: UndeliverableEvent) => string) => letters.map(of);
    await db.$executeRaw`
      INSERT INTO event_dead_letter
        (id, account_id, destination_id, event_id, event_type, event, error_code, error_message, created_at)
      SELECT id, ${accountId}, ${destinationId}, event_id, event_type, event, error_code, error_message, ${now}
      FROM unnest(${column(() => newId('edl'))}::text[], ${column(({ event }) => event.id)}::text[],
        ${column(({ event }) => event.type)}::text[], ${column(({ event }) => storableText(event.text, EVENT_MAX))}::text[],
        ${column(({ code }) => storableText(code, CODE_MAX))}::text[],
        ${column(({ message }) => storableText(message, MESSAGE_MAX))}::text[]
      ) AS letter (id, event_id, event_type, event, error_code, error_message)`;
  }
}

/**
 * Puts dead letters back into the queue of their destination, behind what waits already, in the order in which they failed.
 * Deliverers are woken when the transaction is committed.
 * @returns how many dead letters there were.
 */
export async function retryDeadLetters(db: Db, announce: Announce, selection: DeadLetterSelection): Promise<number> {
  const { destinationId } = selection;
  let retried = 0;
  let accountId = '';
  for (let letters = await takeOldest(db, selection); letters.length > 0; letters = await takeOldest(db, selection)) {
    const { count, body } = await packEvents(letters.map(({ event }) => event));
    const isTraffic = letters.every(({ type }) => isTrafficEvent(type));
    await db.$executeRaw`
      INSERT INTO event_batch (destination_id, is_traffic, count, bytes, body)
      VALUES (${destinationId}, ${isTraffic}, ${count}, ${body.length}, ${body})`;
    retried += count;
    accountId = letters[0]?.accountId ?? '';
  }
  if (retried > 0) announce({ kind: 'eventDelivery', action: 'CREATED', id: destinationId, accountId });
  return retried;
}

/** Deletes dead letters. @returns how many there were. */
export async function discardDeadLetters(db: Db, announce: Announce, selection: DeadLetterSelection): Promise<number> {
  const { destinationId, ids } = selection;
  const where = { destinationId, ...(ids && { id: { in: [...ids] } }) };
  const letter = await db.eventDeadLetter.findFirst({ where, select: { accountId: true } });
  if (!letter) return 0;
  const { count } = await db.eventDeadLetter.deleteMany({ where });
  announce({ kind: 'eventDelivery', action: 'UPDATED', id: destinationId, accountId: letter.accountId });
  return count;
}

interface Letter {
  id: string;
  accountId: string;
  type: string;
  event: string;
}

/** Deletes and returns the oldest of the selected dead letters, as many as fit into one batch. */
async function takeOldest(db: Db, { destinationId, ids }: DeadLetterSelection): Promise<Letter[]> {
  const all = ids === undefined;
  const rows = await db.$queryRaw<Letter[]>`
    DELETE FROM event_dead_letter WHERE id IN (
      SELECT id FROM (
        SELECT id, sum(length(event)) OVER (ORDER BY id) AS until, row_number() OVER (ORDER BY id) AS place
        FROM (
          SELECT id, event FROM event_dead_letter
          WHERE destination_id = ${destinationId} AND (${all} OR id = ANY(${[...(ids ?? [])]}))
          ORDER BY id LIMIT ${ROWS} FOR UPDATE
        ) oldest
      ) counted
      WHERE until <= ${CHUNK} OR place = 1
    ) RETURNING id, account_id AS "accountId", event_type AS type, event`;
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The text as the database can store it: cut to a length, and without NUL characters, which PostgreSQL does not accept. */
function storableText(text: string, most: number): string {
  return text.slice(0, most).replaceAll('\0', '');
}
