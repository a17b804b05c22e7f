// The body of a request of HTTP/2, on its way to an upstream that speaks HTTP/1.1.

import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { ByteStream } from '../../protocol/stream.ts';
import { Body, CHUNKED, INVALID } from '../http/body.ts';
import { ChunkedBody } from '../http/chunked-body.ts';

const LINE_END = Buffer.from('\r\n');

export interface RequestBodyEvents {
  onProgress(): void;
  onComplete(): void;
  /** It is longer or shorter than was stated, or ends with fields that must not be there. */
  onInvalid(): void;
}

export class RequestBody {
  isComplete: boolean;
  /** Whether the upstream has as much of it as it takes for now. */
  isFull = false;
  readonly #stream: ServerHttp2Stream;
  readonly #events: RequestBodyEvents;
  readonly #isChunked: boolean;
  /** Holds what comes against the length that was stated; a request that says more would be two to the upstream. */
  readonly #stated: Body;
  #upstream: ByteStream | undefined;
  #trailer: IncomingHttpHeaders = {};
  #isOver = false;

  /** @param length as in `RequestHead`. */
  constructor(stream: ServerHttp2Stream, length: number, events: RequestBodyEvents) {
    this.#stream = stream;
    this.#events = events;
    this.#isChunked = length === CHUNKED;
    this.#stated = new Body(this.#isChunked ? 0 : length);
    this.isComplete = stream.endAfterHeaders;
  }

  /** Begins to send it on. */
  send(upstream: ByteStream): void {
    this.#upstream = upstream;
    const stream = this.#stream;
    stream.on('trailers', (fields: IncomingHttpHeaders) => {
      this.#trailer = fields;
    });
    stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    stream.on('end', () => this.#onEnd());
  }

  /** There is room again. */
  resume(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.#stream.resume();
  }

  /** Nobody takes it any more: what comes is thrown away. */
  stop(): void {
    this.#isOver = true;
    this.#stream.resume();
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#events.onProgress();
    if (!this.#isChunked && this.#stated.take(chunk, 0) !== chunk.length) return void this.#events.onInvalid();
    const size = Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1');
    if (this.#upstream?.write(this.#isChunked ? Buffer.concat([size, chunk, LINE_END]) : chunk) !== false) return;
    this.isFull = true;
    this.#stream.pause();
  }

  #onEnd(): void {
    if (this.#isOver) return;
    if (!this.#isChunked && !this.#stated.isComplete) return void this.#events.onInvalid();
    if (this.#isChunked) {
      const last = Buffer.from(`0\r\n${linesOf(this.#trailer)}\r\n`, 'latin1');
      const check = new ChunkedBody();
      if (check.take(last, 0) === INVALID || !check.isComplete) return void this.#events.onInvalid();
      this.#upstream?.write(last);
    }
    this.isComplete = true;
    this.#events.onComplete();
  }
}

function linesOf(fields: IncomingHttpHeaders): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}\r\n`))
    .join('');
}
