// Which requests may be sent once more, when their connection to the service was an old one and was just being closed.

import type { RequestHead } from '../codec/request-head.ts';
import { isExactly } from '../codec/request-line.ts';

/** The methods that mean the same once and twice (RFC 9110, section 9.2.2), without TRACE, which is refused. */
const METHODS = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];
/** Bytes of a body that are kept until the answer begins, so that they can be sent again. */
const BODY_MAX = 16 * 1024;

/** Whether a request may be sent a second time, if the service has answered nothing of the first. */
export function isRepeatable({ bytes, line, bodyLength }: RequestHead): boolean {
  if (bodyLength < 0 || bodyLength > BODY_MAX) return false; // In chunks it is of any length.
  for (const method of METHODS) if (isExactly(bytes, line.start, line.methodEnd, method)) return true;
  return false;
}
