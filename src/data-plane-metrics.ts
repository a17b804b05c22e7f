// What the data plane counts, for Prometheus. Names and accounts are no labels: there may be any number of them.

import type { Registry } from 'prom-client';
import type { HttpCounters } from './edge/http/front.ts';
import type { VisitorLimit } from './edge/visitor-limit.ts';
import { metricsOf, type Row } from './metrics.ts';
import type { Traffic } from './protocol/relay.ts';
import type { AgentSessions } from './tunnel/agent-sessions.ts';
import type { Endpoints } from './tunnel/endpoints.ts';

export interface Counted {
  counters: { http: HttpCounters; https: HttpCounters; tcp: Traffic };
  limit: VisitorLimit;
  sessions: Pick<AgentSessions, 'size'>;
  endpoints: Pick<Endpoints, 'size'>;
}

/** Registers the metrics. */
export function dataPlaneMetrics(registry: Registry, { counters, limit, sessions, endpoints }: Counted): void {
  const { gauge, counter } = metricsOf(registry);
  gauge('tunnel_sessions', 'Sessions of agents on this node.', () => sessions.size);
  gauge('tunnel_endpoints', 'Endpoints that are live on this node.', () => endpoints.size);
  gauge('gateway_connections', 'Connections of visitors that are open.', () => limit.open);

  const listeners = Object.entries({ http: counters.http, https: counters.https });
  counter('gateway_http_requests_total', 'Answers to visitors.', ['listener', 'code_class'], () =>
    listeners.flatMap(([listener, { answers }]) =>
      Object.entries(answers).map(([digit, count]): Row => [{ listener, code_class: `${digit}xx` }, count]),
    ),
  );
  counter('gateway_http_answers_cut_total', 'Answers that were cut short.', ['listener'], () =>
    listeners.map(([listener, { cut }]): Row => [{ listener }, cut]),
  );
  const sum = (direction: keyof Traffic) =>
    counters.http.traffic[direction] + counters.https.traffic[direction] + counters.tcp[direction];
  counter('gateway_bytes_total', 'Bytes of visitors, both ways.', ['direction'], () => [
    [{ direction: 'in' }, sum('fromSocket')],
    [{ direction: 'out' }, sum('toSocket')],
  ]);
}
