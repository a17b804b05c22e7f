// An answer: HTTP/1 from the upstream, HTTP/2 to the visitor.

import type { ServerHttp2Stream } from 'node:http2';
import type { ContentCoding, ModuleDecisions } from '../../http/exchange.ts';
import { CoalescingWriter } from '../../protocol/relay.ts';
import { Body, CHUNKED, INVALID } from '../codec/body.ts';
import { ChunkedDecoder } from '../codec/chunked-decoder.ts';
import { MORE, REFUSED } from '../codec/head-reader.ts';
import { ResponseHead } from '../codec/response-head.ts';
import { EncodedBody } from '../pipeline/encoded-body.ts';
import type { UpstreamResponse } from '../pipeline/pipeline-response.ts';
import type { BodyObserver, RequestObserver } from '../reports/traffic-reports.ts';
import { InterimResponses } from './interim-responses.ts';
import { responseFields, toHttp2Fields, trailerFields } from './response-fields.ts';
import { hasNoContent, inform, respond, sendTrailers } from './stream-calls.ts';

/** `head`: it is to be begun. `surplus`: complete, and the upstream has sent more than that. */
export type ResponseProgress = 'more' | 'head' | 'complete' | 'surplus' | 'invalid';

/** Whom an answer is told of that modules have a say in. */
export interface ResponseEvents {
  /** So much of what upstream sent has been dealt with. */
  onTaken(bytes: number): void;
  onEncoded(standing: ResponseProgress): void;
}

export class Http2ResponseRelay {
  readonly head = new ResponseHead();
  /** Answers such as 100 and 103 that came before it. */
  interims = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #writer: CoalescingWriter;
  readonly isToHead: boolean;
  /** From the end of its head on. */
  #body: Body | undefined;
  #unchunk: ChunkedDecoder | undefined;
  #encoded: EncodedBody | undefined;
  readonly #events: ResponseEvents | undefined;
  readonly #copy: BodyObserver | undefined;
  /** What came with the head. */
  #rest: { chunk: Buffer; from: number } | undefined;
  #hasSurplus = false;
  /** Whether the visitor is given no content, whatever upstream sends. */
  #isEmpty = false;
  #interims: InterimResponses | undefined;
  /** Whether the upstream will send nothing more. */
  #hasEnded = false;

  /**
   * @param events where the head is to be decided on: `take` says so, and `begin` goes on.
   * @param observer where the body is copied to.
   */
  constructor(stream: ServerHttp2Stream, isToHead: boolean, events?: ResponseEvents, observer?: RequestObserver) {
    this.#stream = stream;
    this.#events = events;
    this.#copy = observer?.response;
    this.#writer = new CoalescingWriter(stream);
    this.isToHead = isToHead;
    stream.on('wantTrailers', () => sendTrailers(stream, trailerFields(this.#unchunk?.trailer)));
  }

  /** Whether its head was given to the visitor. */
  get hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Bytes of the body that the visitor was sent. */
  get sent(): number {
    return this.#encoded?.sent ?? this.#body?.taken ?? 0;
  }

  /** What compressing it was good for; undefined where it was not. */
  get compression(): ModuleDecisions['compression'] {
    return this.#encoded?.compression;
  }

  /** How long the upstream waits for another request on the same stream, in milliseconds; 0 when it takes none. */
  get idleTimeout(): number {
    const isKept = this.head.isKeptAlive && !this.#body?.isUntilClose && !this.#hasEnded;
    return isKept ? this.head.keepAliveTimeout : 0;
  }

  /** Takes what the upstream sends. Once the answer is complete, the visitor's stream has been ended. */
  take(chunk: Buffer): ResponseProgress {
    let at = 0;
    while (!this.#body) {
      at = this.head.read(chunk, at);
      if (at === MORE) return 'more';
      if (at === REFUSED || this.head.status === 101) return 'invalid';
      if (this.head.isInterim) {
        this.#interim();
        if (at === chunk.length) return 'more';
      } else if (this.#events) {
        this.#rest = { chunk, from: at };
        return 'head';
      } else if (!this.#begin(undefined)) return 'invalid';
    }
    return this.#takeBody(this.#body, chunk, at);
  }

  /** Whether it is compressed on its way. */
  get isEncoded(): boolean {
    return this.#encoded !== undefined;
  }

  /** Whether upstream has sent all of it; what of it is being compressed may still be under way. */
  get isComplete(): boolean {
    return this.#body?.isComplete === true;
  }

  /** Goes on after the head. @param response what has become of it. @param more what upstream sent meanwhile. */
  begin(response: UpstreamResponse, more: readonly Buffer[]): ResponseProgress {
    const { chunk: first, from } = this.#rest as { chunk: Buffer; from: number };
    const chunk = more.length > 0 ? Buffer.concat([first, ...more]) : first;
    this.#rest = undefined;
    const body = this.#begin(response);
    if (!body) return 'invalid';
    const standing = this.#takeBody(body, chunk, from);
    // What of the body is there is told of as it is compressed, where it is.
    this.#events?.onTaken(this.#encoded ? from : chunk.length);
    return standing;
  }

  /** What is being compressed is of no use any more. */
  cancel(): void {
    this.#encoded?.destroy();
  }

  /** The upstream sends nothing more. @returns `invalid` when that is not how the answer ends. */
  endOfUpstream(): ResponseProgress {
    this.#hasEnded = true;
    if (this.isComplete) return 'more';
    if (!this.#body?.isUntilClose) return 'invalid';
    if (!this.#encoded) this.#stream.end();
    else this.#encoded.end();
    return this.#encoded ? 'more' : 'complete';
  }

  #interim(): void {
    this.interims++;
    this.#interims ??= new InterimResponses(this.#stream);
    if (!this.#interims.admit(this.head.end - this.head.start)) return;
    inform(this.#stream, this.head.status, responseFields(this.head));
  }

  /** @returns undefined when HTTP/2 cannot carry it. */
  #begin(response: UpstreamResponse | undefined): Body | undefined {
    const length = this.head.bodyLength(this.isToHead);
    const changed = response?.isChanged ? response : undefined;
    const status = changed?.status ?? this.head.status;
    const encoding = hasNoContent(status) ? undefined : changed?.encoding;
    const fields = changed ? toHttp2Fields(changed.fields.list) : responseFields(this.head);
    const options = { endStream: length === 0, waitForTrailers: length === CHUNKED && !encoding };
    if (!respond(this.#stream, status, fields, options)) return undefined;
    this.#body = new Body(length, true);
    this.#isEmpty = hasNoContent(status);
    if (encoding) this.#encoded = this.#encode(encoding, length === CHUNKED);
    else if (length === CHUNKED) {
      this.#unchunk = new ChunkedDecoder();
      this.#copy?.startChunked();
    }
    return this.#body;
  }

  #encode(coding: ContentCoding, isChunked: boolean): EncodedBody {
    const events = this.#events as ResponseEvents;
    return new EncodedBody(coding, isChunked, false, {
      write: (data) => this.#writer.write(data),
      onEncoded: (data) => this.#copy?.take(data),
      onTaken: (bytes) => events.onTaken(bytes),
      onEnd: () => {
        this.#stream.end();
        events.onEncoded(this.#hasSurplus ? 'surplus' : 'complete');
      },
      onError: () => events.onEncoded('invalid'),
    });
  }

  #takeBody(body: Body, chunk: Buffer, from: number): ResponseProgress {
    const end = body.take(chunk, from);
    if (end === INVALID) return 'invalid';
    this.#hasSurplus = end < chunk.length;
    // What upstream sends of it nevertheless is of no use to anybody, nor is its stream before it has sent all.
    if (this.#isEmpty) return body.isComplete && !this.#hasSurplus ? 'complete' : 'surplus';
    const piece = body.relayed(chunk, from, end);
    if (this.#encoded) {
      this.#encoded.take(piece, end - from);
      if (body.isComplete) this.#encoded.end();
      return 'more';
    }
    this.#copy?.take(piece);
    if (this.#unchunk) this.#unchunk.take(piece, 0, piece.length, (data) => this.#writer.write(data));
    else if (piece.length > 0) {
      if (body.isComplete) this.#stream.end(piece);
      else this.#writer.write(piece);
    }
    if (!body.isComplete) return 'more';
    if (!this.#stream.writableEnded) this.#stream.end();
    return this.#hasSurplus ? 'surplus' : 'complete';
  }
}
