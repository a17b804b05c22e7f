// A response of upstream while modules decide on it: what has come of it is kept, and read where a module asks for its body.

import { Body, CHUNKED, INVALID } from '../../codec/body.ts';
import { ChunkedDecoder } from '../../codec/chunked-decoder.ts';
import { COLLECTED_MAX } from './body-collector.ts';

export class HeldResponse {
  readonly headStart: number;
  readonly headEnd: number;
  /** What has come, from its head on. */
  readonly #chunks: Buffer[] = [];
  readonly #length: number;
  readonly #onTaken: (bytes: number) => void;
  #reading: BodyReading | undefined;
  #hasEnded = false;

  /**
   * @param chunk in which its head is, from `headStart` to `headEnd`.
   * @param length of its body, as `ResponseHead.bodyLength` has it.
   * @param onTaken told of bytes that upstream may send more for, once the body is read.
   */
  constructor(
    chunk: Buffer,
    { headStart, headEnd, length }: { headStart: number; headEnd: number; length: number },
    onTaken: (bytes: number) => void,
  ) {
    this.#chunks.push(chunk);
    this.headStart = headStart;
    this.headEnd = headEnd;
    this.#length = length;
    this.#onTaken = onTaken;
  }

  /** All that has come. Not to be called once the body is read. */
  joined(): Buffer {
    return this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : (this.#chunks[0] as Buffer);
  }

  take(chunk: Buffer): void {
    if (!this.#reading) return void this.#chunks.push(chunk);
    this.#onTaken(chunk.length);
    this.#reading.take(chunk, 0);
  }

  /** Upstream sends nothing more. @returns whether the body that is being read is cut short by that. */
  end(): boolean {
    this.#hasEnded = true;
    return this.#reading?.end() === false;
  }

  /** Nobody needs it any more. */
  cancel(): void {
    this.#reading?.end();
  }

  /**
   * Reads the whole body. It does not go on by itself then.
   * @returns the body without its chunks; undefined when it is too large. Rejects when it does not come whole.
   */
  collect(): Promise<Buffer | undefined> {
    if (this.#reading) return this.#reading.result;
    const reading = new BodyReading(this.#length);
    this.#reading = reading;
    for (const [index, chunk] of this.#chunks.splice(0).entries()) {
      this.#onTaken(chunk.length);
      reading.take(chunk, index === 0 ? this.headEnd : 0);
    }
    if (this.#hasEnded) reading.end();
    return reading.result;
  }
}

class BodyReading {
  readonly result: Promise<Buffer | undefined>;
  readonly #body: Body;
  readonly #unchunk: ChunkedDecoder | undefined;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  #resolve: (body: Buffer | undefined) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(length: number) {
    this.#body = new Body(length, true);
    if (length === CHUNKED) this.#unchunk = new ChunkedDecoder();
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  take(chunk: Buffer, from: number): void {
    if (this.#isOver) return;
    const end = this.#body.take(chunk, from);
    if (end === INVALID) return void this.#fail();
    const piece = this.#body.relayed(chunk, from, end);
    if (this.#unchunk) this.#unchunk.take(piece, 0, piece.length, (data) => this.#keep(data));
    else this.#keep(piece);
    if (this.#bytes > COLLECTED_MAX) this.#finish(() => this.#resolve(undefined));
    else if (this.#body.isComplete) this.#complete();
  }

  /** @returns whether it is complete, or too large to be needed. */
  end(): boolean {
    if (this.#isOver) return true;
    if (this.#body.isUntilClose) this.#complete();
    else this.#fail();
    return this.#body.isUntilClose;
  }

  #keep(data: Buffer): void {
    this.#pieces.push(data);
    this.#bytes += data.length;
  }

  #complete(): void {
    this.#finish(() => this.#resolve(Buffer.concat(this.#pieces)));
  }

  #fail(): void {
    this.#finish(() => this.#reject(new Error('upstream did not send the whole body')));
  }

  #finish(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    settle();
    this.#pieces = [];
  }
}
