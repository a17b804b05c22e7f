// The variables of the figures of traffic, and of the request log.

import type { z } from 'zod';
import type { FailingSettings } from '../store/traffic-stats/failing-settings.ts';
import { count, milliseconds, share } from './value-types.ts';

export const figureVariables = {
  METRICS_ENDPOINTS: count(0, 0, 1000).meta({
    description:
      'endpoints that [Prometheus](operating.md#monitoring) sees one by one, by their URL: the busiest of each process, until they had no request for ten minutes. All others are one together',
  }),
  REQUEST_LOG_MB: count(32, 0, 1024).meta({
    description: 'megabytes of the [request log](requests.md#request-log) in memory; 0 logs no requests',
  }),
  FAILING_WINDOW_MS: milliseconds(60_000, 10_000, 3_600_000).meta({
    description:
      'time that is looked back, in steps of ten seconds, to tell [whether an endpoint fails](traffic-figures.md#failing-endpoints)',
  }),
  FAILING_SHARE: share(0.5).meta({
    description:
      'share of an endpoint’s requests, from 0 to 1, that are answered with a status 5xx, or not at all, from which on it counts as failing. 0: no endpoint ever does',
  }),
  FAILING_MIN_REQUESTS: count(10, 1, 1_000_000).meta({
    description: 'requests that an endpoint must have had in that time to count as failing',
  }),
};

export interface FigureSettings extends FailingSettings {
  /** How many endpoints Prometheus sees one by one. */
  metricsEndpoints: number;
}

type Values = z.output<z.ZodObject<typeof figureVariables>>;

export function figureSettings(e: Values): FigureSettings {
  return {
    metricsEndpoints: e.METRICS_ENDPOINTS,
    failingWindow: e.FAILING_WINDOW_MS,
    failingShare: e.FAILING_SHARE,
    failingMinRequests: e.FAILING_MIN_REQUESTS,
  };
}
