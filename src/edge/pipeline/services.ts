// What the pipeline needs of the rest of the gateway.

import type { TrafficRecorder } from '../metrics/traffic-recorder.ts';
import type { IpRestrictionEffect } from '../modules/ip-restriction.ts';
import type { RequestLogger } from '../reports/logged-request.ts';
import type { ReportingServices } from '../reports/safe-reporter.ts';
import type { VisitorRefusal } from './rules/refusal.ts';

/** The IP restriction for the visitors of all endpoints of an account. */
export interface VisitorRestriction extends IpRestrictionEffect {
  /** Whether an address is refused; the check itself is not reported. */
  refuses(ip: string): boolean;
}

export interface PipelineServices extends ReportingServices {
  logRefusal(refusal: VisitorRefusal): void;
  /** A request was sent to its service once more; left out: nobody wants to know. */
  logRepeated?(request: { endpointId: string; accountId: string; ip: string }): void;
  /** What the visitors of an account's endpoints pass before all else; undefined, or left out, where there is nothing. */
  restrictionOf?(accountId: string): VisitorRestriction | undefined;
  /** A service has answered with what is no HTTP; left out: nobody wants to know. */
  logFault?(answer: { endpointId: string; accountId: string; reason: string }): void;
  /** Records the figures of traffic; left out, nothing is recorded. */
  readonly recorder?: TrafficRecorder | undefined;
  /** Keeps what requests to endpoints were; left out where none is kept. */
  readonly requestLog?: RequestLogger | undefined;
}
