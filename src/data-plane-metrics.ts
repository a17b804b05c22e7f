// What the data plane counts, for Prometheus. Names and accounts are no labels: there may be any number of them.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { HttpCounters } from './edge/http/front.ts';
import type { VisitorLimit } from './edge/visitors.ts';
import type { Traffic } from './protocol/relay.ts';
import type { AgentSessions } from './tunnel/agent-sessions.ts';
import type { Endpoints } from './tunnel/endpoints.ts';

export interface Counted {
  counters: { http: HttpCounters; https: HttpCounters; tcp: Traffic };
  limit: VisitorLimit;
  sessions: Pick<AgentSessions, 'size'>;
  endpoints: Pick<Endpoints, 'size'>;
}

/** Registers the metrics. The hot path counts plain numbers; they are looked at when somebody asks. */
export function dataPlaneMetrics(registry: Registry, { counters, limit, sessions, endpoints }: Counted): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge('tunnel_sessions', 'Sessions of agents on this node.', () => sessions.size);
  gauge('tunnel_endpoints', 'Endpoints that are live on this node.', () => endpoints.size);
  gauge('gateway_connections', 'Connections of visitors that are open.', () => limit.open);

  /** A counter that is told the whole of each value, and grows by the difference. */
  const counter = (
    name: string,
    help: string,
    labelNames: string[],
    rows: () => [Record<string, string>, number][],
  ) => {
    const seen = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const [labels, value] of rows()) {
          const key = JSON.stringify(labels);
          this.inc(labels, value - (seen.get(key) ?? 0));
          seen.set(key, value);
        }
      },
    });
  };
  const listeners = Object.entries({ http: counters.http, https: counters.https });
  counter('gateway_http_requests_total', 'Answers to visitors.', ['listener', 'code_class'], () =>
    listeners.flatMap(([listener, { answers }]) =>
      Object.entries(answers).map(([digit, count]): [Record<string, string>, number] => [
        { listener, code_class: `${digit}xx` },
        count,
      ]),
    ),
  );
  counter('gateway_http_answers_cut_total', 'Answers that were cut short.', ['listener'], () =>
    listeners.map(([listener, { cut }]): [Record<string, string>, number] => [{ listener }, cut]),
  );
  const sum = (direction: keyof Traffic) =>
    counters.http.traffic[direction] + counters.https.traffic[direction] + counters.tcp[direction];
  counter('gateway_bytes_total', 'Bytes of visitors, both ways.', ['direction'], () => [
    [{ direction: 'in' }, sum('fromSocket')],
    [{ direction: 'out' }, sum('toSocket')],
  ]);
}
