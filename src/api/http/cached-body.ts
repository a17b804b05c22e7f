// Bodies that every client gets alike: kept once, with their compressed copies, and never copied for an answer.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { codingFor, endWith } from './response-body.ts';

/** How a body is sent. */
export type Coding = 'br' | 'gzip' | 'identity';

export interface Copy {
  body: Buffer;
  etag: string;
}

export interface StoredBody {
  type: string;
  copies: Partial<Record<Coding, Copy>> & Record<'identity', Copy>;
}

/** Each copy has a tag of its own: one that is strong stands for the bytes that are sent. */
export function copy(body: Buffer): Copy {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

/** Compresses a body once, for all who will ask for it; off the event loop. */
export async function storedBody(type: string, body: Buffer): Promise<StoredBody> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(body, { params }), promisify(gzip)(body)]);
  return { type, copies: { identity: copy(body), br: copy(br), gzip: copy(gz) } };
}

/** Answers with a stored body: the copy that the client likes best, or 304 when it reads and has that one. */
export function sendStored(response: ServerResponse, { type, copies }: StoredBody, cacheControl: string): void {
  const { headers, method } = response.req;
  const codings = (['br', 'gzip'] as const).filter((coding) => copies[coding]);
  const coding = codingFor(headers['accept-encoding'], codings);
  const { body, etag } = copies[coding ?? 'identity'] ?? copies.identity;
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', cacheControl);
  if (codings.length > 0) response.appendHeader('Vary', 'Accept-Encoding');
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && isFresh(headers['if-none-match'], etag)) return void response.writeHead(304).end();
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', body.length);
  if (coding) response.setHeader('Content-Encoding', coding);
  response.writeHead(200);
  if (method === 'HEAD') response.end();
  else endWith(response, body, true);
}

/** Whether the client has the very copy that it would get. */
function isFresh(known: string | undefined, etag: string): boolean {
  return (known ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
