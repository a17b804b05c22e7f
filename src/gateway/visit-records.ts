// Starts what a process that carries visitors remembers of their visits. It is loaded by workers, which have no database: nothing of
// `store` belongs here.

import type { Config } from '../config/config.ts';
import { TrafficRecorder } from '../edge/metrics/traffic-recorder.ts';
import { recorderMetrics } from '../monitoring/figure-metrics.ts';
import { RequestLog } from '../request-log/request-log.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { DataPlaneParts } from './data-plane-types.ts';
import type { Lifecycle } from './lifecycle.ts';

/** Starts the request log. @param maxBytes 0: there is none. @param now a clock that never goes back, in milliseconds. */
export async function startRequestLog(
  parts: Lifecycle,
  maxBytes: number,
  now: () => number,
): Promise<RequestLog | undefined> {
  if (maxBytes === 0) return undefined;
  return parts.start({
    name: 'request log',
    start: () => new RequestLog({ maxBytes, time: Date.now, now }),
    stop: (log) => log.close(),
  });
}

/** Starts to count traffic for its figures. It ends after the visitors' listeners have drained, so that nothing is missing. */
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
