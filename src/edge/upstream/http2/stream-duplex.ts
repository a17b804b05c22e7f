// A byte stream as a Node stream, for what Node's own protocols are spoken over.

import { Duplex } from 'node:stream';
import { type ByteStream, ErrorCode, type StreamEvents } from '../../../protocol/mux/stream.ts';

export class StreamDuplex extends Duplex implements StreamEvents {
  /** Why the stream broke, if it did. */
  code: ErrorCode | undefined;
  readonly #stream: ByteStream;
  /** Bytes that were pushed and not read: the peer gets credit for them when more is asked for. */
  #held = 0;
  #written: (() => void) | undefined;
  #isOver = false;

  /** Takes over the stream and its events. */
  constructor(stream: ByteStream) {
    super({ allowHalfOpen: true });
    this.#stream = stream;
    stream.events = this;
  }

  onData(chunk: Buffer): void {
    this.#held += chunk.length;
    if (this.push(chunk)) this._read();
  }

  onEnd(): void {
    this.push(null);
  }

  onReset(code: ErrorCode): void {
    this.code = code;
    this.#isOver = true;
    this.destroy(new Error(`the stream broke (code ${code})`));
  }

  onDrain(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  override _read(): void {
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#stream.consumed(held);
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    if (this.#stream.write(chunk)) written();
    else this.#written = written;
  }

  override _final(done: () => void): void {
    this.#stream.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const isEnded = this.readableEnded && this.writableFinished;
    if (!this.#isOver && !isEnded) this.#stream.reset(ErrorCode.CANCELLED);
    this.#isOver = true;
    done(error);
  }
}
