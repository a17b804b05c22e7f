// What answers over HTTP mean for delivery: the one table.

import { type FailureKind, type Reason, SinkError, shortly } from '../sink.ts';

const KINDS: Record<number, FailureKind> = {
  400: 'split',
  401: 'config',
  402: 'config',
  403: 'config',
  404: 'config',
  405: 'config',
  410: 'config',
  413: 'split',
  422: 'split',
};

/** Longer waits than an hour are cut to it; milliseconds. */
const WAIT_MAX = 3_600_000;

/** An answer, as far as it matters here. Names of headers are in lower case. */
export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The failure that an answer other than 2xx is.
 * @param said what the provider says of it, if that is for tenants.
 * @param now the wall clock, in milliseconds.
 */
export function responseError({ status, headers }: ErrorResponse, said: string, now: number): SinkError {
  return new SinkError(KINDS[status] ?? 'retry', responseReason(status, said), retryAfterOf(headers, now));
}

export function responseReason(status: number, said: string): Reason {
  const text = shortly(said);
  return { code: `HTTP ${status}`, message: text ? `it answered ${status}: ${text}` : `it answered ${status}` };
}

/** What it asks to wait, in milliseconds: seconds or a date of `retry-after`, or seconds of `x-ratelimit-reset`. */
export function retryAfterOf(headers: ErrorResponse['headers'], now: number): number | undefined {
  const text = String(headers['retry-after'] ?? headers['x-ratelimit-reset'] ?? '').trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return wait >= 0 ? Math.min(wait, WAIT_MAX) : undefined;
}
