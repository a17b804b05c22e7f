// Prometheus metrics of events on this node. Accounts and destinations are not labels: the API shows those.

import type { Registry } from 'prom-client';
import type { DeliveryCounters } from '../events/delivery/counters.ts';
import { restNameOf, type SinkName, sinkNames } from '../events/sinks/index.ts';
import type { TrafficCounters } from '../events/traffic/counters.ts';
import type { Backlog } from '../store/events/backlog.ts';
import type { SweptEvents } from '../store/events/retention.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';
import { trafficEventMetrics } from './traffic-event-metrics.ts';

export interface EventMetricsSource {
  traffic: TrafficCounters;
  delivery: DeliveryCounters;
  swept: SweptEvents;
  backlog(): Promise<Backlog>;
}

/** Registers the metrics. */
export function eventMetrics(registry: Registry, { traffic, delivery, swept, backlog }: EventMetricsSource): void {
  const { gauge, counter } = metricsFor(registry);
  const byTarget = (counts: Record<SinkName, number>) =>
    sinkNames.map((name): LabelledValue => [{ target: restNameOf(name) }, counts[name]]);

  counter('events_delivered_total', 'Events that targets took.', ['target'], () => byTarget(delivery.delivered));
  counter('events_rejected_total', 'Events that targets rejected without saying which.', ['target'], () =>
    byTarget(delivery.rejected),
  );
  counter('event_requests_total', 'Requests to targets.', ['target'], () => byTarget(delivery.requests));
  counter('event_dead_letters_total', 'Events that targets refused for good.', ['target'], () =>
    byTarget(delivery.dead),
  );
  counter('event_failures_total', 'Requests to targets that failed.', ['target', 'class'], () =>
    sinkNames.flatMap((sink) =>
      Object.entries(delivery.failures[sink]).map(
        ([name, count]): LabelledValue => [{ target: restNameOf(sink), class: name }, count],
      ),
    ),
  );
  gauge('event_delivery_lag_seconds', 'Age of the event that was delivered last.', () => (delivery.lagMs ?? 0) / 1000);

  trafficEventMetrics(registry, traffic, () => [
    [{ reason: 'too_old' }, swept.trafficTooOld + swept.auditTooOld],
    [{ reason: 'backlog_full' }, swept.trafficOverCap + swept.auditOverCap],
    [{ reason: 'dead_letters_full' }, swept.deadLetters],
  ]);
  // Read from the database, so every node reports the same values.
  gauge('event_backlog_events', 'Events that wait in the database.', async () => (await backlog()).events);
  gauge('event_backlog_bytes', 'Their bytes, as they are stored.', async () => (await backlog()).bytes);
  gauge('event_backlog_age_seconds', 'How long the oldest of them has waited.', async () => (await backlog()).age);
  gauge('event_dead_letters', 'Dead letters that are kept.', async () => (await backlog()).deadLetters);
}
