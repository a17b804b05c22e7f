// The head of a request (RFC 9112 §3 to §6): what is well formed, where it goes, its body's length, lines for this hop only.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { CHUNKED } from './body.ts';
import { COLON, CR, classOf, decimal, isSame, isWord, LF, NAME, startsWithWord, TOKEN, VALUE } from './bytes.ts';
import { ConnectionOptions, isOtherProtocol } from './connection-options.ts';
import { IDENTITY_PREFIXES, readsAsTrusted } from './field-names.ts';
import { dropListed, isOfConnection, trimEnd, trimStart } from './fields.ts';
import { HeadReader, MORE, REFUSED } from './head-reader.ts';
import { hostnameOf } from './host.ts';
import { takeOwnCookies } from './own-cookies.ts';
import { RequestLine } from './request-line.ts';

/** Bytes of a head, with empty lines before it; more is answered with 431. */
export const REQUEST_HEAD_MAX = 32 * 1024;
/** Fields of a head; more is answered with 431. */
export const REQUEST_FIELDS_MAX = 200;

const LENGTH_DIGITS_MAX = 15;

/** The heads of one connection's requests, one after the other. */
export class RequestHead extends HeadReader {
  /** Why the head was refused. */
  refusal: VisitorError = 'badRequestLine';
  readonly line = new RequestLine();
  /** The Host header's value; the same object for as long as the requests of the connection have the same. */
  host: Buffer = Buffer.alloc(0);
  /** The name that the request is for, as `hostnameOf` gives it. */
  hostname = '';
  /** Bytes of the body; 0 when there is none; `CHUNKED`. */
  bodyLength = 0;
  /** Whether the visitor wants another protocol after a 101: a single one that is no HTTP, in a request without body. */
  isUpgrade = false;
  /** Whether the visitor takes fields behind a body in chunks: `TE: trailers` goes on, and needs `Connection: TE`. */
  takesTrailers = false;
  /** Where the value of its User-Agent begins; 0 without one. */
  userAgentStart = 0;
  readonly options = new ConnectionOptions();
  /** Whether its Authorization is of the whole connection. */
  authenticatesConnection = false;
  readonly visitorCookies: string[] = []; // As in `name=value`; they don't go on.
  /** Lines that don't go on: pairs of where one begins and where the next begins, in order. */
  readonly drops: number[] = [];
  #fields = 0;
  #hasHost = false;
  #hasLength = false;
  #hasTe = false;
  #upgrades = 0;
  #upgradeStart = 0;
  #upgradeEnd = 0;

  constructor() {
    super(REQUEST_HEAD_MAX, RequestLine.MAX);
  }

  /** Whether the visitor would like to send another request on this connection. */
  get wantsKeepAlive(): boolean {
    return !this.options.close && (!this.line.isHttp10 || this.options.keepAlive);
  }

  protected override begin(): void {
    this.#hasHost = false;
    this.bodyLength = 0;
    this.isUpgrade = false;
    this.options.clear();
    this.drops.length = 0;
    this.visitorCookies.length = 0;
    this.#fields = 0;
    this.#hasLength = false;
    this.#hasTe = false;
    this.takesTrailers = false;
    this.userAgentStart = 0;
    this.authenticatesConnection = false;
    this.#upgrades = 0;
  }

  protected override tooLarge(): typeof REFUSED {
    return this.#refuse('headTooLarge');
  }

  protected override malformed(): typeof REFUSED {
    return this.#refuse('badField');
  }

  protected override firstLine(start: number, limit: number): number {
    const next = this.line.parse(this.bytes, start, limit);
    if (next === REFUSED) return this.#refuse(this.line.refusal);
    this.start = this.line.start;
    return next;
  }

  protected override field(start: number, limit: number): number {
    const bytes = this.bytes;
    let at = start;
    while (at < limit && (classOf[bytes[at] as number] as number) & NAME) at++;
    if (at === limit) return MORE;
    if (bytes[at] !== COLON) return this.#oddField(start, at, limit);
    if (at === start) return this.#refuse('badField');
    const nameEnd = at++;
    while (at < limit && (classOf[bytes[at] as number] as number) & VALUE) at++;
    if (at === limit) return MORE;
    if (bytes[at] !== CR) return this.#refuse('badField');
    if (at + 1 >= limit) return MORE;
    if (bytes[at + 1] !== LF) return this.#refuse('badField');
    if (++this.#fields > REQUEST_FIELDS_MAX) return this.#refuse('tooManyFields');
    return this.#known(start, nameEnd, at) ? at + 2 : REFUSED;
  }

  /** A field whose name may have underscores: none that matters here, so that it goes on or is left out. */
  #oddField(start: number, from: number, limit: number): number {
    const bytes = this.bytes;
    let at = from;
    while (at < limit && (classOf[bytes[at] as number] as number) & TOKEN) at++;
    if (at === limit) return MORE;
    if (bytes[at] !== COLON) return this.#refuse('badField');
    const nameEnd = at++;
    while (at < limit && (classOf[bytes[at] as number] as number) & VALUE) at++;
    if (at === limit) return MORE;
    if (bytes[at] !== CR) return this.#refuse('badField');
    if (at + 1 >= limit) return MORE;
    if (bytes[at + 1] !== LF) return this.#refuse('badField');
    if (++this.#fields > REQUEST_FIELDS_MAX) return this.#refuse('tooManyFields');
    this.#dropIf(readsAsTrusted(bytes.toString('latin1', start, nameEnd)), start, at);
    return at + 2;
  }

  /** Takes what matters here from a complete line. @returns false when it was refused. */
  #known(start: number, nameEnd: number, lineEnd: number): boolean {
    const bytes = this.bytes;
    switch ((bytes[start] as number) | 0x20) {
      case 0x61: // a
        this.authenticatesConnection ||=
          isWord(bytes, start, nameEnd, 'authorization') && isOfConnection(bytes, nameEnd + 1, lineEnd);
        return true;
      case 0x63: // c
        if (isWord(bytes, start, nameEnd, 'connection')) return this.#connection(start, nameEnd, lineEnd);
        if (isWord(bytes, start, nameEnd, 'content-length')) return this.#contentLength(nameEnd, lineEnd);
        if (!isWord(bytes, start, nameEnd, 'cookie')) return true;
        return this.#dropIf(takeOwnCookies(bytes, nameEnd + 1, lineEnd, this.visitorCookies), start, lineEnd);
      case 0x66: // f
        return this.#dropIf(isWord(bytes, start, nameEnd, 'forwarded'), start, lineEnd);
      case 0x67: // g
        return this.#dropIf(this.#isIdentity(start, nameEnd), start, lineEnd);
      case 0x68: // h
        if (isWord(bytes, start, nameEnd, 'host')) return this.#host(nameEnd, lineEnd);
        return this.#dropIf(isWord(bytes, start, nameEnd, 'http2-settings'), start, lineEnd);
      case 0x6b: // k
        return this.#dropIf(isWord(bytes, start, nameEnd, 'keep-alive'), start, lineEnd);
      case 0x6e: // n
        return this.#dropIf(this.#isIdentity(start, nameEnd), start, lineEnd);
      case 0x70: // p
        // Servers that hand fields to programs in their environment would make HTTP_PROXY of `Proxy` ("httpoxy").
        if (isWord(bytes, start, nameEnd, 'proxy')) return this.#dropIf(true, start, lineEnd);
        return this.#dropIf(startsWithWord(bytes, start, nameEnd, 'proxy-'), start, lineEnd);
      case 0x74: // t
        if (isWord(bytes, start, nameEnd, 'transfer-encoding')) return this.#transferEncoding(nameEnd, lineEnd);
        if (!isWord(bytes, start, nameEnd, 'te')) return true;
        if (!this.#isValue(nameEnd, lineEnd, 'trailers')) return this.#dropIf(true, start, lineEnd);
        this.#hasTe = true;
        return true;
      case 0x75: // u
        if (isWord(bytes, start, nameEnd, 'upgrade')) this.#upgrade(nameEnd, lineEnd);
        else if (isWord(bytes, start, nameEnd, 'user-agent')) this.userAgentStart = nameEnd + 1;
        return true;
      case 0x78: // x
        if (isWord(bytes, start, nameEnd, 'x-real-ip')) return this.#dropIf(true, start, lineEnd);
        return this.#dropIf(startsWithWord(bytes, start, nameEnd, 'x-forwarded-'), start, lineEnd);
      default:
        return true;
    }
  }

  /** Whether a field says who the visitor has proven to be, which only the gateway does. */
  #isIdentity(start: number, nameEnd: number): boolean {
    for (const prefix of IDENTITY_PREFIXES) if (startsWithWord(this.bytes, start, nameEnd, prefix)) return true;
    return false;
  }

  #connection(start: number, nameEnd: number, lineEnd: number): boolean {
    this.drops.push(start, lineEnd + 2);
    const from = trimStart(this.bytes, nameEnd + 1, lineEnd);
    return this.options.read(this.bytes, from, trimEnd(this.bytes, from, lineEnd)) || this.#no('badConnection');
  }

  #contentLength(nameEnd: number, lineEnd: number): boolean {
    const from = trimStart(this.bytes, nameEnd + 1, lineEnd);
    const length = decimal(this.bytes, from, trimEnd(this.bytes, from, lineEnd), LENGTH_DIGITS_MAX);
    if (length < 0 || this.#hasLength || this.bodyLength === CHUNKED) return this.#no('badFraming');
    this.#hasLength = true;
    this.bodyLength = length;
    return true;
  }

  #transferEncoding(nameEnd: number, lineEnd: number): boolean {
    if (this.#hasLength || this.bodyLength === CHUNKED || this.line.isHttp10) return this.#no('badFraming');
    this.bodyLength = CHUNKED;
    return this.#isValue(nameEnd, lineEnd, 'chunked') || this.#no('badFraming');
  }

  #host(nameEnd: number, lineEnd: number): boolean {
    if (this.#hasHost) return this.#no('badHost');
    this.#hasHost = true;
    const { bytes } = this;
    const from = trimStart(bytes, nameEnd + 1, lineEnd);
    const end = trimEnd(bytes, from, lineEnd);
    // The requests of a connection mostly are for one name.
    if (isSame(bytes, from, end, this.host)) return this.hostname !== '' || this.#no('badHost');
    const hostname = hostnameOf(bytes, from, end);
    if (hostname === undefined) return this.#no('badHost');
    this.hostname = hostname;
    this.host = Buffer.from(bytes.subarray(from, end));
    return true;
  }

  #upgrade(nameEnd: number, lineEnd: number): void {
    this.#upgrades++;
    this.#upgradeStart = trimStart(this.bytes, nameEnd + 1, lineEnd);
    this.#upgradeEnd = trimEnd(this.bytes, this.#upgradeStart, lineEnd);
  }

  #isValue(nameEnd: number, lineEnd: number, word: string): boolean {
    const from = trimStart(this.bytes, nameEnd + 1, lineEnd);
    return isWord(this.bytes, from, trimEnd(this.bytes, from, lineEnd), word);
  }

  #dropIf(isDropped: boolean, start: number, lineEnd: number): true {
    if (isDropped) this.drops.push(start, lineEnd + 2);
    return true;
  }

  protected override finish(end: number): number {
    if (!this.#hasHost) return this.#refuse('badHost');
    const { line, options, bytes } = this;
    if (line.authorityEnd > 0 && !line.isFor(bytes, this.hostname, this.host)) return this.#refuse('hostDiffers');
    if (this.#upgrades > 0) {
      const protocol = bytes.toString('latin1', this.#upgradeStart, this.#upgradeEnd);
      this.isUpgrade =
        this.#upgrades === 1 && options.upgrade && !line.isHttp10 && this.bodyLength === 0 && isOtherProtocol(protocol);
      if (!this.isUpgrade) options.list('upgrade');
    }
    // Who does not list it may have been given it by somebody further away (RFC 9110, section 10.1.4).
    this.takesTrailers = this.#hasTe && options.te && !this.isUpgrade && !line.isHttp10;
    if (this.#hasTe && !this.takesTrailers) options.list('te');
    if (options.listed) dropListed(bytes, this.fieldsStart, end, options.listed, this.drops);
    return end;
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
