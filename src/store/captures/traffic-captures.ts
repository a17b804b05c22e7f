// Starts and ends stored captures. Their changes are announced, so that all nodes follow.

import type { CaptureTarget, StoredCapture } from '../../capture/stored-capture.ts';
import type { Announce, Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { newId } from '../ids.ts';
import { CAPTURE_KIND, CAPTURE_PREFIX } from './capture-source.ts';

/** The most captures of one account that may be on. */
export const CAPTURES_MAX = 1000;

export interface StartedCapture extends Omit<StoredCapture, 'id'> {
  publicUrl: string;
}

export interface StartOptions {
  /** Whether a capture of somebody else may be changed. */
  mayChangeOthers: boolean;
  /** The wall clock, in milliseconds. */
  now: number;
}

/** Why a capture was not started. */
export type StartRefusal = 'tooMany' | 'notYours';

/**
 * Starts a capture, or changes the one that is on at the address.
 * @returns its id, or why there is none.
 */
export async function startCapture(
  db: Db,
  announce: Announce,
  capture: StartedCapture,
  { mayChangeOthers, now }: StartOptions,
): Promise<{ id: string } | StartRefusal> {
  const { accountId, address, publicUrl, ownerId, bodyBytes } = capture;
  const [at, endsAt] = [new Date(now), new Date(capture.endsAt)];
  const newOne = newId(CAPTURE_PREFIX);
  // One statement, so that of two who start it at once the second one changes what the first one may not see.
  const [row] = await db.$queryRaw<{ id: string }[]>`
    INSERT INTO traffic_capture AS t (id, account_id, address, public_url, owner_id, body_bytes, redact_headers, created_at, ends_at)
    VALUES (${newOne}, ${accountId}, ${address}, ${publicUrl}, ${ownerId}, ${bodyBytes}, ${[...capture.redactHeaders]}::text[], ${at}, ${endsAt})
    ON CONFLICT (account_id, address) DO UPDATE SET
      id = CASE WHEN t.ends_at <= ${at} THEN EXCLUDED.id ELSE t.id END,
      created_at = CASE WHEN t.ends_at <= ${at} THEN EXCLUDED.created_at ELSE t.created_at END,
      public_url = EXCLUDED.public_url, owner_id = EXCLUDED.owner_id, body_bytes = EXCLUDED.body_bytes,
      redact_headers = EXCLUDED.redact_headers, ends_at = EXCLUDED.ends_at
    WHERE ${mayChangeOthers} OR t.owner_id = ${ownerId} OR t.ends_at <= ${at}
    RETURNING id`;
  if (!row) return 'notYours';
  const isNew = row.id === newOne;
  if (isNew && (await db.trafficCapture.count({ where: { accountId, endsAt: { gt: at } } })) > CAPTURES_MAX)
    return 'tooMany';
  announce({ kind: CAPTURE_KIND, action: isNew ? 'CREATED' : 'UPDATED', id: row.id, accountId });
  return row;
}

/** Ends the capture at an address. @returns its id; undefined when there is none. */
export async function stopCapture(
  db: Db,
  announce: Announce,
  { accountId, address }: CaptureTarget,
): Promise<string | undefined> {
  const [ended] = await db.$queryRaw<{ id: string }[]>`
    DELETE FROM traffic_capture WHERE account_id = ${accountId} AND address = ${address} RETURNING id`;
  if (ended) announce({ kind: CAPTURE_KIND, action: 'DELETED', id: ended.id, accountId });
  return ended?.id;
}

/** Ends the captures of an owner who may have none any more. @returns their ids and addresses. */
export async function stopCapturesOf(
  db: Db,
  announce: Announce,
  { accountId, ownerId }: { accountId: string; ownerId: string },
): Promise<{ id: string; address: string; publicUrl: string }[]> {
  const ended = await db.$queryRaw<{ id: string; address: string; publicUrl: string }[]>`
    DELETE FROM traffic_capture WHERE account_id = ${accountId} AND owner_id = ${ownerId}
    RETURNING id, address, public_url AS "publicUrl"`;
  for (const { id } of ended) announce({ kind: CAPTURE_KIND, action: 'DELETED', id, accountId });
  return ended;
}

/** Deletes the captures whose time is over, which nodes end by themselves. @param now the wall clock, in milliseconds. */
export async function sweepCaptures(prisma: PrismaClient, changes: Changes, now: number): Promise<void> {
  await changes.transaction(prisma, async (db, announce) => {
    const ended = await db.$queryRaw<{ id: string; accountId: string }[]>`
      DELETE FROM traffic_capture WHERE ends_at <= ${new Date(now)} RETURNING id, account_id AS "accountId"`;
    for (const { id, accountId } of ended) announce({ kind: CAPTURE_KIND, action: 'DELETED', id, accountId });
  });
}
