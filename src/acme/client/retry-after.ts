// Reads the header field Retry-After (RFC 9110, section 10.2.3).

import type { IncomingHttpHeaders } from 'node:http';

/** No answer asks for more, so that sums of times stay valid dates. */
const MAX_MS = 365 * 86_400_000;

/** @returns milliseconds from now on; undefined without the field. A date counts by the clock of the server, where it sends that. */
export function retryAfterMs({ 'retry-after': value, date }: IncomingHttpHeaders): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Math.min(Number(value) * 1000, MAX_MS);
  const at = Date.parse(value);
  // Every date of HTTP begins with its day of the week; `Date` also takes numbers for dates.
  if (Number.isNaN(at) || !/^\s*[a-z]/i.test(value)) return undefined;
  const now = Date.parse(date ?? '');
  return Math.min(Math.max(at - (Number.isNaN(now) ? Date.now() : now), 0), MAX_MS);
}
