// What the pipeline needs of the rest of the gateway.

import type { ReportingServices } from '../reports/safe-reporter.ts';
import type { VisitorRefusal } from './refusal.ts';

export interface PipelineServices extends ReportingServices {
  logRefusal(refusal: VisitorRefusal): void;
}
