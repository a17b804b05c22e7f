// What the API asks of the delivery of events.

import type { Target } from '../events/sinks/index.ts';

/** What became of a trial. */
export interface TrialOutcome {
  ok: boolean;
  /** Milliseconds from the first byte sent to the answer understood. */
  latencyMs: number;
  /** Of the event that was sent: `ev_…`. */
  eventId: string;
  /** Null when it was taken; else as `Reason` of events/sink.ts has them. */
  code: string | null;
  message: string | null;
}

/** What the API needs of delivery. */
export interface Delivery {
  /**
   * Sends one `event_destination_test.v0` event the way that all events go, but past those that wait. Takes 20 s at most.
   * @param target with its secrets in clear; undefined when they cannot be read.
   * @throws nothing: what fails is the outcome.
   */
  tryDestination(
    target: Target | undefined,
    where: { destinationId: string; accountId: string },
  ): Promise<TrialOutcome>;
}
