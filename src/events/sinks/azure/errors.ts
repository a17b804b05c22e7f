// The one table of what failures of Azure's clients mean for delivery.

import { networkReason } from '../http/network-errors.ts';
import { FORBIDDEN_ADDRESS, forbiddenAddress } from '../http/outbound.ts';
import { responseError, responseReason, retryAfterOf } from '../http/response-errors.ts';
import { SinkError, toShortLine } from '../sink.ts';
import type { RequestAttempt, RequestOutcome } from './requests.ts';

/** Codes of the login that are temporary. All others need a change of the configuration. */
const PASSING = new Set(['AADSTS50196', 'AADSTS90006', 'AADSTS90033']);

/** Codes of status 400 that are caused by the target, not by the events. */
const OF_TARGET = /^Invalid(Stream|RequestPath|ApiVersion|Dcr|Parameter)/;

type Answered = RequestOutcome & { kind: 'answered' };

/**
 * @param thrown by the client. What its last request came to says more, if there was one that failed.
 * @param now the wall clock, in milliseconds.
 */
export function toSinkError(thrown: unknown, { last }: RequestAttempt, now: number): SinkError {
  if (last?.kind === 'failed') return networkFailure(last.error);
  if (last && (last.status < 200 || last.status >= 300)) {
    if (last.status >= 300 && last.status < 400)
      return new SinkError('config', responseReason(last.status, 'it redirects'));
    return isLogin(last) ? loginFailure(last, now) : ingestionFailure(last, now);
  }
  const { name, message } = causeOf(thrown);
  const code = codeIn(message);
  if (code) return new SinkError(PASSING.has(code) ? 'retry' : 'config', { code, message: saidBy(message) });
  // The client's own texts name hosts, which must not be shown.
  return new SinkError('retry', { code: name, message: 'what it answered could not be used' });
}

function networkFailure(error: unknown): SinkError {
  if (error instanceof SinkError) return error;
  // The client wraps the error, and keeps its code.
  const { code, name } = error as NodeJS.ErrnoException;
  return code === FORBIDDEN_ADDRESS ? forbiddenAddress() : new SinkError('retry', networkReason({ code, name }));
}

function loginFailure({ status, headers, text }: Answered, now: number): SinkError {
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

function ingestionFailure({ status, headers, text }: Answered, now: number): SinkError {
  const { error } = jsonOf(text) as { error?: { code?: unknown; message?: unknown } };
  const code = String(error?.code ?? '');
  const refusal = responseError({ status, headers }, [code, error?.message].filter(Boolean).join(': '), now);
  return status === 400 && OF_TARGET.test(code) ? new SinkError('config', refusal) : refusal;
}

/** Whether a response is from the login. All paths of the ingestion begin alike. */
function isLogin({ url }: Answered): boolean {
  return !new URL(url).pathname.includes('/dataCollectionRules/');
}

/** The original error inside the client's wrapper. */
function causeOf(thrown: unknown): Error {
  const [first] = (thrown as { errors?: { cause?: unknown }[] }).errors ?? [];
  const cause = first?.cause ?? thrown;
  return cause instanceof Error ? cause : new Error(String(cause));
}

function codeIn(text: string): string | undefined {
  return /AADSTS\d+/.exec(text)?.[0];
}

/** The message without the trace ids that the login adds. */
function saidBy(text: string): string {
  return toShortLine(text.replace(/\s*Trace ID:.*$/s, ''));
}

function jsonOf(text: string): object {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
