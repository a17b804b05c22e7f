// Errors of the gateway's own, as whole responses.

import { acceptsHtml, type ErrorResponseParts, errorResponse } from '../../http/error-response.ts';
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

/** @param more fields that it has besides. */
export function errorReply(error: VisitorError, isHtml = false, more: ErrorResponseParts['fields'] = []): LocalReply {
  const { status, fields, body } = errorResponse(error, isHtml);
  return { status, fields: [...fields, ...more], body };
}

/** Whether a request accepts HTML. */
export function wantsHtml({ bytes, fieldsStart, end }: RequestHead): boolean {
  return fieldsOf(bytes, fieldsStart, end).some(
    ([name, value]) => name.toLowerCase() === 'accept' && acceptsHtml(value),
  );
}
