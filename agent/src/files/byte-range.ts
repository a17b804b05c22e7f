// Conditional requests and ranges of a file (RFC 9110 sections 13 and 14).

import type { IncomingHttpHeaders } from 'node:http';

/** A version of a file. */
export interface FileVersion {
  etag: string;
  /** The modification time in whole seconds since 1970, as HTTP dates have. */
  modified: number;
  /** In bytes. */
  size: number;
}

/** What to answer: a status, and the first and the last byte where some are sent. */
export interface Selection {
  status: 200 | 206 | 304 | 412 | 416;
  first: number;
  last: number;
}

/** Selects what a GET or HEAD request gets. Of several ranges none is: the whole file is sent, as section 14.2 allows. */
export function selectBytes(headers: IncomingHttpHeaders, version: FileVersion): Selection {
  const whole = { first: 0, last: version.size - 1 };
  const precondition = failedPrecondition(headers, version);
  if (precondition !== null) return { status: precondition, ...whole };
  const range = isRangeCurrent(headers['if-range'], version) ? headers.range : undefined;
  const [, from = '', to = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(range ?? '') ?? [];
  if (from === '' && to === '') return { status: 200, ...whole };
  const first = from === '' ? Math.max(0, version.size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? version.size - 1 : Math.min(Number(to), version.size - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return { status: 200, ...whole };
  if (first > last) return { status: 416, ...whole };
  return { status: 206, first, last };
}

/** The order is that of section 13.2.2. */
function failedPrecondition(headers: IncomingHttpHeaders, { etag, modified }: FileVersion): 304 | 412 | null {
  const since = secondsOf(headers['if-unmodified-since']);
  if (headers['if-match'] !== undefined) {
    if (!listsTag(headers['if-match'], etag)) return 412;
  } else if (since !== null && modified > since) return 412;
  const noneMatch = headers['if-none-match'];
  if (noneMatch !== undefined) return listsTag(noneMatch.replaceAll('W/', ''), etag) ? 304 : null;
  const modifiedSince = secondsOf(headers['if-modified-since']);
  return modifiedSince !== null && modified <= modifiedSince ? 304 : null;
}

function isRangeCurrent(ifRange: string | string[] | undefined, { etag, modified }: FileVersion): boolean {
  if (ifRange === undefined) return true;
  return ifRange === etag || secondsOf(String(ifRange)) === modified;
}

const listsTag = (list: string, etag: string) =>
  list.trim() === '*' || list.split(',').some((tag) => tag.trim() === etag);

function secondsOf(date: string | undefined): number | null {
  const time = date === undefined || date.startsWith('"') ? Number.NaN : Date.parse(date);
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}
