// What comes of a request's body. It is taken where Node's HTTP/2 gives it to the buffer of its stream: what is passed on at
// once need not go through that, and what waits has to be counted, and joined where it comes in bits.

import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { guarded } from '../../protocol/defect.ts';
import type { UploadWindows } from './upload-windows.ts';

/** What waits is copied into blocks of so many bytes: a piece of it would keep all that was read together with it. */
const BLOCK = 16 * 1024;

export interface IntakeEvents {
  onData(chunk: Buffer): void;
  /** All of it was given. */
  onEnd(): void;
}

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/** Gives nothing before `open` is called. Visitors may send as much as their window allows, whatever has become of it here. */
export class RequestIntake {
  /** The fields that follow the body, once they have come. */
  trailer: IncomingHttpHeaders = {};
  readonly #stream: ServerHttp2Stream;
  readonly #uploads: UploadWindows;
  #events: IntakeEvents | undefined;
  #waiting: Block[] = [];
  #isPaused = true;
  #hasEnded = false;

  constructor(stream: ServerHttp2Stream, uploads: UploadWindows) {
    this.#stream = stream;
    this.#uploads = uploads;
    uploads.begin();
    // What was read together with the head.
    while (stream.readableLength > 0) this.#keep(stream.read() as Buffer);
    const end = () => void stream.destroy();
    const take = guarded(end, (chunk: Buffer) => this.#take(chunk));
    const { push } = stream;
    stream.push = (chunk: Buffer | null) => {
      if (chunk === null) return this.#endOf(push);
      take(chunk);
      return !this.#isPaused; // The visitor gets no new credit.
    };
    stream.on('close', () => this.#close());
    stream.on('trailers', (fields: IncomingHttpHeaders) => {
      this.trailer = fields;
    });
    stream.on(
      'end',
      guarded(end, () => this.#onEnd()),
    );
  }

  /** The stream says so of itself, behind a trailer, where somebody reads it. */
  #endOf(push: ServerHttp2Stream['push']): false {
    push.call(this.#stream, null);
    this.#stream.read(0);
    return false;
  }

  /** Gives what there is from now on. */
  open(events: IntakeEvents): void {
    this.#events = events;
    this.resume();
  }

  /** Nothing more is given for now. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#give();
    if (!this.#isPaused && !this.#hasEnded && !this.#stream.destroyed) this.#stream._read(BLOCK);
  }

  /** Nobody takes it any more: what comes is thrown away. */
  drop(): void {
    this.#events = undefined;
    this.resume();
  }

  #close(): void {
    this.#events = undefined;
    this.#isPaused = false;
    this.#give();
    this.#uploads.end();
  }

  #take(chunk: Buffer): void {
    if (this.#isPaused) return void this.#keep(chunk);
    if (this.#events) this.#uploads.pass(chunk.length);
    this.#events?.onData(chunk);
  }

  #keep(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      let last = this.#waiting.at(-1);
      if (!last || last.used === BLOCK) {
        last = { bytes: Buffer.allocUnsafeSlow(BLOCK), used: 0 };
        this.#waiting.push(last);
        this.#uploads.hold(BLOCK);
      }
      const copied = chunk.copy(last.bytes, last.used, at);
      last.used += copied;
      at += copied;
    }
  }

  #give(): void {
    while (!this.#isPaused && this.#waiting.length > 0) {
      const { bytes, used } = this.#waiting.shift() as Block;
      this.#uploads.release(BLOCK);
      this.#take(bytes.subarray(0, used));
    }
    if (this.#hasEnded && this.#waiting.length === 0) this.#tellEnd();
  }

  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#waiting.length === 0) this.#tellEnd();
  }

  #tellEnd(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.onEnd();
  }
}
