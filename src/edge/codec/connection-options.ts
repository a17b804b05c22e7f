// The Connection header (RFC 9110 §7.6.1): what it says about the connection, and which fields it calls hop-by-hop.

import { classOf, isWord, SPACE, TAB, TOKEN } from './bytes.ts';

/** Fields that have to reach the other end: who lists one of them wants two servers to see different messages. */
const END_TO_END =
  /^(?:host|content-.*|transfer-encoding|trailer|authorization|cookie|set-cookie.*|x-forwarded-.*|x-real-ip|forwarded|via|date|expect|origin|range|if-.*|sec-.*|gateway-.*)$/;
/** What frames a message: even an answer that lists one of these is refused. */
const FRAMING = /^(?:content-length|transfer-encoding)$/;
/** Options that need no field to be looked for: either they are none, or such a field never goes on anyway. */
const HANDLED = /^(?:close|keep-alive|upgrade|te|proxy-.*|http2-settings)$/;

const COMMA = 0x2c;

export class ConnectionOptions {
  close = false;
  keepAlive = false;
  upgrade = false;
  te = false;
  /** Names, in lower case, of fields that are for this hop only. */
  listed: string[] | undefined;
  readonly #isOfAnswer: boolean;

  /** @param isOfAnswer whether a listed field that has to reach the other end goes on all the same; in a request it is refused. */
  constructor(isOfAnswer = false) {
    this.#isOfAnswer = isOfAnswer;
  }

  clear(): void {
    this.close = false;
    this.keepAlive = false;
    this.upgrade = false;
    this.te = false;
    this.listed = undefined;
  }

  /**
   * Reads the value of one Connection field.
   * @returns false when it is no list of tokens, or lists a field that it must not list.
   */
  read(bytes: Buffer, start: number, end: number): boolean {
    if (isWord(bytes, start, end, 'keep-alive')) this.keepAlive = true;
    else if (isWord(bytes, start, end, 'close')) this.close = true;
    else return this.#readList(bytes, start, end);
    return true;
  }

  /** Adds a name, in lower case, to those that are for this hop only. */
  list(name: string): void {
    this.listed ??= [];
    this.listed.push(name);
  }

  #readList(bytes: Buffer, start: number, end: number): boolean {
    let at = start;
    while (at < end) {
      const from = at;
      while (at < end && (classOf[bytes[at] as number] as number) & TOKEN) at++;
      if (at > from && !this.#take(bytes.toString('latin1', from, at).toLowerCase())) return false;
      while (bytes[at] === SPACE || bytes[at] === TAB) at++;
      if (at < end && bytes[at++] !== COMMA) return false;
      while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
    }
    return true;
  }

  #take(option: string): boolean {
    if (option === 'close') this.close = true;
    if (option === 'keep-alive') this.keepAlive = true;
    if (option === 'upgrade') this.upgrade = true;
    if (option === 'te') this.te = true;
    if (END_TO_END.test(option)) return this.#isOfAnswer && !FRAMING.test(option);
    if (!HANDLED.test(option)) this.list(option);
    return true;
  }
}

/** Whether the value of `Upgrade` is one protocol, and not one that would hide requests from us. */
export function isOtherProtocol(text: string): boolean {
  return (
    /^[!#$%&'*+\-.^_`|~0-9a-z]+(?:\/[!#$%&'*+\-.^_`|~0-9a-z]+)?$/i.test(text) &&
    !/^(?:h2c?|http|tls)(?:\/|$)/i.test(text)
  );
}
