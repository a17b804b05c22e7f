// Answers of the gateway's own, over HTTP/2, and how they end.

import { constants, type ServerHttp2Stream } from 'node:http2';
import { acceptsHtml, type ErrorResponseParts, errorResponse } from '../../http/error-response.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import type { LocalReply } from '../pipeline/pipeline-response.ts';
import type { RequestBody } from './request-body.ts';
import { toHttp2Fields } from './response-fields.ts';
import { hasNoContent, respond } from './stream-calls.ts';

/** @param rawHeaders of the request: names and values in turn. */
export function errorReplyFor(
  error: VisitorError,
  rawHeaders: readonly string[],
  more: ErrorResponseParts['fields'] = [],
): LocalReply {
  const { status, fields, body } = errorResponse(error, acceptsHtml(headerOf(rawHeaders, 'accept')));
  return { status, fields: [...fields, ...more], body };
}

/** Ends the stream where the answer cannot be sent. @returns how many bytes of body there are. */
export function sendLocalReply(
  stream: ServerHttp2Stream,
  { status, fields, body }: LocalReply,
  isToHead: boolean,
): number {
  const isEmpty = body.length === 0 || isToHead || hasNoContent(status);
  if (!respond(stream, status, toHttp2Fields(fields), { endStream: isEmpty })) {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return 0;
  }
  if (!isEmpty) stream.end(body);
  return isEmpty ? 0 : body.length;
}

/**
 * Whether all of an answer that was given to a stream has left; of one that is closed. It may be closed before Node says that
 * the last bytes are written; what was cut was aborted, or has a code.
 */
export function isDelivered({ writableEnded, aborted, rstCode }: ServerHttp2Stream): boolean {
  return writableEnded && !aborted && rstCode === constants.NGHTTP2_NO_ERROR;
}

export function headerOf(rawHeaders: readonly string[], name: string): string {
  const at = rawHeaders.findIndex((each, i) => i % 2 === 0 && each === name);
  return at < 0 ? '' : (rawHeaders[at + 1] as string);
}

/** What the visitor still sends of the request is of no use: it is told so, once it has the answer (RFC 9113, 8.1). */
export function stopRequest(stream: ServerHttp2Stream, body: RequestBody | undefined): void {
  if (body ? body.isComplete : stream.endAfterHeaders) return;
  body?.stop();
  const stop = () => setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
  if (stream.writableFinished) stop();
  else stream.once('finish', stop);
}
