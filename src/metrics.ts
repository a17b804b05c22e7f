// Metrics of what is counted in plain numbers: they are looked at when somebody asks.

import { Counter, Gauge, type Registry } from 'prom-client';

/** A value with its labels. */
export type Row = [labels: Record<string, string>, value: number];

export interface Metrics {
  /** @param value may have to be asked for; when it cannot be told, the last one stays. */
  gauge(name: string, help: string, value: () => number | Promise<number>): void;
  /** @param rows the whole of each value; the counter grows by the difference. */
  counter(name: string, help: string, labelNames: string[], rows: () => Row[]): void;
}

/** Registers metrics. */
export function metricsOf(registry: Registry): Metrics {
  const registers = [registry];
  return {
    gauge(name, help, value) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          try {
            this.set(await value());
          } catch {
            // The database is away, which other metrics tell.
          }
        },
      });
    },
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
  };
}
