// The frames of the muxado protocol: an 8-byte header, big-endian, and a body.
//
//   0      3            4               8
//   length | type·flags | stream id     | body …
//   24 bit   4 + 4 bit    1 + 31 bit

import { ErrorCode, ProtocolError } from './stream.ts';

export const HEADER_BYTES = 8;
export const FrameType = { RESET: 0, DATA: 1, WINDOW: 2, GO_AWAY: 3 } as const;
export const Flag = { FIN: 1, SYN: 2 } as const;
export const ID_MAX = 0x7fff_ffff;
/** The most bytes of a GOAWAY frame, whose debug message is text for people. */
const GO_AWAY_MAX = 4096;

/** The frames that a reader parsed. Data is passed on in the chunks in which it arrived; a data frame is never buffered. */
export interface FrameEvents {
  /**
   * @param opens whether this is the first chunk of a frame with SYN.
   * @param ends whether it is the last of one with FIN.
   */
  onData(id: number, chunk: Buffer, opens: boolean, ends: boolean): void;
  onReset(id: number, code: ErrorCode): void;
  onWindow(id: number, increment: number): void;
  onGoAway(code: ErrorCode, message: string): void;
}

/** Writes a frame header into `target` at the offset `at`. */
export function writeHeader(target: Buffer, at: number, typeAndFlags: number, length: number, id: number): void {
  target[at] = length >>> 16;
  target[at + 1] = length >>> 8;
  target[at + 2] = length;
  target[at + 3] = typeAndFlags;
  target[at + 4] = id >>> 24;
  target[at + 5] = id >>> 16;
  target[at + 6] = id >>> 8;
  target[at + 7] = id;
}

/** A number of 32 bits, as the wire has it. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The body of a GOAWAY frame. @param lastId the last stream of the peer that was processed. */
export function goAwayBody(lastId: number, code: number, message: string): Buffer {
  return Buffer.concat([uint32(lastId), uint32(code), Buffer.from(message)]);
}

/** Parses frames from a byte stream, however it is cut into chunks. */
export class MuxFrameReader {
  readonly #events: FrameEvents;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** The bytes of the body that are still missing. */
  #remaining = 0;
  #type = 0;
  #flags = 0;
  #id = 0;
  /** The chunks of the body of a control frame, so far. */
  #body: Buffer[] = [];

  constructor(events: FrameEvents) {
    this.#events = events;
  }

  /** Parses the next bytes. @throws {ProtocolError} at the first violation; the bytes after it cannot be parsed. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#remaining > 0) {
        const end = Math.min(chunk.length, at + this.#remaining);
        this.#readBody(chunk.subarray(at, end));
        at = end;
      } else if (this.#headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        this.#readHeader(chunk, at);
        at += HEADER_BYTES;
      } else {
        const copied = chunk.copy(this.#header, this.#headerBytes, at);
        at += copied;
        this.#headerBytes += copied;
        if (this.#headerBytes === HEADER_BYTES) {
          this.#headerBytes = 0;
          this.#readHeader(this.#header, 0);
        }
      }
    }
  }

  #readHeader(header: Buffer, at: number): void {
    const length = header.readUIntBE(at, 3);
    const typeAndFlags = header[at + 3] as number;
    const type = typeAndFlags >> 4;
    const id = header.readUInt32BE(at + 4) & ID_MAX;
    checkFrame(type, id, length);
    this.#type = type;
    this.#flags = typeAndFlags & 15;
    this.#id = id;
    this.#remaining = length;
    if (length === 0) this.#events.onData(id, EMPTY, (this.#flags & Flag.SYN) !== 0, (this.#flags & Flag.FIN) !== 0);
  }

  #readBody(chunk: Buffer): void {
    this.#remaining -= chunk.length;
    const isLast = this.#remaining === 0;
    if (this.#type === FrameType.DATA) {
      const opens = (this.#flags & Flag.SYN) !== 0;
      this.#flags &= ~Flag.SYN;
      this.#events.onData(this.#id, chunk, opens, isLast && (this.#flags & Flag.FIN) !== 0);
      return;
    }
    this.#body.push(chunk);
    if (!isLast) return;
    const body = this.#body.length === 1 ? chunk : Buffer.concat(this.#body);
    this.#body = [];
    if (this.#type === FrameType.RESET) this.#events.onReset(this.#id, body.readUInt32BE(0) as ErrorCode);
    else if (this.#type === FrameType.WINDOW) this.#events.onWindow(this.#id, body.readUInt32BE(0) & ID_MAX);
    else this.#events.onGoAway(body.readUInt32BE(4) as ErrorCode, body.toString('utf8', 8));
  }
}

const EMPTY = Buffer.alloc(0);

function checkFrame(type: number, id: number, length: number): void {
  switch (type) {
    case FrameType.DATA:
      if (id === 0) throw new ProtocolError(ErrorCode.PROTOCOL, 'a data frame needs a stream id');
      return;
    case FrameType.RESET:
    case FrameType.WINDOW:
      if (id === 0) throw new ProtocolError(ErrorCode.PROTOCOL, 'the frame needs a stream id');
      if (length !== 4) throw new ProtocolError(ErrorCode.FRAME_SIZE, `the frame must have 4 bytes, not ${length}`);
      return;
    case FrameType.GO_AWAY:
      if (id !== 0) throw new ProtocolError(ErrorCode.PROTOCOL, 'a GOAWAY frame must have the stream id 0');
      if (length < 8 || length > GO_AWAY_MAX)
        throw new ProtocolError(
          ErrorCode.FRAME_SIZE,
          `a GOAWAY frame must have 8 to ${GO_AWAY_MAX} bytes, not ${length}`,
        );
      return;
    default:
      throw new ProtocolError(ErrorCode.PROTOCOL, `the frame type ${type} is unknown`);
  }
}
