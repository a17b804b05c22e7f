// Registers metrics over counters that other code keeps as plain numbers. The numbers are read at each scrape.

import { Counter, Gauge, type Metric, type Registry } from 'prom-client';

/**
 * Time limit for a value that must be asked for, as from the database; milliseconds. Prometheus waits for 10 s by default,
 * and it needs all other metrics most when the database hangs.
 */
const VALUE_TIMEOUT_MS = 2000;

/** One time series of a metric: its labels and its value. */
export type LabelledValue = [labels: Record<string, string>, value: number];

/** Durations counted in buckets: `counts[i]` counts those up to `bounds[i]`, the last entry those above every bound. */
export interface DurationCounts {
  readonly counts: readonly number[];
  /** Sum of all durations, in milliseconds. */
  readonly sum: number;
}

export interface Metrics {
  /** @param value may be asynchronous; when it fails or takes longer than two seconds, the metric keeps its last value. */
  gauge(name: string, help: string, value: () => number | Promise<number>): void;
  /** @param rows all series; those that are missing are removed. When it fails or takes too long, the last ones stay. */
  gauges(
    name: string,
    help: string,
    labelNames: string[],
    rows: () => LabelledValue[] | Promise<LabelledValue[]>,
  ): void;
  /** @param rows the running total of each series; the counter grows by the difference. */
  counter(name: string, help: string, labelNames: string[], rows: () => LabelledValue[]): void;
  /** A histogram in seconds. @param bounds in milliseconds. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    rows: () => [labels: Record<string, string>, counts: DurationCounts][],
  ): void;
}

/** @returns functions that register metrics in `registry`. */
export function metricsFor(registry: Registry): Metrics {
  const registers = [registry];
  const gauges: Metrics['gauges'] = (name, help, labelNames, rows) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const series = await withinTimeout(rows);
        if (!series) return; // The database is unavailable, which other metrics show.
        this.reset();
        for (const [labels, value] of series) this.set(labels, value);
      },
    });
  };
  return {
    gauges,
    gauge: (name, help, value) => gauges(name, help, [], async () => [[{}, await value()]]),
    counter(name, help, labelNames, rows) {
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
    },
    histogram(name, help, bounds, rows) {
      // The library's own histogram looks labels up at each observation, and cannot show durations counted elsewhere.
      const get = async () => ({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: rows().flatMap(([labels, counts]) => samples(name, labels, bounds, counts)),
      });
      registry.registerMetric({ name, get } as unknown as Metric);
    },
  };
}

/** @returns the value, or undefined when `ask` fails or takes longer than two seconds. */
async function withinTimeout<T>(ask: () => T | Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, VALUE_TIMEOUT_MS, undefined);
  });
  try {
    return await Promise.race([ask(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Prometheus buckets are cumulative: each one also counts those below it. */
function samples(
  name: string,
  labels: Record<string, string>,
  bounds: readonly number[],
  { counts, sum }: DurationCounts,
) {
  let count = 0;
  const buckets = counts.map((own, at) => {
    count += own;
    const bound = bounds[at];
    const le = bound === undefined ? '+Inf' : String(bound / 1000);
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum / 1000 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
