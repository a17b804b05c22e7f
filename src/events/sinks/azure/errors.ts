// The one table of what failures of Azure mean for delivery.

import type { PostResponse } from '../http/post.ts';
import { responseError, responseReason, retryAfterOf } from '../http/response-errors.ts';
import { SinkError, toShortLine } from '../sink.ts';

/** Codes of the login that are temporary. All others need a change of the configuration. */
const PASSING = new Set(['AADSTS50196', 'AADSTS90006', 'AADSTS90033']);

/** Codes of status 400 that are caused by the target, not by the events. */
const OF_TARGET = /^Invalid(Stream|RequestPath|ApiVersion|Dcr|Parameter)/;

/** A refused token. @param now the wall clock, in milliseconds. */
export function loginFailure({ status, headers, text }: PostResponse, now: number): SinkError {
  const said = jsonOf(text) as { error?: unknown; error_description?: unknown };
  const description = String(said.error_description ?? said.error ?? '');
  const code = codeIn(description);
  const isPassing = status === 429 || status >= 500 || (code !== undefined && PASSING.has(code));
  const reason = responseReason(status, saidBy(description));
  return new SinkError(
    isPassing ? 'retry' : 'config',
    { ...reason, ...(code && { code }) },
    retryAfterOf(headers, now),
  );
}

/** A refused upload. @param now the wall clock, in milliseconds. */
export function ingestionFailure({ status, headers, text }: PostResponse, now: number): SinkError {
  const { error } = jsonOf(text) as { error?: { code?: unknown; message?: unknown } };
  const code = String(error?.code ?? '');
  const refusal = responseError({ status, headers }, [code, error?.message].filter(Boolean).join(': '), now);
  return status === 400 && OF_TARGET.test(code) ? new SinkError('config', refusal) : refusal;
}

/** What succeeded, as the status says, and is not what Azure answers: a page of a proxy, perhaps. */
export function unusableAnswer({ status }: PostResponse): SinkError {
  return new SinkError('retry', { code: `HTTP ${status}`, message: 'what it answered could not be used' });
}

function codeIn(text: string): string | undefined {
  return /AADSTS\d+/.exec(text)?.[0];
}

/** The message without the trace ids that the login adds. */
function saidBy(text: string): string {
  return toShortLine(text.replace(/\s*Trace ID:.*$/s, ''));
}

/** What an answer says, if it is an object in JSON. */
export function jsonOf(text: string): object {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
