// Prometheus metrics of traffic events on their way into the store.

import type { Registry } from 'prom-client';
import type { TrafficCounters } from '../events/traffic/counters.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

/** Registers the metrics. @param swept the events that were given up in the store; left out in processes that do not sweep it. */
export function trafficEventMetrics(
  registry: Registry,
  traffic: TrafficCounters,
  swept: () => LabelledValue[] = () => [],
): void {
  const { gauge, counter } = metricsFor(registry);
  counter('traffic_events_total', 'Traffic events for destinations, by what became of them.', ['outcome'], () => [
    [{ outcome: 'accepted' }, traffic.accepted],
    [{ outcome: 'stored' }, traffic.appended],
    [{ outcome: 'sampled_out' }, traffic.sampledOut],
    [{ outcome: 'filtered_out' }, traffic.filteredOut],
    [{ outcome: 'filter_failed' }, traffic.filterFailed],
  ]);
  counter('events_dropped_total', 'Events that were given up, by the reason.', ['reason'], () => [
    [{ reason: 'buffer_full' }, traffic.dropped.buffer],
    [{ reason: 'stopped' }, traffic.dropped.closed],
    ...swept(),
  ]);
  gauge('traffic_events_waiting', 'Traffic events in memory.', () => traffic.waiting.events);
  gauge('traffic_event_bytes_waiting', 'Bytes of traffic events in memory.', () => traffic.waiting.bytes);
}
