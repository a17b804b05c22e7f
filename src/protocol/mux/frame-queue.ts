// Frames that wait for the end of a turn of the event loop, to be written as one.

import { Flag, FrameType, HEADER_BYTES, writeHeader } from './frame.ts';

/** One frame. */
interface QueuedFrame {
  typeAndFlags: number;
  readonly id: number;
  /** Bytes of its body, and in how many pieces they are. */
  length: number;
  pieces: number;
}

export class FrameQueue {
  /** Bytes that wait, headers included. */
  bytes = 0;
  #frames: QueuedFrame[] = [];
  #pieces: Buffer[] = [];
  #last: QueuedFrame | undefined;
  readonly #frameMax: number;

  /** @param frameMax what one frame of data may carry, in bytes. */
  constructor(frameMax: number) {
    this.#frameMax = frameMax;
  }

  add(typeAndFlags: number, id: number, body: Buffer): void {
    this.#pieces.push(body);
    this.bytes += body.length;
    if (this.#goesOn(typeAndFlags, id, body.length)) return;
    this.#last = { typeAndFlags, id, length: body.length, pieces: 1 };
    this.#frames.push(this.#last);
    this.bytes += HEADER_BYTES;
  }

  /** Data behind data of the same stream is one frame with it: visitors send pieces of any size, and each costs its reader. */
  #goesOn(typeAndFlags: number, id: number, length: number): boolean {
    const last = this.#last;
    if (!last || last.id !== id || last.length + length > this.#frameMax) return false;
    if (last.typeAndFlags >> 4 !== FrameType.DATA || (last.typeAndFlags & Flag.FIN) !== 0) return false;
    if (typeAndFlags >> 4 !== FrameType.DATA || (typeAndFlags & Flag.SYN) !== 0) return false;
    last.typeAndFlags |= typeAndFlags;
    last.length += length;
    last.pieces++;
    return true;
  }

  /** Takes all of it, in one piece: system calls and TLS records cost more than copying. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.bytes);
    let at = 0;
    let piece = 0;
    for (const { typeAndFlags, id, length, pieces } of this.#frames) {
      writeHeader(bytes, at, typeAndFlags, length, id);
      at += HEADER_BYTES;
      for (const end = piece + pieces; piece < end; piece++) at += (this.#pieces[piece] as Buffer).copy(bytes, at);
    }
    this.#frames = [];
    this.#pieces = [];
    this.#last = undefined;
    this.bytes = 0;
    return bytes;
  }
}
