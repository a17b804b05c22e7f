// What a request's head must be before anybody acts on it, beyond what Node's parser refuses.

import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/errors.ts';

/** What is taken, though not everywhere. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * Of a field that stands twice Node keeps the first, and a proxy in front may have judged by the second.
 * @returns what is wrong; undefined when nothing is.
 */
export function checkRequestHead({ headers, httpVersion, method, rawHeaders }: IncomingMessage): ApiError | undefined {
  const malformed = (reason: string) => new ApiError('malformedRequest', { reason });
  // Node's parser lets some other versions pass (RFC 9110, section 15.6.6).
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new ApiError('httpVersionNotSupported');
  if (method === 'CONNECT') return new ApiError('methodNotAllowed', { method, allowed: METHODS });
  let hosts = 0;
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts > 1) return malformed('the field Host stands more than once');
  if (hosts === 0 && httpVersion !== '1.0') return malformed('it has no Host');
  if (authorizations > 1) return malformed('the field Authorization stands more than once');
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return new ApiError('expectationFailed');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return malformed('its Transfer-Encoding must be "chunked" alone');
  return undefined;
}

/**
 * Refuses what is to be done only to a certain version of an object: objects have no entity tags, so that none can match, and then
 * nothing may be done (RFC 9110, section 13.1.1). `If-Match: *` asks for any version. The dates of other preconditions are passed
 * over, as objects have no dates of modification either (section 13.1.4).
 * @throws {ApiError}
 */
export function checkPreconditions({ headers }: IncomingMessage): void {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && ifMatch.trim() !== '*') throw new ApiError('preconditionFailed');
}

/**
 * The path of a request in the form that routes are written in: characters that need no encoding are decoded (RFC 3986,
 * section 6.2.2.2), once. What is encoded for a reason stays so, and slashes in a row stay several.
 */
export function normalizeRequestPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([2-7][\da-f])/gi, (encoded, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded;
  });
}
