// Reads the body of a response up to a limit, and takes its content coding off.

import type { IncomingMessage } from 'node:http';
import { decodeContent } from '../../http/content-decoding.ts';
import { OutboundFailed } from '../../http/outbound.ts';

/** The largest body, before and after it is decoded; bytes. */
export const RESPONSE_BODY_MAX = 256 * 1024;

/** Reads the body. @throws {OutboundFailed} when it is too large, or encoded in a way that is not known. */
export async function readDecodedBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The loop destroys the response then, and with it the connection.
    if (bytes > RESPONSE_BODY_MAX) throw new OutboundFailed(`the response has more than ${RESPONSE_BODY_MAX} bytes`);
    chunks.push(chunk);
  }
  const codings = response.headers['content-encoding'] ?? '';
  const body = await decodeContent(Buffer.concat(chunks), codings, RESPONSE_BODY_MAX);
  if (typeof body === 'string') throw new OutboundFailed(`the response ${body}`);
  return body;
}
