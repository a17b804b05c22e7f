// What a process tells the primary of its metrics.

import type { Registry } from 'prom-client';
import { countsOf, type MetricJson } from '../monitoring/process-metrics.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { tellPrimary } from './messages.ts';

/** How long a primary that stands still keeps a process from ending; milliseconds. */
const LAST_MS = 1000;

/** Tells all of them. @returns when they are on their way. */
export async function tellMetrics(registry: Registry): Promise<void> {
  await tellPrimary({ type: 'metrics', metrics: (await registry.getMetricsAsJSON()) as unknown as MetricJson[] });
}

/** To be called when the process ends: its counts stay a part of the sums. @returns when they are on their way. It never rejects. */
export async function tellLastCounts(registry: Registry): Promise<void> {
  const counts = await countsOf(registry).catch(() => undefined);
  if (counts)
    await waitAtMost(LAST_MS, tellPrimary({ type: 'metrics', metrics: counts as MetricJson[], isLast: true }));
}
