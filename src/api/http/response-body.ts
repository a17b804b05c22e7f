// Bodies of answers: how one is written to a client that may read slowly or not at all, and which are compressed.

import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiateCoding } from '../../http/compression.ts';
import type { BodyWriter } from '../exchange.ts';

/** Bytes that are handed to a connection at once: no more of a body waits in it, encrypted or not. */
const CHUNK_BYTES = 64 * 1024;
/** Characters; compressing less costs more of the processor than the whole request does, for a few packets. */
const COMPRESS_MIN = 4096;
/** Answers that are compressed at once; while there are more, they go as they are. */
const COMPRESSING_MAX = 4;

const brotliBuffer = promisify(brotliCompress);
const gzipBuffer = promisify(gzip);
/** Beyond these levels an answer gets a few percent shorter, for twice the time. */
const compress = {
  br: (body: Buffer) => brotliBuffer(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (body: Buffer) => gzipBuffer(body, { level: 1 }),
};

const UNSENT = Symbol('bytes that are kept for this answer alone');

/** Bytes that are kept for an answer, as its client has not taken them yet. Bodies that answers share do not count. */
export function unsentBytes(response: ServerResponse & { [UNSENT]?: number }): number {
  return response[UNSENT] ?? 0;
}

/**
 * Ends an answer with a body, in pieces, each when the one before has left.
 * @param isShared whether other answers have the same bytes.
 */
export function writeBody(response: ServerResponse & { [UNSENT]?: number }, body: Buffer, isShared: boolean): void {
  if (body.length <= CHUNK_BYTES || response.req.method === 'HEAD') return void response.end(body);
  let at = 0;
  const writeMore = () => {
    while (!response.destroyed) {
      const chunk = body.subarray(at, at + CHUNK_BYTES);
      at += CHUNK_BYTES;
      if (!isShared) response[UNSENT] = Math.max(0, body.length - at);
      if (at >= body.length) return void response.end(chunk);
      if (!response.write(chunk)) return void response.once('drain', writeMore);
    }
  };
  writeMore();
}

/** Sends bodies that are made for one response; compresses few of them at once. */
export class ResponseBodies implements BodyWriter {
  #compressing = 0;

  /** @param mayCompress whether its body may be compressed: its length then tells of what is in it. */
  send(response: ServerResponse, status: number, type: string, text: string, mayCompress = false): void {
    if (text.length < COMPRESS_MIN) {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(text),
        'Cache-Control': 'no-store',
      });
      response.end(text);
      return;
    }
    const body = Buffer.from(text);
    response.statusCode = status;
    response.setHeader('Content-Type', type);
    response.setHeader('Cache-Control', 'no-store');
    const send = (bytes: Buffer) => {
      response.setHeader('Content-Length', bytes.length);
      writeBody(response, bytes, false);
    };
    if (mayCompress) response.appendHeader('Vary', 'Accept-Encoding');
    const coding = mayCompress ? negotiateBodyCoding(response.req.headers['accept-encoding']) : undefined;
    if (coding === undefined || this.#compressing >= COMPRESSING_MAX) {
      send(body);
      return;
    }
    this.#compressing++;
    compress[coding](body)
      .finally(() => {
        this.#compressing--;
      })
      .then((bytes) => {
        if (response.destroyed) return;
        response.setHeader('Content-Encoding', coding);
        send(bytes);
      })
      .catch((error) => response.destroy(error));
  }
}

/** The coding that a client likes best, of those that bodies are sent in; undefined: as they are. */
export function negotiateBodyCoding(
  accept: string | string[] | undefined,
  codings: readonly ('br' | 'gzip')[] = ['br', 'gzip'],
): 'br' | 'gzip' | undefined {
  return accept === undefined ? undefined : (negotiateCoding(String(accept), codings) as 'br' | 'gzip' | undefined);
}
