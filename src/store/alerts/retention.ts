// How long resolved alerts and silences that are over are kept.

import type { Announce } from '../changes/changes.ts';
import type { Db } from '../database/client.ts';

const RETENTION_DAYS = 30;
/** The most resolved alerts that an account keeps. */
const RESOLVED_MAX = 1000;
const DAY_MS = 86_400_000;

/** @param at the time of the database; milliseconds. */
export async function sweepAlerts({ db, announce }: { db: Db; announce: Announce }, at: number): Promise<void> {
  const swept = await db.$queryRaw<{ id: string; accountId: string }[]>`
    DELETE FROM alert WHERE id IN (
      SELECT id FROM (
        SELECT id, resolved_at, row_number() OVER (PARTITION BY account_id ORDER BY id DESC) AS place
        FROM alert WHERE state = 'RESOLVED'
      ) AS placed
      WHERE place > ${RESOLVED_MAX} OR resolved_at < ${new Date(at - RETENTION_DAYS * DAY_MS)}
    ) RETURNING id, account_id AS "accountId"`;
  for (const { id, accountId } of swept) announce({ kind: 'alert', action: 'DELETED', id, accountId });
  const over = await db.$queryRaw<{ id: string; accountId: string }[]>`
    DELETE FROM alert_silence WHERE until < ${new Date(at - DAY_MS)} RETURNING id, account_id AS "accountId"`;
  for (const { id, accountId } of over) announce({ kind: 'alertSilence', action: 'DELETED', id, accountId });
}
