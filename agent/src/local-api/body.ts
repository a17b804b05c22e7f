// The JSON body of a request.

import type { IncomingMessage } from 'node:http';
import { describeJsonError } from '@gateway/protocol';
import { DetailError } from '../detail-error.ts';

const BODY_MAX = 1024 * 1024;

/** @throws {DetailError} 415, 413 or 400. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    throw new DetailError(415, 'The body must be JSON: send "Content-Type: application/json".');
  const tooLong = new DetailError(413, `The body must have at most ${BODY_MAX} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX) throw tooLong;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX) throw tooLong;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw new DetailError(400, `The body must be JSON in UTF-8: ${describeJsonError(error)}.`);
  }
}
