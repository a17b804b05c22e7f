// Errors of the gateway's own, as whole responses.

import { acceptsHtml, type ErrorResponseParts, errorResponse } from '../../http/error-response.ts';
import { grpcErrorFields, isGrpc } from '../../http/grpc-status.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { fieldsOf } from '../codec/fields.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { LocalReply } from './pipeline-response.ts';

/** Errors that are the visitor's: upstream has no part in them, and nothing can follow them on the connection. */
export const VISITOR_FAULTS: ReadonlySet<VisitorError> = new Set<VisitorError>([
  'badBody',
  'cutShort',
  'looped',
  'requestTimeout',
  'tooManyVisitors',
]);

/** Who reads an error: a program, a person with a browser, or a client of gRPC. */
export type ErrorReader = 'text' | 'html' | 'grpc';

/** @param more fields that it has besides. @param detail a sentence that it says besides. */
export function errorReply(
  error: VisitorError,
  reader: ErrorReader = 'text',
  more: ErrorResponseParts['fields'] = [],
  detail = '',
): LocalReply {
  const { status, fields, body } = errorResponse(error, reader === 'html', true, detail);
  const all = [...fields, ...more];
  if (reader !== 'grpc') return { status, fields: all, body };
  return { status: 200, countedStatus: status, fields: grpcErrorFields(error, all, detail), body: body.subarray(0, 0) };
}

/** @param isHttp2 whether it came over HTTP/2: there is no gRPC over another version. */
export function errorReaderOf({ bytes, fieldsStart, end }: RequestHead, isHttp2: boolean): ErrorReader {
  return readerOf(fieldsOf(bytes, fieldsStart, end), isHttp2);
}

/** The same of the fields of a request. */
export function readerOf(fields: ErrorResponseParts['fields'], isHttp2: boolean): ErrorReader {
  const has = (wanted: string, is: (value: string) => boolean) =>
    fields.some(([name, value]) => name.toLowerCase() === wanted && is(value));
  if (isHttp2 && has('content-type', isGrpc)) return 'grpc';
  return has('accept', acceptsHtml) ? 'html' : 'text';
}
