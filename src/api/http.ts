// What both doors share of HTTP: who is calling and how often, where from, and how an answer is written.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Texts } from './body.ts';
import { restName } from './case.ts';
import { ApiError, toApiError } from './errors.ts';
import type { ApiSettings } from './settings.ts';
import type { SignInNote } from './sign-in/note.ts';

/** Seconds after which a client may try again when the database is away. */
const RETRY_AFTER_SECONDS = 2;

/** A request, with what every part of its handling needs. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  operationId: string;
  baseUrl: string;
  /** The address of the client, as `clientAddress` found it. */
  clientIp: string;
  /** Whether nobody on the way can read along: it came by TLS, here or at a proxy in front. */
  isSecure: boolean;
  /** Whether it never left this machine: it came from a loopback address, for a loopback name. */
  isLoopback: boolean;
  /** Writes its answer. */
  texts: Texts;
  /** Whether it names one of the dashboard's own operations; undefined as long as it was not read. */
  isPersisted?: boolean;
  /** For the log line: filled in on the way. */
  seen: Seen;
}

export interface Seen {
  keyId?: string;
  sessionId?: string;
  accountId?: string;
  errorCode?: string;
  failure?: unknown;
  operation?: string;
  signIns?: (SignInNote & { ip: string })[];
}

/**
 * What `uri`s begin with: the configured address, or the request's own origin when it names a host that we are known
 * by, or else the address we listen on.
 * @param forwardedScheme what a trusted proxy says that the client used.
 */
export function baseUrlOf(
  { publicApiUrl, allowedHosts }: ApiSettings,
  request: IncomingMessage,
  forwardedScheme?: 'http' | 'https',
): string {
  if (publicApiUrl) return publicApiUrl;
  const scheme = forwardedScheme ?? ('encrypted' in request.socket ? 'https' : 'http');
  const host = request.headers.host?.toLowerCase() ?? '';
  const name = host.replace(/:\d+$/, '');
  if (allowedHosts.includes(name) && /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?$/.test(host))
    return `${scheme}://${host}`;
  const { localAddress = '127.0.0.1', localPort } = request.socket;
  return `${scheme}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** Counts the request against the allowance of a key or a browser session. @throws {ApiError} when there is none left. */
export async function countRequest(limiter: RateLimiterMemory, id: string, response: ServerResponse): Promise<void> {
  const limit = limiter.points;
  let refused = false;
  const state = await limiter.consume(id).catch((rejection: RateLimiterRes) => {
    refused = true;
    return rejection;
  });
  const seconds = Math.ceil(state.msBeforeNext / 1000);
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', state.remainingPoints);
  response.setHeader('RateLimit-Reset', seconds);
  if (!refused) return;
  throw new ApiError('rateLimited', { limit, seconds });
}

/** Whether a request brings a body, even an empty chunked one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** @throws {ApiError} unless the body says that it is JSON. */
export function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type === undefined) throw new ApiError('missingContentType');
  if (
    !/^application\/json *(; *charset *= *"?utf-8"? *)?$/i.test(type) ||
    (headers['content-encoding'] ?? 'identity') !== 'identity'
  ) {
    throw new ApiError('unsupportedContentType');
  }
}

/** @param mayCompress left out: it is never compressed. */
export function sendJson({ response, texts }: Exchange, status: number, body: unknown, mayCompress?: boolean): void {
  texts.send(response, status, 'application/json; charset=utf-8', JSON.stringify(body), mayCompress);
}

/** Sets the headers that go with an error, notes it for the log, and returns what the client may know. */
export function noteError({ response, seen }: Exchange, thrown: unknown): ApiError {
  const { error, hidden } = toApiError(thrown);
  seen.errorCode ??= String(error.extensions.errorCode);
  if (hidden !== undefined) seen.failure = hidden;
  if (!response.headersSent) {
    if (error.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    if (error.status === 429) response.setHeader('Retry-After', Number(error.parameters.seconds));
    if (error.status === 503) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  }
  return error;
}

/** Answers with an error, as REST does. */
export function sendError(exchange: Exchange, thrown: unknown): void {
  if (exchange.response.headersSent) return void exchange.response.destroy();
  const error = noteError(exchange, thrown);
  if (error.status === 413) exchange.response.setHeader('Connection', 'close'); // The rest of the body is not worth reading.
  sendJson(exchange, error.status, errorBody(error, exchange.operationId));
}

/** The error body of REST: `error_code`, `status_code`, `msg`, `details`, always all four. */
export function errorBody(error: ApiError, operationId: string): object {
  return {
    error_code: error.extensions.errorCode,
    status_code: error.status,
    msg: error.textFor(restName),
    details: { operation_id: operationId },
  };
}
