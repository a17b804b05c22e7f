// Prometheus metrics of the figures of traffic. Endpoints are a label only where the operator says how many of them.

import { Counter, type Registry } from 'prom-client';
import { ENDPOINT_BOUNDS_MS, type EndpointCounts } from '../edge/metrics/busiest-endpoints.ts';
import type { TrafficRecorder } from '../edge/metrics/traffic-recorder.ts';
import { metricsFor } from './metrics.ts';

/** Registers the metrics of what is recorded at this process. */
export function recorderMetrics(registry: Registry, recorder: TrafficRecorder): void {
  const { gauge, gauges, counter, histogram } = metricsFor(registry);
  gauge(
    'gateway_figures_recorded',
    'Endpoints, by session, and routes whose figures are recorded now.',
    () => recorder.size,
  );
  counter('gateway_figures_unrecorded_total', 'Visits without figures: too many endpoints at once.', [], () => [
    [{}, recorder.counters.unrecorded],
  ]);
  counter('gateway_figures_lost_total', 'Figures of one object and ten seconds that were not stored.', [], () => [
    [{}, recorder.counters.lost],
  ]);
  endpointCounter(registry, recorder, {
    name: 'gateway_endpoint_requests_total',
    help: 'Requests of the busiest endpoints (METRICS_ENDPOINTS), and of all others together.',
    label: 'code_class',
    values: ({ responses }) => responses.map((count, digit) => [digit === 0 ? 'none' : `${digit}xx`, count]),
  });
  endpointCounter(registry, recorder, {
    name: 'gateway_endpoint_bytes_total',
    help: 'Bytes of visitors of the same endpoints, both ways.',
    label: 'direction',
    values: ({ bytesIn, bytesOut }) => [
      ['in', bytesIn],
      ['out', bytesOut],
    ],
  });
  const { busiest } = recorder;
  histogram(
    'gateway_endpoint_duration_seconds',
    'Requests and connections of the same endpoints, by how long they took.',
    ENDPOINT_BOUNDS_MS,
    () => busiest.rows().map(([endpoint, { durations }]) => [{ endpoint }, durations]),
  );
  histogram(
    'gateway_endpoint_first_byte_seconds',
    'Responses of the same endpoints, by how long their first byte took.',
    ENDPOINT_BOUNDS_MS,
    () => busiest.rows().map(([endpoint, { firstBytes }]) => [{ endpoint }, firstBytes]),
  );
  gauges(
    'gateway_endpoint_open_connections',
    'Requests and connections of them that are under way.',
    ['endpoint'],
    () => busiest.rows().map(([endpoint, { openConnections }]) => [{ endpoint }, openConnections]),
  );
}

/** Registers how many endpoints fail. Read from the database, so every node reports the same. */
export function failingMetric(registry: Registry, count: () => Promise<number>): void {
  const { gauge } = metricsFor(registry);
  gauge('tunnel_endpoints_failing', 'Endpoints that are live and fail: FAILING_SHARE of their last requests.', count);
}

interface EndpointCounter {
  name: string;
  help: string;
  label: string;
  values(counts: EndpointCounts): (readonly [label: string, value: number])[];
}

/** Counters whose series end when an endpoint loses its place: they are made anew at each scrape. */
function endpointCounter(
  registry: Registry,
  { busiest }: Pick<TrafficRecorder, 'busiest'>,
  { name, help, label, values }: EndpointCounter,
): void {
  new Counter({
    name,
    help,
    labelNames: ['endpoint', label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [endpoint, counts] of busiest.rows())
        for (const [value, count] of values(counts)) if (count > 0) this.inc({ endpoint, [label]: value }, count);
    },
  });
}
