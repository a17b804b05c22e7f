// The gateway's own errors as HTTP/1.

import { STATUS_CODES } from 'node:http';
import { acceptsHtml, type ErrorResponseParts, errorResponse } from '../../http/error-response.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { fieldsOf } from '../codec/fields.ts';
import type { RequestHead } from '../codec/request-head.ts';

const NONE: ErrorResponseParts['fields'] = [];

/**
 * @param request whose answer it is; undefined when there is none, or it could not be read.
 * @param closes whether it is the last answer on its connection.
 * @param more fields that it has besides.
 */
export function errorReplyBytes(
  error: VisitorError,
  request: RequestHead | undefined,
  closes: boolean,
  more = NONE,
): Buffer {
  const { status, fields, body } = errorResponse(error, request !== undefined && wantsHtml(request));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    ...[...fields, ...more].map(([name, value]) => `${name}: ${value}`),
    `Connection: ${closes ? 'close' : 'keep-alive'}`,
    '\r\n',
  ];
  const bytes = Buffer.from(head.join('\r\n'));
  return request?.line.isHead ? bytes : Buffer.concat([bytes, body]);
}

function wantsHtml({ bytes, fieldsStart, end }: RequestHead): boolean {
  return fieldsOf(bytes, fieldsStart, end).some(
    ([name, value]) => name.toLowerCase() === 'accept' && acceptsHtml(value),
  );
}
