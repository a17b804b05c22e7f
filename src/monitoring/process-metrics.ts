// The metrics of all processes of one gateway, as sums. What processes that have ended counted stays a part of them, so that no counter
// goes back while the primary lives.

import { AggregatorRegistry, Gauge, type Registry } from 'prom-client';
import type { LabelledValue } from './metrics.ts';

/** How metrics of several processes become one, as the library knows it. A later release may tell of others. */
const AGGREGATORS = new Set(['sum', 'first', 'omit', 'average', 'min', 'max']);

/** A metric as `Registry.getMetricsAsJSON` gives it, after it was JSON. */
export interface MetricJson {
  type: string;
  aggregator: string;
  /** JSON has no NaN: it is null there. */
  values?: { value: number | null }[];
}

/** @returns the metrics of a process that are counted up: counters and histograms. None of them asks the database. */
export async function countsOf(registry: Registry): Promise<object[]> {
  return Promise.all(
    registry
      .getMetricsAsArray()
      .map(({ name }) => registry.getSingleMetric(name))
      .filter((metric) => metric !== undefined && !(metric instanceof Gauge))
      .map((metric) => (metric as { get(): Promise<object> }).get()),
  );
}

interface Told {
  /** Of its process: `control`, or `worker 1`. */
  readonly name: string;
  counts: readonly MetricJson[];
  gauges: readonly MetricJson[];
  /** Of the monotonic clock. */
  at: number;
}

/** @typeParam Process stands for a process that runs, or did. */
export class ProcessMetrics<Process extends object> {
  readonly #keeps: (name: string) => boolean;
  readonly #now: () => number;
  readonly #told = new Map<Process, Told>();
  /** What processes that have ended told last, by their names, until another of the name tells its own. */
  readonly #kept = new Map<string, Told>();
  /** The sums of all that have ended. */
  #ended: readonly MetricJson[] = [];

  /**
   * @param keeps whether the gauges of a process with this name are shown on when it has ended, until another takes its place.
   * @param now a monotonic clock, in milliseconds.
   */
  constructor(keeps: (name: string) => boolean, now: () => number = () => performance.now()) {
    this.#keeps = keeps;
    this.#now = now;
  }

  /** Whether a process has told of its metrics. */
  has(process: Process): boolean {
    return this.#told.has(process);
  }

  /** A process tells of its metrics. @param isLast whether it ends, and these are its counts alone. */
  told(process: Process, name: string, all: readonly MetricJson[], isLast = false): void {
    const metrics = all.filter(({ aggregator }) => AGGREGATORS.has(aggregator));
    for (const { values = [] } of metrics) for (const each of values) each.value ??= Number.NaN;
    const counts = metrics.filter(isCount);
    const before = this.#told.get(process);
    if (isLast && before) before.counts = counts;
    else this.#told.set(process, { name, counts, gauges: metrics.filter((one) => !isCount(one)), at: this.#now() });
    this.#kept.delete(name);
  }

  /** A process has ended. */
  ended(process: Process): void {
    const told = this.#told.get(process);
    if (!told) return;
    this.#told.delete(process);
    this.#ended = sumOf([this.#ended, told.counts]).getMetricsAsArray() as unknown as MetricJson[];
    if (this.#keeps(told.name)) this.#kept.set(told.name, { ...told, counts: [] });
  }

  /** How old what each process told is, in seconds, by `process`; 0 for what was told since `collectedAt`. */
  ages(collectedAt: number): LabelledValue[] {
    const ages = new Map<string, number>();
    for (const { name, at } of [...this.#told.values(), ...this.#kept.values()]) {
      const age = at >= collectedAt ? 0 : (this.#now() - at) / 1000;
      ages.set(name, Math.max(age, ages.get(name) ?? 0));
    }
    return Array.from(ages, ([name, age]) => [{ process: name.replace(' ', '-') }, age]);
  }

  /** @param own the metrics of this process. @returns the sums, in the text format of Prometheus. */
  text(own: readonly object[]): Promise<string> {
    const told = [...this.#told.values(), ...this.#kept.values()].flatMap(({ counts, gauges }) => [counts, gauges]);
    return sumOf([own, ...told, this.#ended]).metrics();
  }
}

const isCount = ({ type }: MetricJson) => type === 'counter' || type === 'histogram';

const sumOf = (parts: readonly (readonly object[])[]) =>
  AggregatorRegistry.aggregate(parts as object[]) as unknown as Registry;
