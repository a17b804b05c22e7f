// The events of an event stream (text/event-stream; WHATWG HTML, section 9.2.6), cut out of a body as it streams by.

import type { BodyTransform } from '../../http/body-transform.ts';
import { SEARCHED_MAX } from './replacements.ts';

const CR = 0x0d;
const LF = 0x0a;

/** Returns what goes on in place of an event. @param event its bytes, with the empty line that ends it if there is one. */
export type ChangeEvent = (event: Buffer) => Promise<Buffer>;

/**
 * Changes a stream event by event. An event goes on as soon as the empty line behind it has come, whatever its line ends:
 * CRLF, LF or CR. What comes behind the last empty line is no event for a browser, but is changed, too. Rejects at an event
 * of more than `SEARCHED_MAX` bytes: a part of it must neither be searched nor go on without.
 */
export class EventStreamTransform implements BodyTransform {
  readonly #change: ChangeEvent;
  /** The beginning of the event that is not complete. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Whether nothing of the line has come yet. */
  #isLineEmpty = true;
  /** Whether a line has ended with CR: an LF that follows belongs to its end. */
  #isAfterCr = false;

  constructor(change: ChangeEvent) {
    this.#change = change;
  }

  async take(piece: Buffer): Promise<Buffer> {
    const out: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at];
      const isSecondHalf = byte === LF && this.#isAfterCr;
      this.#isAfterCr = byte === CR;
      if (isSecondHalf) {
        // The event may have gone on at the CR: nobody knew whether an LF would follow.
        if (at > from || this.#length > 0) continue;
        out.push(piece.subarray(at, at + 1));
        from = at + 1;
      } else if (byte !== LF && byte !== CR) this.#isLineEmpty = false;
      else if (this.#isLineEmpty) {
        out.push(await this.#changed(piece.subarray(from, at + 1)));
        from = at + 1;
      } else this.#isLineEmpty = true;
    }
    if (from < piece.length) this.#keep(piece.subarray(from));
    return Buffer.concat(out);
  }

  async end(): Promise<Buffer> {
    return this.#length > 0 ? this.#changed(Buffer.alloc(0)) : Buffer.alloc(0);
  }

  destroy(): void {
    this.#parts = [];
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > SEARCHED_MAX) throw new Error(`an event has more than ${SEARCHED_MAX} bytes`);
    this.#parts.push(part);
  }

  async #changed(last: Buffer): Promise<Buffer> {
    this.#keep(last);
    const event = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#isLineEmpty = true;
    return this.#change(event);
  }
}
