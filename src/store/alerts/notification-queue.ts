// The outbox of notifications in the database: leased one by one, settled once.

import { randomBytes } from 'node:crypto';
import type { NotificationQueue, WaitingNotification } from '../../alerts/alert-store.ts';
import type { OpenChannel } from '../../alerts/channels/deliver.ts';
import type { Changes } from '../changes/changes.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import { type Clock, nowOf } from '../events/clock.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Keys } from '../keys/keys.ts';
import { openSigningSecret } from './channel-secrets.ts';

export interface NotificationQueueParts extends Clock {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  nodeId: string;
}

interface ClaimedRow extends Omit<WaitingNotification, 'channel' | 'leaseToken'> {
  kind: 'WEBHOOK' | 'EMAIL' | 'EVENTS';
  url: string;
  signingSecret: string;
  recipients: string[];
}

/** What is written of a notification when an attempt is over. */
interface Outcome {
  sentAt?: Date;
  nextAt: Date | null;
  /** Why it failed, or what the channel has to say; '' when all is well. */
  error: string;
}

export interface NodeNotificationQueue extends NotificationQueue {
  /** Ends the leases that this node held before it was restarted. */
  recover(): Promise<void>;
}

export function notificationQueue(parts: NotificationQueueParts): NodeNotificationQueue {
  const { prisma, changes, keys, nodeId } = parts;

  /** @param more runs in the same transaction, if this process still has the lease. */
  const settle = (
    notification: WaitingNotification,
    outcome: Outcome,
    more?: (db: Db, announce: Parameters<Parameters<Changes['transaction']>[1]>[1]) => Promise<void>,
  ) =>
    changes.transaction(prisma, async (db, announce) => {
      const { id, leaseToken, channelId, alertId, accountId } = notification;
      const isFailure = outcome.sentAt === undefined;
      const { count } = await db.alertNotification.updateMany({
        where: { id, leaseToken },
        data: { ...outcome, leaseToken: null, leaseUntil: null, ...(isFailure && { attempts: { increment: 1 } }) },
      });
      if (count === 0) return;
      await more?.(db, announce);
      const lastErrorAt = outcome.error === '' ? undefined : timeOf(parts);
      await db.alertChannel.update({
        where: { id: channelId },
        data: { lastError: outcome.error, lastErrorAt, lastSentAt: outcome.sentAt },
      });
      announce({ kind: 'alertChannel', action: 'UPDATED', id: channelId, accountId });
      announce({ kind: 'alert', action: 'UPDATED', id: alertId, accountId });
    });

  return {
    async recover() {
      await prisma.$executeRaw`
        UPDATE alert_notification SET lease_token = NULL, lease_until = NULL WHERE split_part(lease_token, ' ', 1) = ${nodeId}`;
    },

    async claim(limit, leaseMs, skipped) {
      const leaseToken = `${nodeId} ${randomBytes(12).toString('base64url')}`;
      const now = nowOf(parts);
      const isLeased = (table: string) => leasedOf(table, now);
      const rows = await prisma.$queryRaw<ClaimedRow[]>`
        WITH oldest AS (
          SELECT DISTINCT ON (n.channel_id) n.id FROM alert_notification n
          WHERE n.next_at <= ${now} AND NOT n.channel_id = ANY(${[...skipped]}) AND NOT EXISTS (
            SELECT 1 FROM alert_notification e WHERE e.channel_id = n.channel_id AND e.next_at IS NOT NULL
              AND ((e.alert_id = n.alert_id AND e.id < n.id) OR ${isLeased('e')}))
          ORDER BY n.channel_id, n.id
        ), due AS MATERIALIZED (
          SELECT n.id FROM alert_notification n
          WHERE n.id IN (SELECT id FROM oldest) AND n.next_at <= ${now} AND NOT ${isLeased('n')}
          ORDER BY n.next_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
        )
        UPDATE alert_notification n
        SET lease_token = ${leaseToken}, lease_until = ${now} + ${leaseMs} * interval '1 millisecond'
        FROM due, alert_channel c WHERE n.id = due.id AND c.id = n.channel_id
        RETURNING n.id, n.alert_id AS "alertId", n.channel_id AS "channelId", n.account_id AS "accountId", n.attempts,
          (extract(epoch FROM n.created_at) * 1000)::float8 AS "createdAt", n.body, c.kind::text, c.url,
          c.signing_secret AS "signingSecret",
          ARRAY(SELECT address FROM unnest(c.recipients) AS address WHERE address = ANY(c.confirmed_recipients)) AS recipients`;
      return rows.map((row) => ({ ...row, leaseToken, channel: channelOf(keys, row) }));
    },

    sent: (notification, warning) => settle(notification, { sentAt: timeOf(parts), nextAt: null, error: warning }),

    failed: (notification, reason, nextAt) =>
      settle(notification, { nextAt: nextAt === null ? null : new Date(nextAt), error: reason }, async (db) => {
        if (nextAt === null) await noteGivenUp(db, notification, reason);
      }),

    toEvents: (notification) =>
      settle(notification, { sentAt: timeOf(parts), nextAt: null, error: '' }, async (db, announce) => {
        const { accountId, body } = notification;
        const type = body.type === 'alert_resolved' ? 'alert_resolved.v0' : 'alert_fired.v0';
        const subscriptions = await findSubscriptions(db, [accountId], [type]);
        await writeAudit({ db, announce }, [{ type, accountId, principal: null, object: body.alert }], subscriptions);
      }),
  };
}

/** Whether a living process has it. */
function leasedOf(table: string, now: Prisma.Sql): Prisma.Sql {
  const t = Prisma.raw(table);
  return Prisma.sql`(${t}.lease_until IS NOT NULL AND ${t}.lease_until >= ${now} AND EXISTS (
    SELECT 1 FROM node WHERE node.id = split_part(${t}.lease_token, ' ', 1) AND node.lease_until > now()))`;
}

function channelOf(
  keys: Keys,
  { kind, url, recipients, channelId, accountId, signingSecret }: ClaimedRow,
): OpenChannel | null {
  if (kind === 'EVENTS') return null;
  if (kind === 'EMAIL') return { kind, recipients };
  return { kind, url, signingSecret: openSigningSecret(keys, { id: channelId, accountId, signingSecret }) };
}

/** Says on the alert that somebody was not told. */
async function noteGivenUp(db: Db, { alertId, channelId }: WaitingNotification, reason: string): Promise<void> {
  await db.$executeRaw`
    UPDATE alert SET remark = left(concat_ws(' ', nullif(remark, ''), 'A notification to ' || c.name || ' was given up: ' || ${reason}::text), 1000)
    FROM alert_channel c WHERE c.id = ${channelId} AND alert.id = ${alertId}`;
}

const timeOf = ({ skew }: Clock) => new Date(Date.now() + skew());
