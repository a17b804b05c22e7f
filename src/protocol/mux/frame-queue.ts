// Frames that are written together at the end of an iteration of the event loop.

import { Flag, FrameType, HEADER_BYTES, writeHeader } from './frame.ts';

/** A frame that waits to be written. */
interface QueuedFrame {
  typeAndFlags: number;
  readonly id: number;
  /** The bytes of its body, and the number of chunks that hold them. */
  length: number;
  chunks: number;
}

/** Frames in the order in which they are written. */
export class FrameQueue {
  /** The bytes that wait, including headers. */
  bytes = 0;
  #frames: QueuedFrame[] = [];
  #chunks: Buffer[] = [];
  #last: QueuedFrame | undefined;
  readonly #frameMax: number;

  /** @param frameMax the largest body of a data frame, in bytes. */
  constructor(frameMax: number) {
    this.#frameMax = frameMax;
  }

  /** Appends a frame. The body must not be changed afterwards. */
  add(typeAndFlags: number, id: number, body: Buffer): void {
    this.#chunks.push(body);
    this.bytes += body.length;
    if (this.#extendsLast(typeAndFlags, id, body.length)) return;
    this.#last = { typeAndFlags, id, length: body.length, chunks: 1 };
    this.#frames.push(this.#last);
    this.bytes += HEADER_BYTES;
  }

  /**
   * Data that follows data of the same stream joins its frame: visitors send chunks of any size, and each frame costs
   * its reader.
   */
  #extendsLast(typeAndFlags: number, id: number, length: number): boolean {
    const last = this.#last;
    if (!last || last.id !== id || last.length + length > this.#frameMax) return false;
    if (last.typeAndFlags >> 4 !== FrameType.DATA || (last.typeAndFlags & Flag.FIN) !== 0) return false;
    if (typeAndFlags >> 4 !== FrameType.DATA || (typeAndFlags & Flag.SYN) !== 0) return false;
    last.typeAndFlags |= typeAndFlags;
    last.length += length;
    last.chunks++;
    return true;
  }

  /** Empties the queue and returns its bytes as one buffer: system calls and TLS records cost more than copying. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.bytes);
    let at = 0;
    let index = 0;
    for (const { typeAndFlags, id, length, chunks } of this.#frames) {
      writeHeader(bytes, at, typeAndFlags, length, id);
      at += HEADER_BYTES;
      for (const end = index + chunks; index < end; index++) at += (this.#chunks[index] as Buffer).copy(bytes, at);
    }
    this.#frames = [];
    this.#chunks = [];
    this.#last = undefined;
    this.bytes = 0;
    return bytes;
  }
}
