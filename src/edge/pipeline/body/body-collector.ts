// The body of a request, kept for a module that asks for it whole, until it goes on.

import { ChunkedDecoder } from '../../codec/chunked-decoder.ts';

/** Bytes of a body that modules can ask for, chunks and all. */
export const COLLECTED_MAX = 1024 * 1024;

export class BodyCollector {
  /** As it came; it goes on from here. */
  readonly pieces: Buffer[] = [];
  readonly #isChunked: boolean;
  #bytes = 0;
  #isOver = false;
  #answer: Promise<Buffer | undefined> | undefined;
  #resolve: (body: Buffer | undefined) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(isChunked: boolean) {
    this.#isChunked = isChunked;
  }

  /** Whether somebody waits for more of it. */
  get isWanted(): boolean {
    return this.#answer !== undefined && !this.#isOver;
  }

  /** @returns the whole body without its chunks; undefined when it is too large. Rejects when it does not come. */
  collect(): Promise<Buffer | undefined> {
    this.#answer ??= new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    return this.#answer;
  }

  /** @param isLast whether the body is complete with it. */
  take(piece: Buffer, isLast: boolean): void {
    this.pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > COLLECTED_MAX) this.#settle(() => this.#resolve(undefined));
    else if (isLast) this.#settle(() => this.#resolve(this.#decoded()));
  }

  /** The rest will not come. */
  fail(): void {
    this.#settle(() => this.#reject(new Error('the visitor did not send the whole body')));
  }

  #settle(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    settle();
  }

  #decoded(): Buffer {
    if (!this.#isChunked) return Buffer.concat(this.pieces);
    const data: Buffer[] = [];
    const unchunk = new ChunkedDecoder();
    for (const piece of this.pieces) unchunk.take(piece, 0, piece.length, (part) => data.push(part));
    return Buffer.concat(data);
  }
}
