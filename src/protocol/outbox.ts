// Frames that wait for the end of a turn of the event loop, to be written as one.

import { HEADER_BYTES, writeHeader } from './frame.ts';

export class Outbox {
  /** Bytes that wait, headers included. */
  bytes = 0;
  /** Two numbers for each frame: its type with its flags, and its stream. */
  #heads: number[] = [];
  #bodies: Buffer[] = [];

  add(typeAndFlags: number, id: number, body: Buffer): void {
    this.#heads.push(typeAndFlags, id);
    this.#bodies.push(body);
    this.bytes += HEADER_BYTES + body.length;
  }

  /** Takes all of it, in one piece: system calls and TLS records cost more than copying. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafe(this.bytes);
    let at = 0;
    for (let i = 0; i < this.#bodies.length; i++) {
      const body = this.#bodies[i] as Buffer;
      writeHeader(bytes, at, this.#heads[2 * i] as number, body.length, this.#heads[2 * i + 1] as number);
      at += HEADER_BYTES;
      body.copy(bytes, at);
      at += body.length;
    }
    this.#heads = [];
    this.#bodies = [];
    this.bytes = 0;
    return bytes;
  }
}
