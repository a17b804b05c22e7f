// Why a connection is closed that carries operations: in numbers that clients of WebSockets act on. The library graphql-ws comes back after all but those of mistakes in the
// client itself: 4400, 4401, 4406, 4409, 4429, 1002 to 1011.

import { ApiError, toApiError } from '../errors/errors.ts';

/** What closes a connection. */
export interface ConnectionEnd {
  code: number;
  reason: string;
}

/** The reason of a close frame has no room for more bytes. */
const REASON_MAX = 123;

/** The gateway stops, or its client has other rights than before: the same can be had again at once. */
const RESTART = 1012;
const TRY_LATER = 1013;
const INTERNAL = 4500;
const BAD_MESSAGE = 4400;
const NO_KEY = 4401;
const FORBIDDEN = 4403;
const NOT_READING = 4460;

export const STOPPING: ConnectionEnd = { code: RESTART, reason: 'The gateway stops or is upgraded: connect again' };
export const NOT_TEXT: ConnectionEnd = { code: BAD_MESSAGE, reason: 'Messages are JSON in text frames' };
export const UNREAD: ConnectionEnd = { code: NOT_READING, reason: 'The client does not read what it is sent' };
export const FAILED: ConnectionEnd = { code: INTERNAL, reason: 'Internal error' };

/** How a WebSocket ends that has sent a message which is none. */
export function badMessage(error: unknown): ConnectionEnd {
  return { code: BAD_MESSAGE, reason: shortened(toApiError(error).error.message) };
}

/** How a WebSocket ends whose client may not go on, by the error that says why. */
export function refusal(thrown: unknown): ConnectionEnd {
  const { error } = toApiError(thrown);
  return { code: codeOf(error), reason: shortened(error.message) };
}

/** Whether an error says that the caller has other rights than before, or none. */
export function isOfRights(error: unknown): boolean {
  const { code, errorCode } = toApiError(error).error.extensions;
  return code === 'UNAUTHENTICATED' || errorCode === new ApiError('subscriptionOver').extensions.errorCode;
}

function codeOf({ extensions: { code, errorCode } }: ApiError): number {
  if (errorCode === new ApiError('noApiKey').extensions.errorCode) return NO_KEY;
  if (errorCode === new ApiError('subscriptionOver').extensions.errorCode) return RESTART;
  if (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN') return FORBIDDEN;
  if (code === 'RATE_LIMITED' || code === 'UNAVAILABLE') return TRY_LATER;
  return code === 'INTERNAL' ? INTERNAL : BAD_MESSAGE;
}

function shortened(text: string): string {
  if (Buffer.byteLength(text) <= REASON_MAX) return text;
  const bytes = Buffer.from(text).subarray(0, REASON_MAX - 3);
  return `${bytes.toString().replace(/\uFFFD+$/, '')}…`;
}
