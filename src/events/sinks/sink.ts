// A sink turns events into requests to one kind of target. Batching, splitting, retries and dead letters are not its own:
// src/events/delivery does that for all sinks.

import type { WrittenEvent } from '../written-event.ts';

export interface RequestLimits {
  /** Events in one request. */
  records: number;
  /** Bytes of one request: the sum of what `sizeOf` says of its events. */
  bytes: number;
  /** The most bytes of one event, by `sizeOf`. A larger one becomes a dead letter. */
  recordBytes: number;
}

export interface Sink {
  readonly limits: RequestLimits;
  /** How many bytes an event adds to a request. */
  sizeOf(event: WrittenEvent): number;
  /**
   * Sends one request within the limits, once, without retries or redirects. Everything that it waits for ends with `signal`.
   * It does not read the bytes of events any more once it has succeeded: their memory is then used again.
   * @returns the rejections, by index of the event; an empty list when all events were accepted.
   * @throws {SinkError} when the request as a whole failed, so that possibly no event was accepted. Anything else that is thrown
   * counts as a failure to be retried.
   */
  put(events: readonly WrittenEvent[], signal: AbortSignal): Promise<readonly PutRejection[]>;
  /** Closes its connections. */
  close(): void;
}

/** Why an event or a request was not accepted. Texts are the gateway's, or the provider's cut to one short line. */
export interface Reason {
  /** The provider's code (`ThrottlingException`), an HTTP status (`HTTP 503`), or a code of the network (`ECONNRESET`). */
  code: string;
  message: string;
}

export type PutRejection = Rejection | UnnamedRejections;

export interface Rejection extends Reason {
  index: number;
  /** `retry`: the event may be accepted the next time. `refused`: it never will be, so it becomes a dead letter. */
  fate: 'retry' | 'refused';
}

/** The target accepted the request, and says how many of its events it rejected for good, but not which. They are counted. */
export interface UnnamedRejections extends Reason {
  fate: 'unnamed';
  count: number;
}

/**
 * How a request failed:
 * `retry`: it may succeed the next time (network, timeouts, 408, 429, 5xx, throttling);
 * `split`: it is too large, or one of its events is invalid: its halves are sent, and a single event becomes a dead letter (413, 400);
 * `config`: it fails until somebody changes the destination or the target (credentials, permissions, a missing stream).
 */
export type FailureKind = 'retry' | 'split' | 'config';

export class SinkError extends Error implements Reason {
  readonly kind: FailureKind;
  readonly code: string;
  /** How long the provider asks to wait at least, in milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(kind: FailureKind, { code, message }: Reason, retryAfter?: number) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** A provider's message, cut to one short line. */
export function toShortLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
