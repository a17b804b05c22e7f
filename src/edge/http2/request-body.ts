// The body of a request of HTTP/2, on its way to an upstream that speaks HTTP/1.1.

import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { ByteStream } from '../../protocol/mux/stream.ts';
import { Body, CHUNKED, INVALID } from '../codec/body.ts';
import { ChunkedBody } from '../codec/chunked-body.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import { BodyCollector } from '../pipeline/body-collector.ts';
import type { BodyObserver } from '../reports/traffic-reports.ts';
import type { IntakeEvents, RequestIntake } from './request-intake.ts';
import { inform } from './stream-calls.ts';

const LINE_END = Buffer.from('\r\n');

export interface RequestBodyEvents {
  onProgress(): void;
  onComplete(): void;
  /** It is longer or shorter than was stated, or ends with fields that must not be there. */
  onInvalid(): void;
  readonly counter: RequestCounter;
  /** Where what comes is copied to. */
  readonly copy: BodyObserver | undefined;
}

export class RequestBody implements IntakeEvents {
  isComplete: boolean;
  /** Bytes that have come. */
  received = 0;
  /** Whether the upstream has as much of it as it takes for now. */
  isFull = false;
  readonly #stream: ServerHttp2Stream;
  /** Undefined where there is no body. */
  readonly #intake: RequestIntake | undefined;
  readonly #events: RequestBodyEvents;
  readonly #isChunked: boolean;
  /** Holds what comes against the length that was stated; a request that says more would be two to the upstream. */
  readonly #stated: Body;
  #upstream: ByteStream | undefined;
  #isOver = false;
  #isListening = false;
  /** Kept for a module that asks for it whole, until it goes on. */
  #collector: BodyCollector | undefined;

  /** @param length as in `RequestHead`. */
  constructor(stream: ServerHttp2Stream, intake: RequestIntake | undefined, length: number, events: RequestBodyEvents) {
    this.#stream = stream;
    this.#intake = intake;
    this.#events = events;
    this.#isChunked = length === CHUNKED;
    this.#stated = new Body(this.#isChunked ? 0 : length);
    this.isComplete = intake === undefined;
  }

  /**
   * The whole body, before it goes on; undefined when it is too large. Rejects when it does not come.
   * @param isAwaited whether the visitor waits for a 100 before sending it.
   */
  collect(isAwaited: boolean): Promise<Buffer | undefined> {
    if (this.isComplete && !this.#collector) return Promise.resolve(NOTHING);
    if (isAwaited) inform(this.#stream, 100);
    this.#collector ??= new BodyCollector(false);
    const body = this.#collector.collect();
    this.#listen();
    return body;
  }

  /** Begins to send it on. */
  send(upstream: ByteStream): void {
    this.#upstream = upstream;
    if (this.#collector) this.#sendCollected(this.#collector.pieces);
    if (!this.isComplete) this.#listen();
  }

  #sendCollected(pieces: readonly Buffer[]): void {
    this.isFull = false;
    for (const piece of pieces) if (piece.length > 0) this.#write(piece);
    if (this.isComplete) this.#writeLast();
    else if (!this.isFull) this.#intake?.resume();
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#intake?.open(this);
  }

  /** There is room again. */
  resume(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.#intake?.resume();
  }

  /** Nobody takes it any more: what comes is thrown away. */
  stop(): void {
    this.#isOver = true;
    this.#collector?.fail();
    this.#intake?.drop();
  }

  onData(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    this.#events.onProgress();
    this.#events.counter.addReceived(chunk.length);
    this.#events.copy?.take(chunk);
    this.received += chunk.length;
    if (!this.#isChunked && this.#stated.take(chunk, 0) !== chunk.length) return void this.#events.onInvalid();
    if (this.#upstream) this.#write(chunk);
    else this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    this.#collector?.take(chunk, false);
    if (this.#collector?.isWanted) return;
    this.#wait();
  }

  #write(chunk: Buffer): void {
    const upstream = this.#upstream as ByteStream;
    if (this.#isChunked) upstream.write(Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'));
    const hasRoom = upstream.write(chunk);
    if (!(this.#isChunked ? upstream.write(LINE_END) : hasRoom)) this.#wait();
  }

  /** Nobody takes more of it for now. */
  #wait(): void {
    this.isFull = true;
    this.#intake?.pause();
  }

  onEnd(): void {
    if (this.#isOver) return;
    if (!this.#isChunked && !this.#stated.isComplete) return void this.#events.onInvalid();
    const check = new ChunkedBody();
    if (this.#isChunked && (check.take(this.#last, 0) === INVALID || !check.isComplete))
      return void this.#events.onInvalid();
    this.isComplete = true;
    if (this.#upstream) this.#writeLast();
    else this.#collector?.take(NOTHING, true);
    this.#events.onComplete();
  }

  #writeLast(): void {
    if (this.#isChunked) this.#upstream?.write(this.#last);
  }

  get #last(): Buffer {
    return Buffer.from(`0\r\n${linesOf(this.#intake?.trailer ?? {})}\r\n`, 'latin1');
  }
}

const NOTHING = Buffer.alloc(0);

function linesOf(fields: IncomingHttpHeaders): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}\r\n`))
    .join('');
}
