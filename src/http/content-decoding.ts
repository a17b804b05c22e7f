// Takes the content codings off a body (RFC 9110, section 8.4).

import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

type Decode = (body: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The most codings on top of each other. */
const CODINGS_MAX = 3;

/**
 * Decodes a body. It runs outside of the event loop.
 * @param codings the value of `Content-Encoding`; '' without one.
 * @param max the most bytes of the decoded body.
 * @returns the decoded body; or the reason, as a text, why there is none: worded to be read after "the body".
 */
export async function decodeContent(body: Buffer, codings: string, max: number): Promise<Buffer | string> {
  const applied = codingsOf(codings);
  if (typeof applied === 'string') return applied;
  let decoded = body;
  for (const name of applied) {
    const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (!decode) return `is encoded as ${name.slice(0, 50)}, which is not known`;
    if (decoded.length === 0) return decoded;
    try {
      decoded = await decode(decoded, { maxOutputLength: max });
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      return isTooLarge ? `has more than ${max} bytes` : `is not valid ${name}`;
    }
  }
  return decoded.length > max ? `has more than ${max} bytes` : decoded;
}

/**
 * The codings of a body, in lower case, the one that was applied last first.
 * @param codings the value of `Content-Encoding`; '' without one.
 * @returns a text when there are too many of them, worded to be read after "the body".
 */
export function codingsOf(codings: string): string[] | string {
  const names = codings.split(',').flatMap((name) => name.trim().toLowerCase() || []);
  const applied = names.filter((name) => name !== 'identity').reverse();
  return applied.length > CODINGS_MAX ? `has more than ${CODINGS_MAX} content codings` : applied;
}
