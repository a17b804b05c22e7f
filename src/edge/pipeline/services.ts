// What the pipeline needs of the rest of the gateway.

import type { TrafficRecorder } from '../metrics/traffic-recorder.ts';
import type { RequestLogger } from '../reports/logged-request.ts';
import type { ReportingServices } from '../reports/safe-reporter.ts';
import type { VisitorRefusal } from './refusal.ts';

export interface PipelineServices extends ReportingServices {
  logRefusal(refusal: VisitorRefusal): void;
  /** Records the figures of traffic; left out, nothing is recorded. */
  readonly recorder?: TrafficRecorder | undefined;
  /** Keeps what requests to endpoints were; left out where none is kept. */
  readonly requestLog?: RequestLogger | undefined;
}
