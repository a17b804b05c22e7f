// Whether an answer is compressed on its way, and how.

import { DIGESTS } from './body-fields.ts';
import type { ContentCoding, HttpExchange, HttpResponse } from './exchange.ts';
import { qualityValues } from './quality-values.ts';
import { addVary } from './vary.ts';

/** Best first: where visitors like several alike, the first of them is taken. */
export const CODINGS: readonly ContentCoding[] = ['br', 'gzip', 'deflate'];
/** Bytes; what is shorter hardly gets any shorter. */
const LENGTH_MIN = 256;
/** A body that is not there, or that stands for nothing by itself (RFC 9110, section 15.3.7). */
const UNFIT_STATUSES: readonly number[] = [204, 205, 206, 304];
/** Types that are compressed in themselves. */
const COMPRESSED =
  /^(?:image\/(?!svg\+xml|bmp)|video\/|audio\/|font\/woff|application\/(?:[\w.+-]*zip|x-7z|x-xz|x-rar|vnd\.rar|grpc|zstd|java-archive|pdf|vnd\.openxmlformats|vnd\.oasis))/i;

/** What became of an answer. */
export interface CompressionResult {
  /** Whether it had a coding before. */
  alreadyCompressed: boolean;
  /** The coding that it gets here, if it gets one. */
  coding: ContentCoding | undefined;
}

/**
 * Chooses the coding for an answer, and changes the fields that tell of it. Left as they are: answers that have a coding,
 * or say that nobody may change them, parts of something, what is short, and types that are compressed in themselves.
 */
export function compressResponse(
  { request, response }: HttpExchange,
  codings: readonly ContentCoding[],
): CompressionResult {
  if (!response) return { alreadyCompressed: false, coding: undefined };
  const { fields } = response;
  const present = fields.get('content-encoding')?.trim().toLowerCase() ?? '';
  const alreadyCompressed = present !== '' && present !== 'identity';
  if (alreadyCompressed || request.method === 'HEAD' || !isFit(response))
    return { alreadyCompressed, coding: undefined };
  addVary(fields, 'Accept-Encoding');
  const coding = negotiateCoding(request.fields.all('accept-encoding').join(','), codings);
  if (coding) {
    response.encoding = coding;
    fields.set('Content-Encoding', coding);
    fields.remove('content-length');
    fields.remove('accept-ranges'); // Of what the visitor gets, upstream could not make out a part.
    for (const name of DIGESTS) fields.remove(name);
    const tag = fields.get('etag');
    if (tag?.startsWith('"')) fields.set('ETag', `W/${tag}`);
  }
  return { alreadyCompressed, coding };
}

/**
 * Which coding a visitor gets (RFC 9110, section 12.5.3).
 * @param accept the `Accept-Encoding` header; '' when there is none.
 * @param codings that there are, best first: the order settles what the visitor likes alike.
 * @returns undefined when the body had better stay as it is.
 */
export function negotiateCoding(accept: string, codings: readonly ContentCoding[]): ContentCoding | undefined {
  const weights = qualityValues(accept.replaceAll(/\bx-gzip\b/gi, 'gzip')); // RFC 9110, section 8.4.1.3
  let best: ContentCoding | undefined;
  // The body as it is comes last, unless it is named.
  let most = weights.get('identity') ?? 0;
  for (const coding of codings) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > most || (weight === most && weight > 0 && !best)) {
      best = coding;
      most = weight;
    }
  }
  return best;
}

function isFit({ status, bodyLength, fields }: HttpResponse): boolean {
  if (UNFIT_STATUSES.includes(status) || (bodyLength !== undefined && bodyLength < LENGTH_MIN)) return false;
  if (fields.has('content-range') || /\bno-transform\b/i.test(fields.all('cache-control').join(','))) return false;
  return !COMPRESSED.test(fields.get('content-type') ?? '');
}
