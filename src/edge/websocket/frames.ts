// The frames of a WebSocket (RFC 6455, section 5), as a server reads and writes them. The library ws gives a message once all of
// it was read, and takes a Node stream; here a message is the bytes of a connection, which go on as they come, by the credit of
// a stream of the multiplexer.

import { isUtf8 } from 'node:buffer';
import { Utf8Check } from './utf8-check.ts';

/** Why a WebSocket is closed (section 7.4.1). */
export const CloseCode = { NORMAL: 1000, PROTOCOL: 1002, NO_STATUS: 1005, NO_TEXT: 1007, FAILED: 1011 } as const;

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** Bytes of a control frame's content (section 5.5). */
const CONTROL_MAX = 125;
const FIN = 0x80;
const RSV = 0x70;
const MASKED = 0x80;
/** A frame's head has at most 2 bytes, 8 of a length and 4 of a mask. */
const HEAD_MAX = 14;
/** Bytes; fewer than these are unmasked one by one. */
const WORDS_MIN = 32;

export interface WebsocketFrameEvents {
  /** Bytes of a message: of any kind, and no matter where one message ends and the next begins. */
  onData(chunk: Buffer): void;
  /** To be answered with a pong that has the same bytes. */
  onPing(content: Buffer): void;
  /** The visitor is done. @param code `NO_STATUS` where there was none. */
  onClose(code: number): void;
  /** What came is no frame that a visitor may send, or text that is none; nothing after it is read. */
  onInvalid(code: typeof CloseCode.PROTOCOL | typeof CloseCode.NO_TEXT): void;
}

/** Reads what a visitor sends, however it is cut up. Messages are never kept: what is there of them goes on. */
export class WebsocketFrameReader {
  readonly #events: WebsocketFrameEvents;
  /** The head of a frame, as far as it has come. */
  readonly #head = Buffer.alloc(HEAD_MAX);
  #headLength = 0;
  /** Of the frame under way. */
  #opcode = 0;
  #left = 0;
  readonly #mask = new Uint8Array(4);
  #maskAt = 0;
  /** The content of a control frame under way. */
  #control: Buffer[] = [];
  #isInFrame = false;
  /** Whether a message has begun that is not complete. */
  #isInMessage = false;
  /** Whether it is one of text. */
  #isText = false;
  readonly #text = new Utf8Check();
  #isOver = false;

  constructor(events: WebsocketFrameEvents) {
    this.#events = events;
  }

  /** Takes bytes, which are unmasked in place. */
  take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#isOver; )
      at = this.#isInFrame ? this.#takeContent(bytes, at) : this.#takeHead(bytes, at);
  }

  #takeHead(bytes: Buffer, at: number): number {
    const head = this.#head;
    head[this.#headLength++] = bytes[at] as number;
    const length = this.#headLength;
    if (length === 2 && !this.#isRight(head[0] as number, head[1] as number)) this.#refuse();
    else if (length >= 2 && length === headLength(head)) this.#begin();
    return at + 1;
  }

  /** Whether the first two bytes of a frame are such that it may come now. */
  #isRight(first: number, second: number): boolean {
    const opcode = first & 0x0f;
    if ((first & RSV) !== 0 || (second & MASKED) === 0) return false;
    if (opcode >= CLOSE) return opcode <= PONG && (first & FIN) !== 0 && (second & 0x7f) <= CONTROL_MAX;
    return opcode <= BINARY && (opcode === CONTINUATION) === this.#isInMessage;
  }

  #begin(): void {
    const head = this.#head;
    const short = (head[1] as number) & 0x7f;
    const length = short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
    if (length > Number.MAX_SAFE_INTEGER) return void this.#refuse();
    this.#mask.set(head.subarray(this.#headLength - 4, this.#headLength));
    this.#headLength = 0;
    this.#maskAt = 0;
    this.#left = length;
    this.#opcode = (head[0] as number) & 0x0f;
    if (this.#opcode === TEXT) this.#text.begin();
    if (this.#opcode === TEXT || this.#opcode === BINARY) this.#isText = this.#opcode === TEXT;
    if (this.#opcode < CLOSE) this.#isInMessage = ((head[0] as number) & FIN) === 0;
    this.#isInFrame = true;
    if (length === 0) this.#endFrame();
  }

  #takeContent(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    const content = bytes.subarray(at, end);
    this.#unmask(content);
    this.#left -= content.length;
    if (this.#opcode >= CLOSE) this.#control.push(content);
    else if (this.#isText && !this.#text.take(content)) this.#refuse(CloseCode.NO_TEXT);
    else this.#events.onData(content);
    if (this.#left === 0 && !this.#isOver) this.#endFrame();
    return end;
  }

  #unmask(content: Buffer): void {
    const { length } = content;
    if (length < WORDS_MIN) this.#unmaskBytes(content, 0, length);
    else this.#unmaskWords(content);
    this.#maskAt = (this.#maskAt + length) & 3;
  }

  /** Word by word from where the first one begins in memory: several times as fast as byte by byte. */
  #unmaskWords(content: Buffer): void {
    const { length, byteOffset } = content;
    const start = -byteOffset & 3;
    const words = new Uint32Array(content.buffer, byteOffset + start, (length - start) >> 2);
    const [word = 0] = new Uint32Array(Uint8Array.from(this.#mask, (_, i) => this.#maskByte(start + i)).buffer);
    this.#unmaskBytes(content, 0, start);
    for (let i = 0; i < words.length; i++) words[i] = (words[i] as number) ^ word;
    this.#unmaskBytes(content, start + 4 * words.length, length);
  }

  #unmaskBytes(content: Buffer, from: number, to: number): void {
    for (let i = from; i < to; i++) content[i] = (content[i] as number) ^ this.#maskByte(i);
  }

  /** What a byte of the piece under way is masked with. */
  #maskByte(at: number): number {
    return this.#mask[(this.#maskAt + at) & 3] as number;
  }

  #endFrame(): void {
    this.#isInFrame = false;
    if (this.#opcode < CLOSE) {
      if (this.#isText && !this.#isInMessage && !this.#text.end()) this.#refuse(CloseCode.NO_TEXT);
      return;
    }
    const content = Buffer.concat(this.#control);
    this.#control = [];
    if (this.#opcode === PING) this.#events.onPing(content);
    else if (this.#opcode === CLOSE) this.#endWith(content);
  }

  #endWith(content: Buffer): void {
    const code = content.length === 0 ? CloseCode.NO_STATUS : content.length === 1 ? 0 : content.readUInt16BE(0);
    if (content.length > 0 && !(isCloseCode(code) && isUtf8(content.subarray(2)))) return void this.#refuse();
    this.#isOver = true;
    this.#events.onClose(code);
  }

  #refuse(code: typeof CloseCode.PROTOCOL | typeof CloseCode.NO_TEXT = CloseCode.PROTOCOL): void {
    this.#isOver = true;
    this.#events.onInvalid(code);
  }
}

function headLength(head: Buffer): number {
  const short = (head[1] as number) & 0x7f;
  return short < 126 ? 6 : short === 126 ? 8 : 14;
}

/** Whether a visitor may say so (section 7.4). */
function isCloseCode(code: number): boolean {
  if (code >= 3000) return code < 5000;
  return code >= 1000 && code <= 1014 && (code < 1004 || code > 1006);
}

/** The head of a frame with a whole message of so many bytes; they are to follow as they are. */
export function binaryHead(length: number): Buffer {
  return frameHead(BINARY, length);
}

export function pongFrame(content: Buffer): Buffer {
  return Buffer.concat([frameHead(PONG, content.length), content]);
}

/** @param code `NO_STATUS`: says none. */
export function closeFrame(code: number): Buffer {
  if (code === CloseCode.NO_STATUS) return frameHead(CLOSE, 0);
  const frame = Buffer.concat([frameHead(CLOSE, 2), Buffer.alloc(2)]);
  frame.writeUInt16BE(code, 2);
  return frame;
}

function frameHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : length < 0x10000 ? 4 : 10);
  head[0] = FIN | opcode;
  head[1] = head.length === 2 ? length : head.length === 4 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
