// Observes a request in more detail than a traffic report has, at endpoints whose requests are captured.

import type { Refusal, RequestObserver } from '../edge/reports/traffic-reports.ts';
import type { Visitor } from '../tunnel/endpoints/endpoint.ts';
import { BodyRecorder, type MemoryBudget } from './body-recorder.ts';

/** The details of one request for its capture. */
export class CaptureDetail implements RequestObserver {
  /** The memory for the bodies. */
  readonly budget: MemoryBudget;
  /** The client address of the connection; undefined until it is known. */
  peer: Visitor | undefined;
  /** The reason why the gateway refused the request. */
  refusal: Refusal | undefined;
  /** Whether the request was received completely. */
  isRequestComplete = false;
  /** Whether the response is one of the gateway itself. */
  isLocalResponse = false;
  /** Whether the connection was upgraded to another protocol (status 101). */
  isUpgraded = false;
  /** The recorders of the bodies; undefined when bodies are not recorded. */
  readonly request: BodyRecorder | undefined;
  readonly response: BodyRecorder | undefined;

  /** @param bodyBytes the most bytes to record of each body. */
  constructor(bodyBytes: number, budget: MemoryBudget) {
    this.budget = budget;
    if (bodyBytes === 0) return;
    this.request = new BodyRecorder(bodyBytes, budget);
    this.response = new BodyRecorder(bodyBytes, budget);
  }

  /** Notes that the gateway itself responds. @param body the body of the response. */
  sentLocalResponse(body: Buffer): void {
    this.isLocalResponse = true;
    this.response?.take(body);
  }

  /** Discards the recorded bodies. */
  discard(): void {
    this.request?.discard();
    this.response?.discard();
  }
}
