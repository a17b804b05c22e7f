// Starts what counts traffic for its figures, and what is done with them in the database.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { TrafficRecorder } from '../edge/metrics/traffic-recorder.ts';
import { failingMetric, recorderMetrics } from '../monitoring/figure-metrics.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { countFailing } from '../store/traffic-stats/endpoint-health.ts';
import {
  startTrafficHousekeeping,
  type TrafficHousekeepingParts,
} from '../store/traffic-stats/traffic-housekeeping.ts';
import type { DataPlaneParts } from './data-plane-types.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Starts to count. It ends after the visitors' listeners have drained, so that nothing is missing. */
export function startRecorder(
  parts: Lifecycle,
  { metricsEndpoints }: Pick<Config, 'metricsEndpoints'>,
  { statistics, log, registry }: Pick<DataPlaneParts, 'statistics' | 'log' | 'registry'>,
): Promise<TrafficRecorder> {
  return parts.start({
    name: 'figures of traffic',
    start() {
      const onFailure = (error: unknown) =>
        log.warn({ err: describeFailure(error) }, 'figures of traffic cannot be stored; trying again');
      const recorder = new TrafficRecorder({ ...statistics, busiestMax: metricsEndpoints, onFailure });
      recorderMetrics(registry, recorder);
      recorder.start();
      return recorder;
    },
    stop: (recorder) => recorder.close(),
  });
}

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
