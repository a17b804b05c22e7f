// The head that an answer goes on with: the upstream's, without what was for its hop only, and with what is true of the
// visitor's connection.

import type { ResponseHead } from './response-head.ts';

const VERSION = Buffer.from('HTTP/1.1');
const CLOSE = Buffer.from('Connection: close\r\n\r\n');
const KEEP_ALIVE = Buffer.from('Connection: keep-alive\r\n\r\n');
const END = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * The head as the visitor gets it, always as HTTP/1.1 (RFC 9112 §2.3).
 * @param closes whether this is the last answer on the visitor's connection.
 * @param isToHttp10 whether the visitor has to be told that it is not.
 * @param body which has, from `bodyStart` to `bodyEnd`, what is to follow in the same piece.
 * @returns undefined when the head may go on as it came, which is the ordinary case.
 */
export function relayedResponseHead(
  head: ResponseHead,
  closes: boolean,
  isToHttp10: boolean,
  body: Buffer = NOTHING,
  bodyStart = 0,
  bodyEnd = 0,
): Buffer | undefined {
  const { bytes, drops, keepAliveStart } = head;
  const tellsKeepAlive = isToHttp10 && !closes && keepAliveStart === 0;
  if (drops.length === 0 && !closes && !tellsKeepAlive && !head.isHttp10) return undefined;

  const ranges = closes && keepAliveStart > 0 ? withRange(drops, keepAliveStart, head.keepAliveEnd) : drops;
  const last = closes ? CLOSE : tellsKeepAlive ? KEEP_ALIVE : END;
  const lastLine = head.end - 2;
  const out = Buffer.allocUnsafe(lastLine - head.start + last.length + bodyEnd - bodyStart);
  let at = VERSION.copy(out);
  let from = head.start + at;
  for (let i = 0; i < ranges.length; i += 2) {
    at += bytes.copy(out, at, from, ranges[i]);
    from = ranges[i + 1] as number;
  }
  at += bytes.copy(out, at, from, lastLine);
  at += last.copy(out, at);
  if (bodyEnd > bodyStart) at += body.copy(out, at, bodyStart, bodyEnd);
  return out.subarray(0, at);
}

/** Ranges in order, with one more. */
function withRange(ranges: readonly number[], start: number, end: number): number[] {
  const before = ranges.findIndex((at) => at > start);
  const at = before < 0 ? ranges.length : before;
  return [...ranges.slice(0, at), start, end, ...ranges.slice(at)];
}

/** A head after which the response is still to come, or none of HTTP, as the visitor gets it. */
export function interimHead(head: ResponseHead): Buffer {
  return relayedResponseHead(head, false, false) ?? head.bytes.subarray(head.start, head.end);
}
