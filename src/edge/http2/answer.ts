// An answer: HTTP/1 from the upstream, HTTP/2 to the visitor.

import { constants, type ServerHttp2Stream } from 'node:http2';
import { TurnWriter } from '../../protocol/relay.ts';
import { Body, CHUNKED, INVALID } from '../http/body.ts';
import { MORE, REFUSED } from '../http/head-reader.ts';
import { ResponseHead } from '../http/response-head.ts';
import { answerFields, respond, trailerFields } from './answer-fields.ts';
import { Unchunk } from './unchunk.ts';

/** `surplus`: complete, and the upstream has sent more than that. */
export type Standing = 'more' | 'complete' | 'surplus' | 'invalid';

export class Answer {
  readonly head = new ResponseHead();
  /** Answers such as 100 and 103 that came before it. */
  interims = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #writer: TurnWriter;
  readonly #isToHead: boolean;
  /** From the end of its head on. */
  #body: Body | undefined;
  #unchunk: Unchunk | undefined;

  constructor(stream: ServerHttp2Stream, isToHead: boolean) {
    this.#stream = stream;
    this.#writer = new TurnWriter(stream);
    this.#isToHead = isToHead;
    stream.on('wantTrailers', () => this.#sendTrailers());
  }

  /** Whether its head was given to the visitor. */
  get hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Whether the upstream takes another request on the same stream. */
  get isKeptAlive(): boolean {
    return this.head.isKeptAlive && !this.#body?.isUntilClose;
  }

  /** Takes what the upstream sends. Once the answer is complete, the visitor's stream has been ended. */
  take(chunk: Buffer): Standing {
    let at = 0;
    while (!this.#body) {
      at = this.head.read(chunk, at);
      if (at === MORE) return 'more';
      if (at === REFUSED || this.head.status === 101) return 'invalid';
      if (!this.head.isInterim) this.#begin();
      else {
        this.#interim();
        if (at === chunk.length) return 'more';
      }
    }
    return this.#takeBody(this.#body, chunk, at);
  }

  /** The upstream sends nothing more. @returns whether that is how the answer ends. */
  endOfUpstream(): boolean {
    if (!this.#body?.isUntilClose) return false;
    this.#stream.end();
    return true;
  }

  #interim(): void {
    this.interims++;
    if (this.#stream.closed || this.#stream.destroyed) return;
    this.#stream.additionalHeaders({ ':status': this.head.status, ...answerFields(this.head) });
  }

  #begin(): void {
    const length = this.head.bodyLength(this.#isToHead);
    this.#body = new Body(length);
    if (length === CHUNKED) this.#unchunk = new Unchunk();
    respond(this.#stream, this.head.status, answerFields(this.head), {
      endStream: length === 0,
      waitForTrailers: length === CHUNKED,
    });
  }

  #takeBody(body: Body, chunk: Buffer, from: number): Standing {
    const end = body.take(chunk, from);
    if (end === INVALID) return 'invalid';
    if (this.#unchunk) this.#unchunk.take(chunk, from, end, (data) => this.#writer.write(data));
    else if (end > from) {
      const data = from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end);
      if (body.isComplete) this.#stream.end(data);
      else this.#writer.write(data);
    }
    if (!body.isComplete) return 'more';
    if (!this.#stream.writableEnded) this.#stream.end();
    return end < chunk.length ? 'surplus' : 'complete';
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(trailerFields(this.#unchunk?.trailer));
    } catch {
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR); // Fields that HTTP/2 does not know how to write.
    }
  }
}
