// Prometheus metrics of alerts. Accounts and rules are not labels: the API shows those.

import type { Registry } from 'prom-client';
import { type AlertCounters, type ChannelName, channelKinds } from '../alerts/counters.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

export interface AlertMetricsSource {
  counters: AlertCounters;
  /** Alerts that fire, of all accounts, by severity. */
  firing(): Promise<Record<'info' | 'warning' | 'critical', number>>;
}

/** Registers the metrics. */
export function alertMetrics(registry: Registry, { counters, firing }: AlertMetricsSource): void {
  const { gauges, counter } = metricsFor(registry);
  const byChannel = (counts: Record<ChannelName, number>) =>
    channelKinds.map((channel): LabelledValue => [{ channel }, counts[channel]]);

  // Read from the database, so every node reports the same values.
  gauges('gateway_alerts_firing', 'Alerts that fire, acknowledged ones not among them.', ['severity'], async () =>
    Object.entries(await firing()).map(([severity, count]): LabelledValue => [{ severity }, count]),
  );
  counter('gateway_alert_notifications_sent_total', 'Notifications that were taken.', ['channel'], () =>
    byChannel(counters.sent),
  );
  counter(
    'gateway_alert_notification_failures_total',
    'Attempts to send a notification that failed.',
    ['channel'],
    () => byChannel(counters.failed),
  );
  counter(
    'gateway_alert_notifications_given_up_total',
    'Notifications that were given up after a day.',
    ['channel'],
    () => byChannel(counters.givenUp),
  );
}
