// Starts what is done with the figures of traffic in the database.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { failingMetric } from '../monitoring/figure-metrics.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { countFailing } from '../store/traffic-stats/endpoint-health.ts';
import {
  startTrafficHousekeeping,
  type TrafficHousekeepingParts,
} from '../store/traffic-stats/traffic-housekeeping.ts';
import type { Lifecycle } from './lifecycle.ts';

interface FiguresParts extends Pick<TrafficHousekeepingParts, 'prisma' | 'changes' | 'holder' | 'now'> {
  log: Logger;
  registry: Registry;
}

/** Starts to sum up figures, and to find endpoints that fail. */
export async function startFigures(
  parts: Lifecycle,
  config: Config,
  { log, registry, ...of }: FiguresParts,
): Promise<void> {
  const onFailure = (error: unknown) =>
    log.warn({ err: describeFailure(error) }, 'figures of traffic cannot be summed up; trying again');
  failingMetric(registry, () => countFailing(of.prisma));
  await parts.start({
    name: 'sums of traffic',
    start: () => startTrafficHousekeeping({ ...of, settings: config, onFailure }),
    stop: (stop) => stop(),
  });
}
