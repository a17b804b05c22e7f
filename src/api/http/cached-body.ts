// Bodies that every client gets alike: kept once, with their compressed copies, and never copied for an answer.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiateBodyCoding, writeBody } from './response-body.ts';

/** How a body is sent. */
export type Coding = 'br' | 'gzip' | 'identity';

export interface CachedEncoding {
  body: Buffer;
  etag: string;
}

export interface CachedBody {
  type: string;
  encodings: Partial<Record<Coding, CachedEncoding>> & Record<'identity', CachedEncoding>;
}

/** Each copy has a tag of its own: one that is strong stands for the bytes that are sent. */
export function encodedBody(body: Buffer): CachedEncoding {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

/** Compresses a body once, for all who will ask for it; off the event loop. */
export async function createCachedBody(type: string, body: Buffer): Promise<CachedBody> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)]);
  return { type, encodings: { identity: encodedBody(body), br: encodedBody(br), gzip: encodedBody(gz) } };
}

/** Answers with a stored body: the copy that the client likes best, or 304 when it reads and has that one. */
export function sendCached(response: ServerResponse, { type, encodings }: CachedBody, cacheControl: string): void {
  const { headers, method } = response.req;
  const codings = (['br', 'gzip'] as const).filter((coding) => encodings[coding]);
  const coding = negotiateBodyCoding(headers['accept-encoding'], codings);
  const { body, etag } = encodings[coding ?? 'identity'] ?? encodings.identity;
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', cacheControl);
  if (codings.length > 0) response.appendHeader('Vary', 'Accept-Encoding');
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && matchesEtag(headers['if-none-match'], etag)) return void response.writeHead(304).end();
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', body.length);
  if (coding) response.setHeader('Content-Encoding', coding);
  response.writeHead(200);
  if (method === 'HEAD') response.end();
  else writeBody(response, body, true);
}

/** Whether the client has the very copy that it would get. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
