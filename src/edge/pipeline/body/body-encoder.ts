// Compresses a body as it streams by.

import { type BrotliCompress, constants, createBrotliCompress, createDeflate, createGzip, type Zlib } from 'node:zlib';
import type { ContentCoding } from '../../../http/exchange.ts';

export interface BodyEncoderEvents {
  /** Bytes of the compressed body. */
  onData(chunk: Buffer): void;
  /** All is told. */
  onEnd(): void;
  /** So many bytes that were written have been dealt with; what came of them may still follow. */
  onTaken(bytes: number): void;
  /** It cannot go on; nothing follows. */
  onError(): void;
}

type Coder = BrotliCompress | (Zlib & ReturnType<typeof createGzip>);

/** A good deal smaller at the speed of gzip; a window of 256 KiB bounds what each body takes of the memory. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } };

/**
 * One body. Whoever writes is held back by `onTaken`: what was not taken is kept here as it is. As soon as nothing more
 * comes, all that was written comes out: events and slow streams do not wait for bytes that nobody has sent yet. No event
 * follows `destroy`, and none comes before the call that causes it has returned.
 */
export class BodyEncoder {
  readonly #coder: Coder;
  readonly #flushKind: number;
  readonly #events: BodyEncoderEvents;
  #waiting: Buffer[] = [];
  /** Whether the coder has work; it is given one piece at a time. */
  #isBusy = false;
  /** Whether the coder may hold back some of what it was given. */
  #isHolding = false;
  #hasEnded = false;
  #isOver = false;

  constructor(coding: ContentCoding, events: BodyEncoderEvents) {
    this.#events = events;
    this.#coder = coderOf(coding);
    this.#flushKind = coding === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH;
    this.#coder.on('data', (chunk: Buffer) => {
      if (!this.#isOver) events.onData(chunk);
    });
    this.#coder.on('end', () => this.#finish(() => events.onEnd()));
    this.#coder.on('error', () => this.#finish(() => events.onError()));
  }

  /** Whether it was given something that it has not dealt with. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#isBusy;
  }

  /** Takes all of `chunk`, which must not be changed afterwards. */
  write(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#waiting.push(chunk);
    this.#work();
  }

  /** No more will be written. */
  end(): void {
    this.#hasEnded = true;
    this.#work();
  }

  /** Gives up. */
  destroy(): void {
    this.#finish(() => this.#coder.destroy());
  }

  #work(): void {
    if (this.#isBusy || this.#isOver) return;
    const [first] = this.#waiting;
    if (first) {
      // Pieces that came meanwhile are joined: to begin with a piece takes longer than to copy a small one.
      const piece = this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting);
      this.#waiting = [];
      this.#isBusy = true;
      this.#isHolding = true;
      this.#coder.write(piece, () => this.#taken(piece.length));
    } else if (this.#hasEnded) {
      this.#isBusy = true;
      this.#coder.end();
    } else if (this.#isHolding) {
      setImmediate(() => this.#flush());
    }
  }

  /** A turn has passed since there was nothing to do. */
  #flush(): void {
    if (this.#isBusy || this.#isOver || !this.#isHolding) return;
    this.#isBusy = true;
    this.#isHolding = false;
    this.#coder.flush(this.#flushKind, () => this.#taken(0));
  }

  #taken(bytes: number): void {
    if (this.#isOver) return;
    this.#isBusy = false;
    if (bytes > 0) this.#events.onTaken(bytes);
    this.#work();
  }

  #finish(last: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    last();
  }
}

function coderOf(coding: ContentCoding): Coder {
  if (coding === 'br') return createBrotliCompress(BROTLI);
  // What HTTP calls deflate has the frame of zlib around it (RFC 9110, section 8.4.1.2).
  return coding === 'gzip' ? createGzip() : createDeflate();
}
