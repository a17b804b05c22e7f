// A sink turns events into requests of one kind of target. Sending, splitting, retrying and giving up are not its own:
// src/events/delivery does that for all of them.

import type { WrittenEvent } from '../event.ts';

export interface RequestLimits {
  /** Events in one request. */
  records: number;
  /** Bytes of one request: the sum of what `sizeOf` says of its events. */
  bytes: number;
  /** What `sizeOf` may say of one event: a larger one is a dead letter. */
  recordBytes: number;
}

export interface Sink {
  readonly limits: RequestLimits;
  /** What an event counts for in a request: bytes. */
  sizeOf(event: WrittenEvent): number;
  /**
   * Sends one request within the limits, once: no retries, no redirects. Everything that it waits for ends with `signal`.
   * @returns what became of those that were not taken, by their index; none when all were.
   * @throws {SinkError} when the request as a whole failed, so that none was taken for certain. Whatever else is thrown
   * counts as one to be retried.
   */
  put(events: readonly WrittenEvent[], signal: AbortSignal): Promise<readonly PutRejection[]>;
  /** Closes its connections. */
  close(): void;
}

/** Why an event, or a request, was not taken. Texts are ours, or the provider's trimmed to one short line. */
export interface Reason {
  /** The provider's own, as `ThrottlingException`; an HTTP status as `HTTP 503`; of the network as `ECONNRESET`. */
  code: string;
  message: string;
}

export type PutRejection = Rejection | UnnamedRejections;

export interface Rejection extends Reason {
  index: number;
  /** `retry`: it may be taken the next time. `refused`: never, so that it is a dead letter. */
  fate: 'retry' | 'refused';
}

/** The target took the request, and says how many of its events it refused for good, but not which. They are counted. */
export interface UnnamedRejections extends Reason {
  fate: 'unnamed';
  count: number;
}

/**
 * What became of a request:
 * `retry`: it may be taken the next time (network, time-outs, 408, 429, 5xx, throttling);
 * `split`: it is too large, or something in it is wrong: its halves are tried, and a single event is a dead letter (413, 400);
 * `config`: it fails until somebody changes the destination or the target (credentials, rights, a stream that is not there).
 */
export type FailureKind = 'retry' | 'split' | 'config';

export class SinkError extends Error implements Reason {
  readonly kind: FailureKind;
  readonly code: string;
  /** What the provider asks to wait at least; milliseconds. */
  readonly retryAfter: number | undefined;

  constructor(kind: FailureKind, { code, message }: Reason, retryAfter?: number) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** A provider's text for people, on one short line. */
export function shortly(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
