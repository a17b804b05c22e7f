// The first line of a request (RFC 9112 §3).

import type { VisitorError } from '../../http/visitor-errors.ts';
import { CR, classOf, isWord, LF, SPACE, TARGET, TOKEN } from './bytes.ts';
import { MORE, REFUSED } from './head-reader.ts';
import { hostnameOf, portOf } from './host.ts';

/** Bytes of a target; more is answered with 414. */
export const TARGET_MAX = 16 * 1024;
const METHOD_MAX = 64;
const EMPTY_LINES_MAX = 8;

const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const VERSION = Buffer.from('HTTP/1.');
const VERSION_LENGTH = 8;

/** One request line after the other. Offsets are into the bytes that `parse` was given. */
export class RequestLine {
  /** More than this is too much for the method and the target of a line. */
  static readonly MAX = TARGET_MAX;

  /** Why the line was refused. */
  refusal: VisitorError = 'badRequestLine';
  isHttp10 = false;
  isHead = false;
  /** Where the line begins, which is with the method. */
  start = 0;
  methodEnd = 0;
  /** The path and query, or the `*` of OPTIONS; empty in a target such as `http://example.com`. */
  targetStart = 0;
  targetEnd = 0;
  /** The host of a target in absolute form; 0 in others. */
  authorityStart = 0;
  authorityEnd = 0;
  /** For which scheme a target in absolute form is. */
  isHttps = false;
  /** After the line's end. */
  end = 0;

  /** @returns where the next line begins, or `MORE` or `REFUSED`. */
  parse(bytes: Buffer, from: number, limit: number): number {
    let at = from;
    // An empty line or more may come before a request (§2.2).
    for (; bytes[at] === CR; at += 2) {
      if (at + 1 >= limit) return MORE;
      if (bytes[at + 1] !== LF || at - from >= 2 * EMPTY_LINES_MAX) return this.#refuse('badRequestLine');
    }
    this.start = at;
    while (at < limit && (classOf[bytes[at] as number] as number) & TOKEN) at++;
    if (at - this.start > METHOD_MAX) return this.#refuse('badRequestLine');
    if (at >= limit) return MORE;
    if (bytes[at] !== SPACE || at === this.start) return this.#refuse('badRequestLine');
    this.methodEnd = at++;

    const target = at;
    while (at < limit && (classOf[bytes[at] as number] as number) & TARGET) at++;
    if (at - target > TARGET_MAX) return this.#refuse('targetTooLong');
    if (at >= limit) return MORE;
    if (bytes[at] !== SPACE || at === target) return this.#refuse('badRequestLine');
    return this.#version(bytes, target, at, limit);
  }

  /** Whether the target in absolute form is for the same host and port as the Host header, whose name is `hostname`. */
  isFor(bytes: Buffer, hostname: string, host: Buffer): boolean {
    const port = this.isHttps ? 443 : 80;
    return (
      hostnameOf(bytes, this.authorityStart, this.authorityEnd) === hostname &&
      portOf(bytes, this.authorityStart, this.authorityEnd, port) === portOf(host, 0, host.length, port)
    );
  }

  #version(bytes: Buffer, target: number, targetEnd: number, limit: number): number {
    const from = targetEnd + 1;
    const digit = from + VERSION.length;
    for (let at = from; at < digit + 3; at++) {
      if (at >= limit) return MORE;
      const byte = bytes[at] as number;
      // A major version of 2 and above, however it is written: what follows may be written in another way than ours.
      const isLater = (at === from + 5 && byte > 0x31) || (at === from + 6 && byte >= 0x30);
      if (isLater && byte <= 0x39) return this.#refuse('badVersion');
      // The numbers of versions that are not ours are still numbers: they get an answer of their own.
      const isNumber = at === from + 5 || at === digit;
      const expected = at < digit ? VERSION[at - from] : at === digit + 1 ? CR : LF;
      if (isNumber ? byte < 0x30 || byte > 0x39 : byte !== expected) return this.#refuse('badRequestLine');
    }
    if (bytes[from + 5] !== 0x31 || (bytes[digit] as number) > 0x31) return this.#refuse('badVersion');
    this.isHttp10 = bytes[digit] === 0x30;
    this.end = from + VERSION_LENGTH + 2;
    this.targetStart = target;
    this.targetEnd = targetEnd;
    this.authorityStart = 0;
    this.authorityEnd = 0;
    this.isHead = isExactly(bytes, this.start, this.methodEnd, 'HEAD');
    if (isExactly(bytes, this.start, this.methodEnd, 'CONNECT')) return this.#refuse('connect');
    // What comes back would show a page the fields that browsers keep from it.
    if (isExactly(bytes, this.start, this.methodEnd, 'TRACE')) return this.#refuse('trace');
    if (bytes[target] !== SLASH && !this.#otherForm(bytes)) return REFUSED;
    return this.end;
  }

  /** Takes targets that are no paths. @returns false when refused. */
  #otherForm(bytes: Buffer): boolean {
    const { start, methodEnd, targetStart, targetEnd } = this;
    if (isExactly(bytes, targetStart, targetEnd, '*'))
      return isExactly(bytes, start, methodEnd, 'OPTIONS') || this.#no('badTarget');
    const colon = bytes.indexOf(0x3a, targetStart);
    this.isHttps = isWord(bytes, targetStart, colon, 'https');
    if (!this.isHttps && !isWord(bytes, targetStart, colon, 'http')) return this.#no('badTarget');
    if (!isExactly(bytes, colon, Math.min(colon + 3, targetEnd), '://')) return this.#no('badTarget');
    let at = colon + 3;
    this.authorityStart = at;
    while (at < targetEnd && bytes[at] !== SLASH && bytes[at] !== QUESTION_MARK) at++;
    this.authorityEnd = at;
    this.targetStart = at;
    return at > colon + 3 || this.#no('badTarget');
  }

  #refuse(refusal: VisitorError): typeof REFUSED {
    this.refusal = refusal;
    return REFUSED;
  }

  #no(refusal: VisitorError): false {
    this.refusal = refusal;
    return false;
  }
}

/** Methods are case-sensitive. */
export function isExactly(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** What is left of a target without its origin, which may be no path (RFC 9112, section 3.2), in origin-form. */
export function originFormOf(method: string, target: string): string {
  if (target === '') return method === 'OPTIONS' ? '*' : '/';
  return target.startsWith('?') ? `/${target}` : target;
}
