import { Counter, Histogram, type Registry } from 'prom-client';

export interface ApiMetrics {
  request(method: string, status: number, ms: number): void;
}

/** How many requests came, and how long they took, never by account or id, which have no bound. */
export function apiMetrics(registry: Registry): ApiMetrics {
  const requests = new Counter({
    name: 'api_requests_total',
    help: 'Requests to the management API',
    labelNames: ['method', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'api_request_duration_seconds',
    help: 'Time from a request to the end of its answer',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  // Finding a counter by its labels costs more than counting.
  const counters = new Map<string, { inc(): void }>();
  const counterOf = (method: string, status: number) => {
    const key = `${method} ${status}`;
    const counter = counters.get(key) ?? requests.labels({ method, status });
    counters.set(key, counter);
    return counter;
  };
  return {
    request(method, status, ms) {
      counterOf(method, status).inc();
      durations.observe(ms / 1000);
    },
  };
}
