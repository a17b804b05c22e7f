// The head of an answer (RFC 9112 §4 to §6): what it says about its body and about the connection to the upstream, and
// which of its lines are for that hop only. What small and old servers are known for is read as they mean it: lines that
// end in LF alone, the same Content-Length twice, a minor version above 1. Such a head is written anew before it is used,
// so that nobody after this hop can read it in another way.

import { CHUNKED, UNTIL_CLOSE } from './body.ts';
import { COLON, CR, classOf, decimal, isWord, LF, SPACE, startsWithWord, TOKEN, VALUE } from './bytes.ts';
import { ConnectionOptions } from './connection-options.ts';
import { dropListed, trimEnd, trimStart } from './fields.ts';
import { HeadReader, MORE, REFUSED } from './head-reader.ts';
import { setsOwnCookie } from './own-cookies.ts';
import { setsSharedCookie } from './shared-cookies.ts';

/** Bytes of a head; an answer with more is not valid. */
export const RESPONSE_HEAD_MAX = 64 * 1024;
/** Bytes of all interim answers before one answer: flow control of HTTP/2 does not hold them back. */
const INTERIMS_MAX = 256 * 1024;

const LENGTH_DIGITS_MAX = 15;
const TIMEOUT_DIGITS_MAX = 6;
const VERSION = Buffer.from('HTTP/1.');
const NONE = -2;
const TAB = 0x09;
/** Of the name of a field that was refused. */
const NAME_SHOWN_MAX = 100;
/** A version, a space and a status. */
const STATUS_END = 12;

/** The heads of the answers on one visitor's connection, one after the other. */
export class ResponseHead extends HeadReader {
  status = 0;
  isHttp10 = false;
  readonly options = new ConnectionOptions(true);
  /** Lines that don't go on: pairs of where one begins and where the next begins, in order. */
  readonly drops: number[] = [];
  /** A line that says `Connection: keep-alive` and nothing else; it may go on if that is true. 0: there is none. */
  keepAliveStart = 0;
  keepAliveEnd = 0;
  /** Domains that accounts share: cookies for them do not go on. Lower case. */
  sharedDomains: readonly string[] = [];
  /** Milliseconds after which the upstream says that it closes an idle connection; infinite when it doesn't say. */
  keepAliveTimeout = Number.POSITIVE_INFINITY;

  /** Why the head was refused, where a line says so: for people, who can mend their service. */
  fault: string | undefined;
  /** Where the line of the last field begins. */
  #fieldStart = 0;
  /** What Content-Length says, or `NONE`. */
  #length = NONE;
  #isChunked = false;
  /** The line of Transfer-Encoding; 0: there is none that could go on. */
  #chunkedStart = 0;
  #chunkedEnd = 0;
  /** Whether the head has to be written anew. */
  #isOdd = false;
  /** Bytes of interim answers that came before the answer that is awaited. */
  #interimBytes = 0;

  constructor() {
    super(RESPONSE_HEAD_MAX, RESPONSE_HEAD_MAX, true);
  }

  override release(): void {
    super.release();
    this.#interimBytes = 0;
  }

  /** Whether it precedes the answer proper. */
  get isInterim(): boolean {
    return this.status < 200 && this.status !== 101;
  }

  /** Whether the upstream takes another request on the same connection. HTTP/1.0 knows no chunks (RFC 9112 §6.1). */
  get isKeptAlive(): boolean {
    return !this.options.close && (!this.isHttp10 || (this.options.keepAlive && !this.#isChunked));
  }

  /** Bytes of the body (RFC 9112 §6.3), `CHUNKED` or `UNTIL_CLOSE`. */
  bodyLength(isToHead: boolean): number {
    if (isToHead || this.#hasNoBody || this.status === 304) return 0;
    if (this.#isChunked) return CHUNKED;
    return this.#length === NONE ? UNTIL_CLOSE : this.#length;
  }

  get #hasNoBody(): boolean {
    return this.status < 200 || this.status === 204;
  }

  protected override begin(): void {
    this.options.clear();
    this.drops.length = 0;
    this.keepAliveStart = 0;
    this.keepAliveTimeout = Number.POSITIVE_INFINITY;
    this.#length = NONE;
    this.#isChunked = false;
    this.#chunkedStart = 0;
    this.#isOdd = false;
    this.fault = undefined;
  }

  protected override firstLine(start: number, limit: number): number {
    const { bytes } = this;
    const digit = start + VERSION.length;
    for (let at = start; at < start + STATUS_END; at++) {
      if (at >= limit) return MORE;
      const byte = bytes[at] as number;
      const isRight =
        at < digit
          ? byte === VERSION[at - start]
          : at === digit
            ? byte >= 0x30 && byte <= 0x39
            : at === digit + 1
              ? byte === SPACE
              : byte >= 0x30 && byte <= 0x39;
      if (!isRight) return REFUSED;
    }
    this.isHttp10 = bytes[digit] === 0x30;
    // A higher minor version says nothing that 1.1 does not (RFC 9110 §2.5).
    this.#isOdd = (bytes[digit] as number) > 0x31;
    this.status = decimal(bytes, digit + 2, start + STATUS_END, 3);
    let at = start + STATUS_END;
    if (at >= limit) return MORE;
    // Some servers leave out the space when they have no reason to give.
    if (this.status < 100 || (bytes[at] !== SPACE && bytes[at] !== CR && bytes[at] !== LF)) return REFUSED;
    while (at < limit && (classOf[bytes[at] as number] as number) & VALUE) at++;
    return this.#lineEnd(at, limit);
  }

  protected override field(start: number, limit: number): number {
    const { bytes } = this;
    let at = start;
    while (at < limit && (classOf[bytes[at] as number] as number) & TOKEN) at++;
    if (at === limit) return MORE;
    if (bytes[at] !== COLON || at === start) return this.#refuseField(start, at);
    this.#fieldStart = start;
    const nameEnd = at++;
    while (at < limit && (classOf[bytes[at] as number] as number) & VALUE) at++;
    const next = this.#lineEnd(at, limit);
    return next < 0 || this.#known(start, nameEnd, at) ? next : REFUSED;
  }

  /** @param at the byte that no name of a field has. */
  #refuseField(start: number, at: number): typeof REFUSED {
    const isBlank = this.bytes[at] === SPACE || this.bytes[at] === TAB;
    const isFolded = isBlank && at === start;
    const from = isFolded ? this.#fieldStart : start;
    const name = /^[^:\s]*/.exec(
      this.bytes.toString('latin1', from, Math.min(from + NAME_SHOWN_MAX, this.bytes.length)),
    );
    const what = isFolded
      ? 'is folded over several lines'
      : isBlank
        ? 'has a space behind its name'
        : 'is not well formed';
    this.fault = `the header field "${name?.[0]}" of the service ${what}`;
    return REFUSED;
  }

  /** Takes what matters here from a complete line. @returns false when it was refused. */
  #known(start: number, nameEnd: number, valueEnd: number): boolean {
    const { bytes } = this;
    switch ((bytes[start] as number) | 0x20) {
      case 0x63: // c
        if (isWord(bytes, start, nameEnd, 'connection')) return this.#connection(start, nameEnd, valueEnd);
        return !isWord(bytes, start, nameEnd, 'content-length') || this.#contentLength(start, nameEnd, valueEnd);
      case 0x6b: // k
        if (isWord(bytes, start, nameEnd, 'keep-alive')) this.#keepAlive(start, nameEnd, valueEnd);
        return true;
      case 0x70: // p
        if (isWord(bytes, start, nameEnd, 'proxy-connection')) this.#drop(start, valueEnd);
        return true;
      case 0x73: // s
        if (isWord(bytes, start, nameEnd, 'set-cookie') && this.#setsForbiddenCookie(nameEnd + 1, valueEnd))
          this.#drop(start, valueEnd);
        return true;
      case 0x74: // t
        return !isWord(bytes, start, nameEnd, 'transfer-encoding') || this.#transferEncoding(start, nameEnd, valueEnd);
      case 0x75: // u
        if (this.status !== 101 && isWord(bytes, start, nameEnd, 'upgrade')) this.#drop(start, valueEnd);
        return true;
      default:
        return true;
    }
  }

  #setsForbiddenCookie(from: number, end: number): boolean {
    return setsOwnCookie(this.bytes, from, end) || setsSharedCookie(this.bytes, from, end, this.sharedDomains);
  }

  #connection(start: number, nameEnd: number, valueEnd: number): boolean {
    const { bytes, options } = this;
    const from = trimStart(bytes, nameEnd + 1, valueEnd);
    const end = trimEnd(bytes, from, valueEnd);
    if (this.keepAliveStart === 0 && isWord(bytes, from, end, 'keep-alive')) {
      this.keepAliveStart = start;
      this.keepAliveEnd = valueEnd + 2;
    } else if (this.status !== 101) this.#drop(start, valueEnd);
    return options.read(bytes, from, end);
  }

  /** `timeout=<seconds>` comes first where it is stated (RFC 2068 §19.7.1.1). */
  #keepAlive(start: number, nameEnd: number, valueEnd: number): void {
    const { bytes } = this;
    this.#drop(start, valueEnd);
    const from = trimStart(bytes, nameEnd + 1, valueEnd);
    if (!startsWithWord(bytes, from, valueEnd, 'timeout=')) return;
    let end = from + 'timeout='.length;
    while (end < valueEnd && (bytes[end] as number) >= 0x30 && (bytes[end] as number) <= 0x39) end++;
    const seconds = decimal(bytes, from + 'timeout='.length, end, TIMEOUT_DIGITS_MAX);
    if (seconds >= 0) this.keepAliveTimeout = seconds * 1000;
  }

  #contentLength(start: number, nameEnd: number, valueEnd: number): boolean {
    if (this.#hasNoBody) this.#drop(start, valueEnd);
    const from = trimStart(this.bytes, nameEnd + 1, valueEnd);
    const length = decimal(this.bytes, from, trimEnd(this.bytes, from, valueEnd), LENGTH_DIGITS_MAX);
    if (length < 0 || this.#isChunked || (this.#length !== NONE && this.#length !== length)) return false;
    this.#isOdd ||= this.#length === length;
    this.#length = length;
    return true;
  }

  #transferEncoding(start: number, nameEnd: number, valueEnd: number): boolean {
    if (this.#hasNoBody) this.#drop(start, valueEnd);
    else {
      this.#chunkedStart = start;
      this.#chunkedEnd = valueEnd + 2;
    }
    if (this.#length !== NONE || this.#isChunked) return false;
    this.#isChunked = true;
    const from = trimStart(this.bytes, nameEnd + 1, valueEnd);
    return isWord(this.bytes, from, trimEnd(this.bytes, from, valueEnd), 'chunked');
  }

  #drop(start: number, valueEnd: number): void {
    this.drops.push(start, valueEnd + 2);
  }

  /** Takes out what says that the body comes in chunks: it goes to somebody who does not know them. */
  dropTransferEncoding(): void {
    if (this.#chunkedStart === 0) return;
    const before = this.drops.findIndex((at) => at > this.#chunkedStart);
    this.drops.splice(before < 0 ? this.drops.length : before, 0, this.#chunkedStart, this.#chunkedEnd);
    this.#chunkedStart = 0;
  }

  protected override finish(end: number): number {
    // The empty line is not one of the fields: it may be what is odd.
    if (this.#isOdd || this.bytes[end - 2] !== CR) return this.readInstead(this.#canonical(end)) ? end : REFUSED;
    this.#interimBytes = this.isInterim ? this.#interimBytes + end - this.start : 0;
    if (this.#interimBytes > INTERIMS_MAX) return REFUSED;
    const { listed } = this.options;
    if (listed) dropListed(this.bytes, this.fieldsStart, end, listed, this.drops);
    return end;
  }

  /** @returns where the next line begins, or `MORE` or `REFUSED`. */
  #lineEnd(at: number, limit: number): number {
    const { bytes } = this;
    if (at === limit) return MORE;
    if (bytes[at] !== CR) {
      if (bytes[at] !== LF) return REFUSED;
      this.#isOdd = true;
      return at + 1;
    }
    if (at + 1 >= limit) return MORE;
    return bytes[at + 1] === LF ? at + 2 : REFUSED;
  }

  /** The head, whose lines were found well formed, as HTTP/1.1 writes it, and with Content-Length once. */
  #canonical(end: number): Buffer {
    const [first = '', ...fields] = this.bytes.toString('latin1', this.start, end).split(/\r?\n/);
    let lengths = 0;
    const once = fields.filter((line) => !/^content-length:/i.test(line) || lengths++ === 0);
    return Buffer.from([first.replace(/^HTTP\/1\.[2-9]/, 'HTTP/1.1'), ...once].join('\r\n'), 'latin1');
  }
}
