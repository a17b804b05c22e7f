// Metrics of what is counted in plain numbers: they are looked at when somebody asks.

import { Counter, Gauge, type Metric, type Registry } from 'prom-client';

/**
 * A value that has to be asked for, as of a database that may be away, is waited for so long; milliseconds. Whoever collects
 * metrics waits for 10 s as a rule, and is to have all others above all when the database hangs.
 */
const PATIENCE_MS = 2000;

/** A value with its labels. */
export type Row = [labels: Record<string, string>, value: number];

/** Durations that were counted by their length: `counts[i]` are those up to `bounds[i]`, the last one those above all. */
export interface Counts {
  readonly counts: readonly number[];
  /** Of all together; milliseconds. */
  readonly sum: number;
}

export interface Metrics {
  /** @param value may have to be asked for; when it cannot be told, or not within two seconds, the last one stays. */
  gauge(name: string, help: string, value: () => number | Promise<number>): void;
  /** @param rows all there are: of others the metric tells nothing any more. The same holds for when they cannot be told. */
  gauges(name: string, help: string, labelNames: string[], rows: () => Row[] | Promise<Row[]>): void;
  /** @param rows the whole of each value; the counter grows by the difference. */
  counter(name: string, help: string, labelNames: string[], rows: () => Row[]): void;
  /** A histogram in seconds. @param bounds in milliseconds. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    rows: () => [labels: Record<string, string>, counts: Counts][],
  ): void;
}

/** Registers metrics. */
export function metricsOf(registry: Registry): Metrics {
  const registers = [registry];
  const gauges: Metrics['gauges'] = (name, help, labelNames, rows) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        const told = await soon(rows);
        if (!told) return; // The database is away, which other metrics tell.
        this.reset();
        for (const [labels, value] of told) this.set(labels, value);
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
      // The library's own looks labels up at each observation, and takes none that were counted elsewhere.
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

/** What is told within two seconds; undefined when it is not, or cannot be. */
async function soon<T>(ask: () => T | Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, undefined);
  });
  try {
    return await Promise.race([ask(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** Buckets count all that is up to their bound, those below it included. */
function samples(name: string, labels: Record<string, string>, bounds: readonly number[], { counts, sum }: Counts) {
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
