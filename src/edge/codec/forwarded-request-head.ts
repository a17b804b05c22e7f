// The head that a request goes on with: the visitor's, without what is for this hop or what only we may say, and with who
// the visitor is. Ranges of bytes are copied; nothing is parsed again.

import type { RequestHead } from './request-head.ts';

const UPGRADE = Buffer.from('Connection: Upgrade\r\n');
const TE = Buffer.from('Connection: TE\r\n');
const NOTHING = Buffer.alloc(0);
const QUESTION_MARK = 0x3f;
const ONE = 0x31;
/** The bytes from the last digit of a version to the end of its line. */
const VERSION_END = 3;

/** The fields that say who the visitor is, and the end of the head. */
function visitorFields(forwardedFor: string, scheme: 'http' | 'https', host: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`X-Forwarded-For: ${forwardedFor}\r\nX-Forwarded-Proto: ${scheme}\r\nX-Forwarded-Host: `),
    host,
    Buffer.from('\r\n\r\n'),
  ]);
}

/** Those for the requests of one visitor, which mostly have the same Host. */
export class ForwardedFields {
  readonly #forwardedFor: string;
  readonly #scheme: 'http' | 'https';
  #host: Buffer | undefined;
  #fields: Buffer = NOTHING;

  /** @param forwardedFor the visitor's address, and those of trusted proxies that it came through. */
  constructor(forwardedFor: string, scheme: 'http' | 'https') {
    this.#forwardedFor = forwardedFor;
    this.#scheme = scheme;
  }

  /** @param host as the visitor sent it; the same object as before when it is the same. */
  for(host: Buffer): Buffer {
    if (host === this.#host) return this.#fields;
    this.#host = host;
    this.#fields = visitorFields(this.#forwardedFor, this.#scheme, host);
    return this.#fields;
  }
}

/**
 * The head as the upstream gets it: in origin-form, and in the gateway's version (RFC 9110 §2.5), in which an answer tells its length.
 * @param fields of `VisitorFields`.
 * @param body which has, from `bodyStart` to `bodyEnd`, what is to follow in the same piece.
 */
export function forwardedRequestHead(
  head: RequestHead,
  fields: Buffer,
  body: Buffer = NOTHING,
  bodyStart = 0,
  bodyEnd = 0,
): Buffer {
  const { bytes, line, drops } = head;
  const first = line.authorityEnd > 0 ? originForm(head) : NOTHING;
  const hop = hopField(head);
  const lastLine = head.end - 2;
  let from = first.length > 0 ? line.targetEnd : head.start;
  let length = first.length + lastLine - from + hop.length + fields.length + bodyEnd - bodyStart;
  for (let i = 0; i < drops.length; i += 2) length -= (drops[i + 1] as number) - (drops[i] as number);

  const out = Buffer.allocUnsafe(length);
  let at = first.length > 0 ? first.copy(out) : 0;
  for (let i = 0; i < drops.length; i += 2) {
    at += bytes.copy(out, at, from, drops[i]);
    from = drops[i + 1] as number;
  }
  at += bytes.copy(out, at, from, lastLine);
  // Nothing of the first line is dropped: its version is where it was.
  if (line.isHttp10)
    out[first.length + line.end - VERSION_END - (first.length > 0 ? line.targetEnd : head.start)] = ONE;
  if (hop.length > 0) at += hop.copy(out, at);
  at += fields.copy(out, at);
  if (bodyEnd > bodyStart) body.copy(out, at, bodyStart, bodyEnd);
  return out;
}

/** What the upstream is told of the connection to it: a line, or nothing. */
export function hopField({ isUpgrade, takesTrailers }: RequestHead): Buffer {
  if (isUpgrade) return UPGRADE;
  return takesTrailers ? TE : NOTHING;
}

/** Method and path of a request whose target was in absolute form (RFC 9112 §3.2). */
function originForm({ bytes, line }: RequestHead): Buffer {
  const method = bytes.toString('latin1', line.start, line.methodEnd);
  const path = bytes.toString('latin1', line.targetStart, line.targetEnd);
  const missing = path === '' ? (method === 'OPTIONS' ? '*' : '/') : path.charCodeAt(0) === QUESTION_MARK ? '/' : '';
  return Buffer.from(`${method} ${missing}${path}`, 'latin1');
}
