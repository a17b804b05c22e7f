// Prometheus metrics of the data plane. Names and accounts are not labels, because there may be any number of them.

import type { Registry } from 'prom-client';
import type { AddressDialer } from '../edge/dialing/address-dialer.ts';
import type { Counters } from '../edge/metrics/counters.ts';
import { BOUNDS_MS } from '../edge/metrics/duration-histogram.ts';
import type { Certificates } from '../edge/tls/certificates.ts';
import type { HandshakeCounts } from '../edge/tls/handshake-turns.ts';
import type { ConnectionLimit } from '../edge/visitors/connection-limit.ts';
import type { ByteCounters } from '../protocol/relay.ts';
import type { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import type { AgentSessions } from '../tunnel/session/agent-sessions.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

export interface DataPlaneMetricsSource {
  counters: Counters;
  limit: ConnectionLimit;
  handshakes: HandshakeCounts;
  certificates: Pick<Certificates, 'unusableFiles'>;
  sessions: Pick<AgentSessions, 'size' | 'refusals'>;
  endpoints: Pick<EndpointRegistry, 'size'>;
  dialer: Pick<AddressDialer, 'count'>;
}

/** Registers the metrics. */
export function dataPlaneMetrics(
  registry: Registry,
  { counters, limit, handshakes, certificates, sessions, endpoints, dialer }: DataPlaneMetricsSource,
): void {
  const { gauge, counter, histogram } = metricsFor(registry);
  gauge('tunnel_sessions', 'Sessions of agents on this node.', () => sessions.size);
  gauge('tunnel_endpoints', 'Endpoints that are live on this node.', () => endpoints.size);
  gauge('gateway_connections', 'Connections of visitors that are open.', () => limit.open);
  gauge('gateway_backend_connections', 'Connections to static backends, also those not yet open.', () => dialer.count);
  counter(
    'gateway_handshakes_held_total',
    'TLS handshakes of visitors that were delayed or refused, as their address had too many.',
    ['outcome'],
    () => Object.entries(handshakes).map(([outcome, count]): LabelledValue => [{ outcome }, count]),
  );
  gauge(
    'gateway_certificate_files_unusable',
    'Files in TLS_DIR that cannot be used as they are now. Visitors see what was read of them before.',
    () => certificates.unusableFiles(),
  );

  const listeners = Object.entries({ http: counters.http, https: counters.https });
  counter('gateway_http_requests_total', 'Answers to visitors.', ['listener', 'code_class'], () =>
    listeners.flatMap(([listener, { responses: answers }]) =>
      Object.entries(answers).map(([digit, count]): LabelledValue => [{ listener, code_class: `${digit}xx` }, count]),
    ),
  );
  counter('gateway_http_answers_cut_total', 'Answers that were cut short.', ['listener'], () =>
    listeners.map(([listener, { cut }]): LabelledValue => [{ listener }, cut]),
  );
  counter(
    'gateway_http_requests_repeated_total',
    'Requests that were sent to their service once more, as it had closed the kept connection.',
    ['listener'],
    () => listeners.map(([listener, { repeated }]): LabelledValue => [{ listener }, repeated]),
  );
  const { http, https, streams } = counters;
  const sum = (direction: keyof ByteCounters) =>
    http.traffic[direction] + https.traffic[direction] + streams[direction];
  counter('gateway_bytes_total', 'Bytes of visitors, both ways.', ['direction'], () => [
    [{ direction: 'in' }, sum('fromSocket')],
    [{ direction: 'out' }, sum('toSocket')],
  ]);

  histogram('gateway_visit_duration_seconds', 'Visits to endpoints, by how long they took.', BOUNDS_MS, () => [
    [{ kind: 'http' }, http.requestDurations],
    [{ kind: 'https' }, https.requestDurations],
    [{ kind: 'http_upgrade' }, http.upgradeDurations],
    [{ kind: 'https_upgrade' }, https.upgradeDurations],
    [{ kind: 'tcp' }, streams.tcp],
    [{ kind: 'tls' }, streams.tls],
  ]);
  histogram('gateway_visit_first_byte_seconds', 'Time from a request to the head of its answer.', BOUNDS_MS, () => [
    [{ kind: 'http' }, http.firstByteDurations],
    [{ kind: 'https' }, https.firstByteDurations],
  ]);
  counter('gateway_agent_refusals_total', 'What agents were refused, by the reason.', ['reason'], () =>
    sessions.refusals.rows().map(([reason, count]): LabelledValue => [{ reason }, count]),
  );
}
