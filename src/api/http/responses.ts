// Responses in JSON: results, and errors in the form of REST.

import { errorCode } from '../errors/error-code.ts';
import { type ApiError, toApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { restName } from '../naming.ts';
import type { Dialect } from '../route.ts';

/** Seconds after which a client may try again when the database is away. */
const RETRY_AFTER_SECONDS = 2;

/** @param mayCompress left out: it is never compressed. */
export function sendJson(
  { response, body: writer }: ApiExchange,
  status: number,
  body: unknown,
  mayCompress?: boolean,
): void {
  writer.send(response, status, 'application/json; charset=utf-8', JSON.stringify(body), mayCompress);
}

/**
 * Sets the headers that go with an error and notes it for the log.
 * @returns what the client may know.
 */
export function recordError({ response, log }: ApiExchange, thrown: unknown): ApiError {
  const { error, internalError: hidden } = toApiError(thrown);
  log.errorCode ??= String(error.extensions.errorCode);
  if (hidden !== undefined) log.failure = hidden;
  if (!response.headersSent) {
    if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    const { allowed } = error.parameters;
    if (error.status === 405 && allowed !== undefined) response.setHeader('Allow', String(allowed));
    if (error.status === 429) response.setHeader('Retry-After', Number(error.parameters.seconds));
    if (error.status === 503) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  }
  return error;
}

/** Sends an error in the form of REST. */
export function sendError(exchange: ApiExchange, thrown: unknown): void {
  if (exchange.response.headersSent) return void exchange.response.destroy();
  const error = recordError(exchange, thrown);
  if (error.status === 413) exchange.response.setHeader('Connection', 'close'); // The rest of the body is not worth reading.
  sendJson(exchange, error.status, errorBody(error, exchange.operationId, exchange.dialect));
}

/**
 * The error body of REST: `error_code`, `status_code`, `msg`, `details`, always all four. The details have what is wrong with each member
 * that is to blame, under its path (`acl[0]`); the first thing that is wrong with it.
 */
export function errorBody(error: ApiError, operationId: string, dialect: Dialect): object {
  return {
    error_code: errorCode(error.number, dialect),
    status_code: error.status,
    msg: error.textFor(restName),
    details: detailsOf(error, operationId),
  };
}

function detailsOf({ problems, hasMoreProblems }: ApiError, operationId: string): Record<string, string> {
  const details = new Map([['operation_id', operationId]]);
  for (const problem of problems) {
    const { culprit } = problem.parameters;
    // The path of an unknown member is as the client has written it.
    const member = problem.parameters.member === undefined ? String(culprit) : restName(problem.member ?? '');
    if (!details.has(member)) details.set(member, problem.textFor(restName));
  }
  if (hasMoreProblems) details.set('problems_truncated', `Only the first ${problems.length} problems are listed.`);
  return Object.fromEntries(details);
}
