// What is noted of a request, beyond what every report has, at endpoints whose requests are looked at one by one.

import type { Refusal, RequestObserver } from '../edge/reports/traffic-reports.ts';
import type { Visitor } from '../tunnel/endpoints/endpoint.ts';
import { BodyRecorder, type MemoryBudget } from './body-recorder.ts';

export class CaptureDetail implements RequestObserver {
  /** Where the bodies are copied to. */
  readonly budget: MemoryBudget;
  /** The other end of the connection; undefined as long as that was not noted. */
  peer: Visitor | undefined;
  refusal: Refusal | undefined;
  /** Whether all of the request has come. */
  isRequestComplete = false;
  /** Whether the gateway itself has answered. */
  isOwnAnswer = false;
  /** Whether both sides have spoken another protocol since the head of the answer. */
  isUpgraded = false;
  /** The beginnings of the bodies, where they are wanted. */
  readonly request: BodyRecorder | undefined;
  readonly response: BodyRecorder | undefined;

  /** @param bodyBytes how much of each body is wanted. */
  constructor(bodyBytes: number, room: MemoryBudget) {
    this.budget = room;
    if (bodyBytes === 0) return;
    this.request = new BodyRecorder(bodyBytes, room);
    this.response = new BodyRecorder(bodyBytes, room);
  }

  /** @param body of the answer, as it is sent. */
  sentLocalResponse(body: Buffer): void {
    this.isOwnAnswer = true;
    this.response?.take(body);
  }

  /** Nothing of it is wanted any more. */
  discard(): void {
    this.request?.discard();
    this.response?.discard();
  }
}
