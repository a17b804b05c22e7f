// The grammar of chunked bodies (RFC 9112 §7.1): hexadecimal sizes, CRLF and nothing else at the end of lines, and no
// trailer fields that would have had to be in the head. Extensions are ignored, and never go on (§7.1.1). In answers, what
// old servers are known for is put right: blanks after a size, lines that end in LF alone, fields that must not be in a
// trailer. What goes on is well formed by the strictest reading, so that the next hop cannot find another end than we did.

import { COLON, CR, classOf, LF, pieceOf, SPACE, TAB, TOKEN, VALUE } from './bytes.ts';
import { isIdentityField } from './field-names.ts';
import { PieceEdits } from './piece-edits.ts';

const INVALID = -1;
const SIZE_DIGITS_MAX = 16;
const PLAIN_DIGITS_MAX = 8;
/** Bytes of the extensions of one chunk, with the blanks around them. */
const EXTENSION_MAX = 1024;
/** Bytes of all trailer fields together. */
const TRAILER_MAX = 16 * 1024;
/** What servers act on before they know the trailer, or must not take from anybody but the head (RFC 9110 §6.5.1). */
const FORBIDDEN =
  /^(?:host|content-(?:length|type|encoding|range)|transfer-encoding|te|trailer|connection|keep-alive|proxy-.*|upgrade|authorization|cookie|set-cookie|forwarded|x-forwarded-.*|x-real-ip|expect|range|if-.*|gateway-.*)$/;
const SEMICOLON = 0x3b;

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
  SIZE_BLANK: 11,
  EXTENSION: 12,
} as const;
type At = (typeof At)[keyof typeof At];

/** One chunked body, in whatever pieces it comes. */
export class ChunkedBody {
  /** Bytes of its content so far; a piece in which it stops being well formed is not counted. */
  length = 0;
  readonly #isOfAnswer: boolean;
  #at: At = At.SIZE;
  #size = 0;
  #digits = 0;
  /** Bytes of the extensions of this chunk so far; then of the trailer. */
  #counted = 0;
  #name = '';
  /** What of the piece taken last does not go on as it came; made when it is needed. */
  #edits: PieceEdits | undefined;

  /** @param isOfAnswer whether it is what an upstream sends, of which more is put up with. */
  constructor(isOfAnswer = false) {
    this.#isOfAnswer = isOfAnswer;
  }

  get isComplete(): boolean {
    return this.#at === At.NOTHING;
  }

  /** Whether what was taken last goes on as it came. */
  get isAsItCame(): boolean {
    return this.#edits === undefined || this.#edits.isEmpty;
  }

  /** @returns the index after the last byte that belongs to the body, or -1 when it is not well formed. */
  take(bytes: Buffer, from: number): number {
    this.#edits?.begin(from);
    let i = from;
    let content = 0;
    while (i < bytes.length && this.#at !== At.NOTHING) {
      if (this.#at === At.DATA) {
        const there = Math.min(this.#size, bytes.length - i);
        this.#size -= there;
        content += there;
        i += there;
        if (this.#size > 0) break;
        // What ends most chunks is there at once.
        const isWhole = i + 1 < bytes.length && bytes[i] === CR && bytes[i + 1] === LF;
        this.#at = isWhole ? At.SIZE : At.DATA_CR;
        if (isWhole) i += 2;
      } else {
        const next = this.#at === At.SIZE && this.#digits === 0 ? this.#sizeLine(bytes, i) : i;
        if (next > i) i = next;
        else if (!this.#isRight(bytes[i] as number, i++)) return INVALID;
      }
    }
    // Whether a field goes on is known at the end of its name.
    if (this.#at === At.TRAILER_NAME && this.#isOfAnswer) this.#cut(Math.max(from, i - this.#name.length));
    this.#edits?.end(i);
    this.length += content;
    return i;
  }

  /** Takes a plain size with its line end, which is what there mostly is. @returns where it begins unless that is all there. */
  #sizeLine(bytes: Buffer, from: number): number {
    let i = from;
    let size = 0;
    for (; i < bytes.length - 1 && i < from + PLAIN_DIGITS_MAX; i++) {
      const digit = hexadecimal(bytes[i] as number);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (i === from || bytes[i] !== CR || bytes[i + 1] !== LF) return from;
    this.#size = size;
    this.#at = this.#afterSize();
    return i + 2;
  }

  /** What goes on of the piece that was taken last, from where it was taken to the index that `take` returned. */
  relayed(bytes: Buffer, from: number, end: number): Buffer {
    return this.#edits ? this.#edits.apply(bytes, from, end) : pieceOf(bytes, from, end);
  }

  /** Takes one byte that is not data. @returns whether it may be there. */
  #isRight(byte: number, i: number): boolean {
    switch (this.#at) {
      case At.SIZE:
        return this.#sizeByte(byte, i);
      case At.SIZE_BLANK:
      case At.EXTENSION:
        return ++this.#counted <= EXTENSION_MAX && this.#extensionByte(byte, i);
      case At.SIZE_LF:
        this.#at = this.#afterSize();
        return byte === LF;
      case At.DATA_CR:
        this.#at = At.DATA_LF;
        return byte === CR || (byte === LF && this.#bareLf(i, At.SIZE));
      case At.DATA_LF:
        this.#at = At.SIZE;
        return byte === LF;
      case At.LAST_LF:
        this.#at = At.NOTHING;
        return byte === LF;
      default:
        return ++this.#counted <= TRAILER_MAX && this.#trailerByte(byte, i);
    }
  }

  #sizeByte(byte: number, i: number): boolean {
    if (byte === CR) {
      this.#at = At.SIZE_LF;
      return this.#digits > 0;
    }
    const digit = hexadecimal(byte);
    if (digit < 0) return this.#digits > 0 && this.#oddSizeEnd(byte, i);
    // A size above that could not be counted exactly.
    this.#size = this.#size * 16 + digit;
    return ++this.#digits <= SIZE_DIGITS_MAX && this.#size <= Number.MAX_SAFE_INTEGER;
  }

  #afterSize(): At {
    this.#digits = 0;
    if (this.#size > 0) return At.DATA;
    this.#counted = 0;
    return At.TRAILER;
  }

  #oddSizeEnd(byte: number, i: number): boolean {
    if (byte === LF) return this.#bareLf(i, this.#afterSize());
    this.#counted = 0;
    this.#at = At.SIZE_BLANK;
    this.#cut(i);
    return this.#extensionByte(byte, i);
  }

  /** Blanks may stand before an extension (RFC 9112 §7.1.1), and at the end of the line where none has come. */
  #extensionByte(byte: number, i: number): boolean {
    if (this.#at === At.SIZE_BLANK) {
      if (byte === SPACE || byte === TAB) return true;
      if (byte === SEMICOLON) {
        this.#at = At.EXTENSION;
        return true;
      }
      if (!this.#isOfAnswer) return false;
    } else if (byte !== CR && byte !== LF) return ((classOf[byte] as number) & VALUE) !== 0;
    this.#edits?.mend(i, '');
    if (byte === LF) return this.#bareLf(i, this.#afterSize());
    this.#at = At.SIZE_LF;
    return byte === CR;
  }

  #trailerByte(byte: number, i: number): boolean {
    const kinds = classOf[byte] as number;
    switch (this.#at) {
      case At.TRAILER:
        if (byte === LF) return this.#bareLf(i, At.NOTHING);
        if (byte === CR) {
          this.#at = At.LAST_LF;
          return true;
        }
        this.#name = '';
        this.#at = At.TRAILER_NAME;
        return this.#nameByte(byte, kinds);
      case At.TRAILER_NAME:
        return byte === COLON ? this.#nameEnd(i) : this.#nameByte(byte, kinds);
      case At.TRAILER_VALUE:
        if (byte === LF) return this.#bareLf(i, At.TRAILER);
        if (byte === CR) this.#at = At.TRAILER_LF;
        return byte === CR || (kinds & VALUE) !== 0;
      default:
        this.#at = At.TRAILER;
        this.#edits?.mend(i + 1, '');
        return byte === LF;
    }
  }

  #nameByte(byte: number, kinds: number): boolean {
    this.#name += String.fromCharCode(byte);
    return (kinds & TOKEN) !== 0;
  }

  #nameEnd(i: number): boolean {
    this.#at = At.TRAILER_VALUE;
    // Some servers take `_` for `-`.
    const read = this.#name.toLowerCase().replaceAll('_', '-');
    if (!FORBIDDEN.test(read) && !isIdentityField(read)) {
      this.#edits?.mend(i, this.#name);
      return true;
    }
    this.#cut(i - this.#name.length);
    return this.#isOfAnswer;
  }

  /** A line ends without its CR. @param next what follows it. */
  #bareLf(i: number, next: At): boolean {
    this.#at = next;
    this.#edits ??= new PieceEdits();
    // Of a line that is left out, the end is left out, too.
    if (!this.#edits.mend(i + 1, '')) this.#edits.insert(i, '\r');
    return this.#isOfAnswer;
  }

  #cut(from: number): void {
    this.#edits ??= new PieceEdits();
    this.#edits.cut(from);
  }
}

function hexadecimal(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
