// The one table of what HTTP responses mean for delivery.

import { type FailureKind, type Reason, SinkError, toShortLine } from '../sink.ts';

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

/** The longest delay that a provider can ask for, in milliseconds. */
const WAIT_MAX = 3_600_000;

/** The parts of a response that matter here. Names of header fields are in lower case. */
export interface ErrorResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The failure of a response other than 2xx.
 * @param said the provider's message, if tenants may see it.
 * @param now the wall clock, in milliseconds.
 */
export function responseError({ status, headers }: ErrorResponse, said: string, now: number): SinkError {
  return new SinkError(KINDS[status] ?? 'retry', responseReason(status, said), retryAfterOf(headers, now));
}

export function responseReason(status: number, said: string): Reason {
  const text = toShortLine(said);
  return { code: `HTTP ${status}`, message: text ? `it answered ${status}: ${text}` : `it answered ${status}` };
}

/** The delay that a response asks for, in milliseconds: `retry-after` in seconds or as a date, or `x-ratelimit-reset` in seconds. */
export function retryAfterOf(headers: ErrorResponse['headers'], now: number): number | undefined {
  const text = String(headers['retry-after'] ?? headers['x-ratelimit-reset'] ?? '').trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return wait >= 0 ? Math.min(wait, WAIT_MAX) : undefined;
}
