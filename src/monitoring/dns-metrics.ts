// Prometheus metrics of the gateway's own name server.

import type { Registry } from 'prom-client';
import { transports } from '../dns/counters.ts';
import type { DnsResponder } from '../dns/responder.ts';
import { type LabelledValue, metricsFor } from './metrics.ts';

/** Questions that got no answer, or none worth it, by the reason. */
const UNANSWERED = ['slipped', 'dropped', 'ignored', 'unsent', 'refused', 'evicted'] as const;

/** Registers the metrics. */
export function dnsMetrics(registry: Registry, { counters }: Pick<DnsResponder, 'counters'>): void {
  const { counter } = metricsFor(registry);
  counter('gateway_dns_answers_total', 'Answers of the name server.', ['transport', 'code'], () =>
    transports.flatMap((transport) =>
      Object.entries(counters.answers[transport]).map(([code, count]): LabelledValue => [{ transport, code }, count]),
    ),
  );
  counter(
    'gateway_dns_unanswered_total',
    'Questions and connections that the name server turned away.',
    ['reason'],
    () => UNANSWERED.map((reason): LabelledValue => [{ reason }, counters[reason]]),
  );
  counter('gateway_dns_failures_total', 'Questions that could not be answered, as the database was away.', [], () => [
    [{}, counters.failures],
  ]);
}
