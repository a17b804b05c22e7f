// A request of HTTP/2 as one of HTTP/1.1 (RFC 9113, section 8): read by the parser that all requests pass, which then
// says the same of it.

import type { IncomingHttpHeaders } from 'node:http2';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { RequestHead } from '../codec/request-head.ts';

/** What would end a line, or the text, in the middle of a value. */
const BREAKS = /[\r\n\0]/;

/**
 * @param rawHeaders names and values in turn, as they came.
 * @param hasBody whether the request goes on after its head.
 */
export function readRequest(
  rawHeaders: readonly string[],
  hasBody: boolean,
  scheme: string,
): RequestHead | VisitorError {
  const pseudo: IncomingHttpHeaders = {};
  const lines: string[] = [];
  const cookies: string[] = [];
  let host: string | undefined;
  let hasLength = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    if (BREAKS.test(value)) return 'badField';
    if (name.startsWith(':')) pseudo[name] = value;
    else if (name === 'cookie') cookies.push(value);
    else if (name === 'host') {
      if (host !== undefined) return 'badHost';
      host = value;
    } else {
      if (name === 'content-length') hasLength = true;
      if (name === 'te') lines.push('Connection: TE'); // It can only be `trailers` here, which HTTP/1.1 wants listed.
      lines.push(`${name}: ${value}`);
    }
  }
  const authority = pseudo[':authority'];
  if (authority !== undefined && host !== undefined && host.toLowerCase() !== `${authority}`.toLowerCase())
    return 'hostDiffers';
  if (pseudo[':method'] === 'CONNECT') return 'connect';
  if (pseudo[':scheme'] !== scheme) return 'misdirected';
  const path = String(pseudo[':path'] ?? '');
  if (!path.startsWith('/') && path !== '*') return 'badTarget';
  // Cookies come in as many fields as compress well, and were one before (RFC 9113, section 8.2.3).
  if (cookies.length > 0) lines.push(`Cookie: ${cookies.join('; ')}`);
  if (hasBody && !hasLength) lines.push('Transfer-Encoding: chunked');
  const head = new RequestHead();
  const text = [`${pseudo[':method']} ${path} HTTP/1.1`, `Host: ${authority ?? host ?? ''}`, ...lines, '\r\n'];
  const bytes = Buffer.from(text.join('\r\n'), 'latin1');
  const end = head.read(bytes, 0);
  if (end < 0) return head.refusal;
  return end === bytes.length ? head : 'badField';
}
