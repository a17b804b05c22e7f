// Metrics of what the primary does. A gateway that is one process has them, too, so that alert rules find them everywhere.

import type { Registry } from 'prom-client';
import { type LabelledValue, metricsFor } from './metrics.ts';

export interface PrimaryMetricsSource {
  /** How often the watchdog has killed each process, by the process. */
  kills(): LabelledValue[];
  /** How many upgrades there were, by what became of them. */
  upgrades(): LabelledValue[];
  /** How old the values of each process are, in seconds. */
  ages(): LabelledValue[];
}

export function primaryMetrics(registry: Registry, { kills, upgrades, ages }: PrimaryMetricsSource): void {
  const { counter, gauges } = metricsFor(registry);
  counter(
    'gateway_watchdog_kills_total',
    'Unresponsive processes that the watchdog has killed, by the process; none of a gateway that is one process.',
    ['process'],
    kills,
  );
  counter(
    'gateway_upgrades_total',
    'Upgrades without a gap, by what became of them: done, failed to start, or taken back.',
    ['outcome'],
    upgrades,
  );
  gauges(
    'gateway_metrics_age_seconds',
    'How old the values of a process are: 0 when it has answered, more while it is away or silent.',
    ['process'],
    ages,
  );
}

/** Of a gateway that is one process. */
export const NO_PRIMARY: PrimaryMetricsSource = {
  kills: () => [[{ process: 'gateway' }, 0]],
  upgrades: () => [[{ outcome: 'done' }, 0]],
  ages: () => [[{ process: 'gateway' }, 0]],
};
