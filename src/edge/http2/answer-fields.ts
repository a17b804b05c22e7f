// The fields of an answer of HTTP/1 as those of HTTP/2.

import type { OutgoingHttpHeaders, ServerHttp2Stream, ServerStreamResponseOptions } from 'node:http2';
import { fieldsOf } from '../http/fields.ts';
import type { ResponseHead } from '../http/response-head.ts';

/** What is about a connection of HTTP/1, and malformed here (RFC 9113, section 8.2.2). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

export function answerFields(head: ResponseHead): OutgoingHttpHeaders {
  const listed = head.options.listed ?? [];
  const fields = fieldsOf(head.bytes, head.fieldsStart, head.end);
  return toFields(fields.filter(([name]) => !listed.includes(name.toLowerCase())));
}

/** @param lines the fields that follow the last chunk, with the empty line at their end. */
export function trailerFields(lines: Buffer | undefined): OutgoingHttpHeaders {
  return lines ? toFields(fieldsOf(lines, 0, lines.length)) : {};
}

/** Names in lower case; a name that comes several times has a list. */
export function toFields(fields: readonly (readonly [name: string, value: string])[]): OutgoingHttpHeaders {
  const all: Record<string, string | string[]> = Object.create(null);
  for (const [written, value] of fields) {
    const name = written.toLowerCase();
    if (HOP_BY_HOP.has(name)) continue;
    const known = all[name];
    if (known === undefined) all[name] = value;
    else if (typeof known === 'string') all[name] = [known, value];
    else known.push(value);
  }
  return all;
}

/**
 * Begins an answer, unless its visitor is gone. Of a field that may stand only once, and that sloppy servers send twice, the
 * first one counts.
 */
export function respond(
  stream: ServerHttp2Stream,
  status: number,
  fields: OutgoingHttpHeaders,
  options: ServerStreamResponseOptions = {},
): void {
  if (stream.closed || stream.destroyed) return;
  try {
    stream.respond({ ':status': status, ...fields }, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_HTTP2_HEADER_SINGLE_VALUE') throw error;
    const once = Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) && name !== 'set-cookie' ? value[0] : value,
    ]);
    stream.respond({ ':status': status, ...Object.fromEntries(once) }, options);
  }
}
