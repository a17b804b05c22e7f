// The grammar of chunked bodies (RFC 9112 §7.1), strictly: hexadecimal sizes, CRLF and nothing else at the end of lines,
// no extensions, and no trailer fields that would have had to be in the head.

import { COLON, CR, classOf, LF, NAME, VALUE } from './bytes.ts';

const INVALID = -1;
const SIZE_DIGITS_MAX = 16;
/** Bytes of all trailer fields together. */
const TRAILER_MAX = 16 * 1024;
/** What servers act on before they know the trailer, or must not take from anybody but the head (RFC 9110 §6.5.1). */
const FORBIDDEN =
  /^(?:host|content-(?:length|type|encoding|range)|transfer-encoding|te|trailer|connection|keep-alive|proxy-.*|upgrade|authorization|cookie|set-cookie|forwarded|x-forwarded-.*|x-real-ip|expect|range|if-.*|gateway-.*)$/;

/** What the next byte is. */
const At = {
  SIZE: 0,
  SIZE_LF: 1,
  DATA: 2,
  DATA_CR: 3,
  DATA_LF: 4,
  TRAILER: 5,
  TRAILER_NAME: 6,
  TRAILER_VALUE: 7,
  TRAILER_LF: 8,
  LAST_LF: 9,
  NOTHING: 10,
} as const;
type At = (typeof At)[keyof typeof At];

/** One chunked body, in whatever pieces it comes. */
export class ChunkedBody {
  /** Bytes of its content so far; a piece in which it stops being well formed is not counted. */
  length = 0;
  #at: At = At.SIZE;
  #size = 0;
  #digits = 0;
  /** Bytes of the trailer so far. */
  #trailer = 0;
  #name = '';

  get isComplete(): boolean {
    return this.#at === At.NOTHING;
  }

  /** @returns the index after the last byte that belongs to the body, or -1 when it is not well formed. */
  take(bytes: Buffer, from: number): number {
    let i = from;
    let content = 0;
    while (i < bytes.length && this.#at !== At.NOTHING) {
      if (this.#at === At.DATA) {
        const there = Math.min(this.#size, bytes.length - i);
        this.#size -= there;
        content += there;
        i += there;
        if (this.#size === 0) this.#at = At.DATA_CR;
      } else if (!this.#isRight(bytes[i++] as number)) return INVALID;
    }
    this.length += content;
    return i;
  }

  /** Takes one byte that is not data. @returns whether it may be there. */
  #isRight(byte: number): boolean {
    switch (this.#at) {
      case At.SIZE:
        return this.#sizeByte(byte);
      case At.SIZE_LF:
        this.#at = this.#size > 0 ? At.DATA : At.TRAILER;
        return byte === LF;
      case At.DATA_CR:
        this.#at = At.DATA_LF;
        return byte === CR;
      case At.DATA_LF:
        this.#at = At.SIZE;
        this.#digits = 0;
        return byte === LF;
      case At.LAST_LF:
        this.#at = At.NOTHING;
        return byte === LF;
      default:
        return ++this.#trailer <= TRAILER_MAX && this.#trailerByte(byte);
    }
  }

  #sizeByte(byte: number): boolean {
    if (byte === CR) {
      this.#at = At.SIZE_LF;
      return this.#digits > 0;
    }
    const digit = hexadecimal(byte);
    this.#size = this.#size * 16 + digit;
    // A size above that could not be counted exactly.
    return digit >= 0 && ++this.#digits <= SIZE_DIGITS_MAX && this.#size <= Number.MAX_SAFE_INTEGER;
  }

  #trailerByte(byte: number): boolean {
    const kinds = classOf[byte] as number;
    switch (this.#at) {
      case At.TRAILER:
        if (byte === CR) {
          this.#at = At.LAST_LF;
          return true;
        }
        this.#name = '';
        this.#at = At.TRAILER_NAME;
        return this.#nameByte(byte, kinds);
      case At.TRAILER_NAME:
        if (byte !== COLON) return this.#nameByte(byte, kinds);
        this.#at = At.TRAILER_VALUE;
        return !FORBIDDEN.test(this.#name);
      case At.TRAILER_VALUE:
        if (byte === CR) this.#at = At.TRAILER_LF;
        return byte === CR || (kinds & VALUE) !== 0;
      default:
        this.#at = At.TRAILER;
        return byte === LF;
    }
  }

  #nameByte(byte: number, kinds: number): boolean {
    this.#name += String.fromCharCode(byte).toLowerCase();
    return (kinds & NAME) !== 0;
  }
}

function hexadecimal(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
