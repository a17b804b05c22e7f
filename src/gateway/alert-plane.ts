// Builds what evaluates alert rules and delivers their notifications.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { deliver } from '../alerts/channels/deliver.ts';
import { openMailer } from '../alerts/channels/email.ts';
import { alertCounters } from '../alerts/counters.ts';
import { failureOf } from '../alerts/delivery-error.ts';
import { Evaluator } from '../alerts/evaluator.ts';
import { Invitations } from '../alerts/invitations.ts';
import { type NotificationBody, summaryOf, toTimestamp } from '../alerts/notification.ts';
import { Notifier } from '../alerts/notifier.ts';
import type { AlertTester } from '../api/dependencies.ts';
import { CONFIRM_PATH } from '../api/http/confirm-recipient.ts';
import type { Config } from '../config/config.ts';
import { openOutbound } from '../events/sinks/http/outbound.ts';
import { toShortLine } from '../events/sinks/sink.ts';
import { alertMetrics } from '../monitoring/alert-metrics.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { alertStore } from '../store/alerts/alert-store.ts';
import { firingAlerts } from '../store/alerts/firing.ts';
import { notificationQueue } from '../store/alerts/notification-queue.ts';
import { sealInvitation } from '../store/alerts/recipients.ts';
import type { Changes } from '../store/changes/changes.ts';
import type { PrismaClient } from '../store/database/client.ts';
import { Sweeper } from '../store/events/sweeper.ts';
import { newId } from '../store/ids.ts';
import type { Keys } from '../store/keys/keys.ts';

/** The time from the end of an evaluation to the next; milliseconds. */
const EVALUATION_PAUSE_MS = 5000;

export interface AlertPlaneParts {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  nodeId: string;
  baseUrl(): string;
  log: Logger;
  registry: Registry;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** The time from an evaluation to the next, in milliseconds; undefined for the usual one. */
  pauseMs: number | undefined;
}

export interface AlertPlane extends AlertTester {
  start(): Promise<void>;
  /** Ends the evaluation, and waits for notifications under way: for 20 s at most. */
  close(): Promise<void>;
}

export function alertPlane(config: Config, parts: AlertPlaneParts): AlertPlane {
  const { prisma, changes, keys, nodeId, baseUrl, log, registry, now, pauseMs = EVALUATION_PAUSE_MS } = parts;
  const failed = (text: string) => (error: unknown) => log.error({ err: describeFailure(error) }, text);
  const skew = () => now() - Date.now();
  const outbound = openOutbound(config);
  const mailer = openMailer(config.smtp);
  const channels = { settings: config, outbound, mailer, now };
  const invitations = new Invitations({
    mailer,
    urlOf: ({ id, accountId }, address) => {
      const token = sealInvitation(keys, { channelId: id, accountId, address, at: now() });
      return `${baseUrl()}${CONFIRM_PATH}?token=${token}`;
    },
    async onFailure({ id, accountId }, reason) {
      const { code, message } = failureOf(reason);
      const lastError = toShortLine(`a recipient could not be asked: ${code}: ${message}`);
      await changes
        .transaction(prisma, async (db, announce) => {
          await db.alertChannel.updateMany({
            where: { id, accountId },
            data: { lastError, lastErrorAt: new Date(now()) },
          });
          announce({ kind: 'alertChannel', action: 'UPDATED', id, accountId });
        })
        .catch(failed('why a recipient of alerts was not asked could not be stored'));
    },
  });
  const counters = alertCounters();
  const queue = notificationQueue({ prisma, changes, keys, skew, nodeId });
  const evaluator = new Evaluator({
    store: alertStore({ prisma, changes, skew, nodeId, baseUrl }),
    graceMs: config.alertGraceMs,
    now,
    monotonic: () => performance.now(),
    onFailure: failed('an alert could not be stored; trying again'),
  });
  const notifier = new Notifier({
    queue,
    deliver: (channel, body) => deliver(channel, body, channels),
    counters,
    now,
    random: Math.random,
    onFailure: failed('the outcome of a notification could not be stored; it is sent again'),
  });
  let running = Promise.resolve();
  const sweeper = new Sweeper({
    sweep() {
      const work = evaluator.evaluate().finally(() => notifier.sendDue());
      running = work.catch(() => undefined);
      return work;
    },
    pauseMs,
    onFailure: failed('alert rules cannot be evaluated; trying again'),
  });
  alertMetrics(registry, { counters, firing: () => firingAlerts(prisma) });

  return {
    async start() {
      await queue.recover();
      sweeper.start();
    },

    async testChannel(channel, { accountId, name }) {
      const body = testBody(accountId, name, now(), baseUrl());
      const startedAt = performance.now();
      const result = (ok: boolean, code: string | null, message: string | null) => {
        const latencyMs = Math.round(performance.now() - startedAt);
        return { ok, notificationId: body.notification_id, latencyMs, code, message };
      };
      try {
        return result(true, null, (await deliver(channel, body, channels)) || null);
      } catch (error) {
        const { code, message } = failureOf(error);
        return result(false, code, message);
      }
    },

    inviteRecipients: (channel, addresses) => invitations.send(channel, addresses),

    async close() {
      sweeper.close();
      await running;
      await notifier.close();
      await invitations.close();
      mailer.close();
      outbound.close();
    },
  };
}

/** A notification about nothing, in the form of all others. */
function testBody(accountId: string, name: string, at: number, baseUrl: string): NotificationBody {
  const time = toTimestamp(at);
  const alert = {
    ...{ id: newId('al'), url: `${baseUrl}/dashboard/alerts`, rule: { id: '', name }, condition: 'ENDPOINT_OFFLINE' },
    ...{ severity: 'INFO', state: 'FIRING', since: time, fired_at: time, resolved_at: null },
    ...{ threshold: 0, value: 0, subject_count: 0, subjects: [] },
  };
  const type = 'alert_test';
  const summary = summaryOf(type, alert);
  return { notification_id: newId('aln'), type, timestamp: time, account_id: accountId, summary, alert };
}
