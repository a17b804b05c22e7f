// The first message of a TLS connection, read without ending TLS: which name the visitor asks for (RFC 8446, section
// 4.1.2; RFC 6066, section 3; RFC 7301, section 3.1).

/** Bytes of a ClientHello, with the headers of its records; those of browsers with post-quantum keys have about 2000. */
export const HELLO_MAX = 16 * 1024;

export type Peek =
  /** It is not complete before there are so many bytes, at least. */
  | { state: 'more'; needed: number }
  /** It is no ClientHello, or not one that the rules allow, or too long. */
  | { state: 'none' }
  | {
      state: 'hello';
      /** As it was sent; undefined where none was. */
      serverName: string | undefined;
      /** The protocols that the visitor offers, in its order. */
      alpn: string[];
    };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
const RECORD_MAX = 16 * 1024;
const SERVER_NAME = 0;
const HOST_NAME = 0;
const ALPN = 16;
const NONE: Peek = { state: 'none' };

/** Reads the ClientHello that `bytes`, everything a connection has brought so far, begins with. Never throws. */
export function readClientHello(bytes: Buffer): Peek {
  const fragments: Buffer[] = [];
  let at = 0;
  let read = 0;
  // The message may be spread over several records.
  for (;;) {
    if (at > 0 && read >= MESSAGE_HEADER) {
      const message = fragments.length === 1 ? (fragments[0] as Buffer) : Buffer.concat(fragments);
      const length = MESSAGE_HEADER + message.readUIntBE(1, 3);
      if (message[0] !== CLIENT_HELLO || length > HELLO_MAX) return NONE;
      // It ends with its record: nothing can follow it before the server has answered.
      if (read >= length) return read === length ? readMessage(message) : NONE;
    }
    const there = bytes.length - at;
    if (at + RECORD_HEADER > HELLO_MAX || (there > 0 && bytes[at] !== HANDSHAKE) || (there > 1 && bytes[at + 1] !== 3))
      return NONE;
    if (there < RECORD_HEADER) return { state: 'more', needed: at + RECORD_HEADER };
    const length = bytes.readUInt16BE(at + 3);
    const end = at + RECORD_HEADER + length;
    if (length === 0 || length > RECORD_MAX || end > HELLO_MAX) return NONE;
    if (bytes.length < end) return { state: 'more', needed: end };
    fragments.push(bytes.subarray(at + RECORD_HEADER, end));
    read += length;
    at = end;
  }
}

function readMessage(message: Buffer): Peek {
  const reader = new Reader(message.subarray(MESSAGE_HEADER));
  const version = reader.bytes(2);
  reader.bytes(32); // Random.
  const session = reader.vector(1);
  const ciphers = reader.vector(2);
  const compressions = reader.vector(1);
  // TLS 1.2 allows that there are no extensions at all.
  const extensions = reader.isAtEnd ? undefined : new Reader(reader.vector(2));
  const isRight =
    !reader.isBroken &&
    reader.isAtEnd &&
    version[0] === 3 &&
    session.length <= 32 &&
    ciphers.length >= 2 &&
    ciphers.length % 2 === 0 &&
    compressions.length >= 1;
  if (!isRight) return NONE;

  const seen = new Set<number>();
  let serverName: string | undefined;
  let alpn: string[] = [];
  while (extensions && !extensions.isAtEnd) {
    const type = extensions.number(2);
    const body = new Reader(extensions.vector(2));
    if (extensions.isBroken || seen.has(type)) return NONE;
    seen.add(type);
    if (type !== SERVER_NAME && type !== ALPN) continue;
    const list = new Reader(body.vector(2));
    if (body.isBroken || !body.isAtEnd || list.isAtEnd) return NONE;
    if (type === SERVER_NAME) serverName = readServerName(list);
    else alpn = readProtocols(list);
    if (list.isBroken) return NONE;
  }
  return { state: 'hello', serverName, alpn };
}

/** One name of one type: no other type was ever defined, and no type may stand twice. */
function readServerName(list: Reader): string {
  const type = list.number(1);
  const name = list.vector(2);
  if (type !== HOST_NAME || name.length === 0 || !list.isAtEnd) list.isBroken = true;
  return name.toString('latin1');
}

function readProtocols(list: Reader): string[] {
  const protocols: string[] = [];
  while (!list.isAtEnd && !list.isBroken) {
    const protocol = list.vector(1);
    if (protocol.length === 0) list.isBroken = true;
    protocols.push(protocol.toString('latin1'));
  }
  return protocols;
}

/** Takes fields off the front. What is not there is empty, and the reader is broken from then on. */
class Reader {
  isBroken = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  bytes(length: number): Buffer {
    if (this.isBroken || this.#at + length > this.#bytes.length) {
      this.isBroken = true;
      this.#at = this.#bytes.length;
      return EMPTY;
    }
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(length: number): number {
    const bytes = this.bytes(length);
    return bytes.length === 0 ? -1 : bytes.readUIntBE(0, length);
  }

  /** Bytes with their length, in so many bytes, before them. */
  vector(lengthBytes: number): Buffer {
    const length = this.number(lengthBytes);
    return length < 0 ? EMPTY : this.bytes(length);
  }
}

const EMPTY = Buffer.alloc(0);
