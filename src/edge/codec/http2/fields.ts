// The fields of an answer of HTTP/1 as those of HTTP/2.

import type { OutgoingHttpHeaders } from 'node:http2';
import { isFramingField } from '../../../http/header-list.ts';
import { endToEndFields, fieldsOf } from '../fields.ts';
import type { ResponseHead } from '../response-head.ts';

/** What is about a connection of HTTP/1, and malformed here (RFC 9113, section 8.2.2). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te', // Of requests `trailers` may go on, which whoever makes them says.
]);

/** Fields that `node:http2` sends once or throws: of those that sloppy servers send twice, the first one counts. */
const SINGLE = new Set([
  ...['access-control-allow-credentials', 'access-control-max-age', 'access-control-request-method', 'age'],
  ...['authorization', 'content-length', 'content-location', 'content-md5', 'content-range', 'content-type', 'date'],
  ...['dnt', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-range', 'if-unmodified-since'],
  ...['last-modified', 'location', 'max-forwards', 'proxy-authorization', 'range', 'referer', 'retry-after', 'tk'],
  ...['upgrade-insecure-requests', 'user-agent', 'x-content-type-options'],
]);
/** The same, but their values are lists, which may be joined (RFC 9110, section 5.3). */
const JOINED = new Set(['content-encoding', 'content-language', 'if-match', 'if-none-match']);

export function responseFields(head: ResponseHead): OutgoingHttpHeaders {
  return toHttp2Fields(endToEndFields(head, 'connection'));
}

/** @param lines the fields that follow the last chunk, with the empty line at their end. */
export function trailerFields(lines: Buffer | undefined): OutgoingHttpHeaders {
  return lines ? toHttp2Fields(fieldsOf(lines, 0, lines.length).filter(([name]) => !isFramingField(name))) : {};
}

/** Fields such as HTTP/2 may carry: names in lower case; a name that comes several times has a list, where it may. */
export function toHttp2Fields(fields: readonly (readonly [name: string, value: string])[]): OutgoingHttpHeaders {
  const all: Record<string, string | string[]> = Object.create(null);
  for (const [written, value] of fields) {
    const name = written.toLowerCase();
    if (HOP_BY_HOP.has(name)) continue;
    const known = all[name];
    if (known === undefined) all[name] = value;
    else if (SINGLE.has(name)) continue;
    else if (JOINED.has(name)) all[name] = `${known}, ${value}`;
    else if (typeof known === 'string') all[name] = [known, value];
    else known.push(value);
  }
  return all;
}
