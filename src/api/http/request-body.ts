// Bodies of requests: their content type is checked, they are read with a limit, and parsed strictly.

import type { IncomingMessage } from 'node:http';
import { describeJsonError } from '../../protocol/messages/json-reader.ts';
import { ApiError } from '../errors/errors.ts';

export const BODY_MAX_BYTES = 64 * 1024;

/** Whether a request brings a body, even an empty chunked one. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** @throws {ApiError} unless the body says that it is JSON. */
export function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (type === undefined) throw new ApiError('missingContentType');
  if (
    !/^application\/json *(; *charset *= *"?utf-8"? *)?$/i.test(type) ||
    (headers['content-encoding'] ?? 'identity') !== 'identity'
  ) {
    throw new ApiError('unsupportedContentType');
  }
}

/** @throws {ApiError} when it is larger than the limit, or the client gave up. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new ApiError('bodyTooLarge', { max: BODY_MAX_BYTES });
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY_MAX_BYTES) {
        request.removeAllListeners('data').resume();
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', () => reject(new ApiError('unreadableBody', { reason: 'the connection broke' })));
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * An object in JSON (RFC 8259), stricter than JSON.parse: a member that stands twice in one object is refused, and so
 * is `__proto__`.
 * @throws {ApiError}
 */
export function parseStrictly(bytes: Buffer): Record<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new ApiError('notJson', { reason: 'it is not UTF-8' });
  }
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ApiError('notJson', { reason: describeJsonError(error) });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('notJson', { reason: 'it is not an object' });
  }
  checkMembers(text);
  return value as Record<string, unknown>;
}

/** The parts of a valid JSON text that matter here: brackets, and strings with the colon that makes them names. */
const PART = /[{}[\]]|"(?:[^"\\]|\\.)*"(\s*:)?/g;

function checkMembers(text: string): void {
  const open: (Set<string> | null)[] = [];
  for (const [part, colon] of text.matchAll(PART)) {
    if (part === '{') open.push(new Set());
    else if (part === '[') open.push(null);
    else if (part === '}' || part === ']') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(part.slice(0, part.length - colon.length)) as string;
      const names = open.at(-1);
      if (name === '__proto__') throw new ApiError('forbiddenMember', { culprit: name });
      if (names?.has(name)) throw new ApiError('repeatedMember', { culprit: name });
      names?.add(name);
    }
  }
}
