// The answer to one request, on its way from upstream to the visitor.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { Body, CHUNKED, INVALID, UNTIL_CLOSE } from '../codec/body.ts';
import { ChunkedDecoder } from '../codec/chunked-decoder.ts';
import { MORE, REFUSED } from '../codec/head-reader.ts';
import type { EncodedBody, EncodedBodyEvents } from '../pipeline/encoded-body.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { ModuleExecution } from './module-execution.ts';
import type { Http1ConnectionContext } from './owners.ts';
import { upgradeProtocol } from './protocol-upgrade.ts';
import { writeChangedResponse, writeInterim, writeResponse } from './response-writer.ts';
import type { UpstreamStream } from './upstream-stream.ts';

const NO_BODY = new Body(0);

/** The exchange that it answers. */
export interface RelayedExchange {
  /** Whether the visitor still waits for this answer. */
  readonly isUnderWay: boolean;
  /** Whether all of the request has come. */
  readonly isRequestComplete: boolean;
  readonly upstream: UpstreamStream | undefined;
  readonly handled: ModuleExecution | undefined;
  /** Where somebody wants to hear of it. */
  readonly recording: RequestRecording | undefined;
  /** It is somebody else's from now on to give it. */
  takeRecording(): RequestRecording | undefined;
  /** The answer is complete. @param hasSurplus whether upstream sent more than that. */
  finish(hasSurplus: boolean): void;
  /** There is no answer; or what there is of it is cut. */
  failed(error: VisitorError): void;
}

export class ResponseRelay implements EncodedBodyEvents {
  /** Whether nothing can follow it on the visitor's connection. */
  closes = false;
  readonly #connection: Http1ConnectionContext;
  readonly #exchange: RelayedExchange;
  readonly #isToHead: boolean;
  readonly #isToHttp10: boolean;
  /** From the end of its head on. */
  #body: Body | undefined;
  /** Where the visitor does not know chunks: HTTP/1.0 (RFC 9112 §6.1). */
  #unchunk: ChunkedDecoder | undefined;
  #hasSurplus = false;
  /** What upstream sent while the head was being decided on. */
  #waiting: Buffer[] | undefined;
  #hasWaitingEnd = false;

  constructor(connection: Http1ConnectionContext, exchange: RelayedExchange) {
    const { line } = connection.request;
    this.#connection = connection;
    this.#exchange = exchange;
    this.#isToHead = line.isHead;
    this.#isToHttp10 = line.isHttp10;
  }

  /** Whether its head was given to the visitor. */
  get hasBegun(): boolean {
    return this.#body !== undefined;
  }

  /** Bytes of the body that the visitor was sent. */
  get sent(): number {
    return this.#exchange.handled?.encoded?.sent ?? this.#body?.taken ?? 0;
  }

  /** Whether upstream ended it by closing. */
  get isUntilClose(): boolean {
    return this.#body?.isUntilClose === true;
  }

  /** Whether upstream has sent all of it; what of it is being compressed may still be under way. */
  get isComplete(): boolean {
    return this.#body?.isComplete === true;
  }

  take(chunk: Buffer): void {
    if (this.#waiting) return void this.#waiting.push(chunk);
    const body = this.#body;
    if (!body) return void this.#takeHead(chunk);
    const end = body.take(chunk, 0);
    if (end === INVALID) return void this.#exchange.failed('upstreamInvalid');
    const piece = body.relayed(chunk, 0, end);
    const encoded = this.#exchange.handled?.encoded;
    if (encoded) return void this.#encode(encoded, piece, end, end < chunk.length);
    this.#exchange.recording?.observer?.response?.take(piece);
    if (this.#unchunk) this.#unchunk.take(piece, 0, piece.length, (data) => this.#connection.write(data));
    else if (piece.length > 0) this.#connection.write(piece);
    this.#exchange.upstream?.read(chunk.length);
    if (body.isComplete) this.#exchange.finish(end < chunk.length);
  }

  /** Upstream sends nothing more. */
  takeEnd(): void {
    if (this.#waiting) this.#hasWaitingEnd = true;
    else if (this.isComplete) return;
    else if (!this.isUntilClose) this.#exchange.failed('upstreamClosed');
    else if (this.#exchange.handled?.encoded) this.#exchange.handled.encoded.end();
    else this.#exchange.finish(false);
  }

  write(bytes: Buffer): void {
    if (this.#exchange.isUnderWay) this.#connection.write(bytes);
  }

  onEncoded(data: Buffer): void {
    this.#exchange.recording?.observer?.response?.take(data);
  }

  onTaken(bytes: number): void {
    this.#exchange.upstream?.read(bytes);
  }

  onEnd(): void {
    if (this.#exchange.isUnderWay) this.#exchange.finish(this.#hasSurplus);
  }

  onError(): void {
    this.#exchange.failed('upstreamInvalid');
  }

  /** Takes bytes that the answer begins with, or an interim one before it. */
  #takeHead(chunk: Buffer): void {
    const head = this.#connection.answer;
    for (let at = 0; at < chunk.length; ) {
      const end = head.read(chunk, at);
      if (end === MORE) break;
      if (end === REFUSED) return void this.#exchange.failed('upstreamInvalid');
      if (head.status === 101) return void this.#switch(chunk, end);
      if (!head.isInterim) return void this.#final(chunk, at, end);
      this.#interim();
      at = end;
    }
    this.#exchange.upstream?.read(chunk.length);
  }

  /** Relays an answer such as 100 or 103; HTTP/1.0 knows none (RFC 9110 §15.2). */
  #interim(): void {
    const connection = this.#connection;
    if (!this.#isToHttp10) writeInterim(connection);
    if (this.#exchange.isRequestComplete) connection.timeouts.forAnswer(connection.front.now());
  }

  /** The head is complete, and in the chunk perhaps some of the body. */
  #final(chunk: Buffer, from: number, headEnd: number): void {
    const { answer: head } = this.#connection;
    const { handled } = this.#exchange;
    const length = head.bodyLength(this.#isToHead);
    if (this.#isToHttp10) head.dropTransferEncoding();
    if (!handled) return void this.#begin(chunk, from, headEnd, length);
    this.#waiting = [];
    handled.onAnswer(head, length, () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      if (!this.#exchange.isUnderWay) return;
      this.#begin(waiting.length > 0 ? Buffer.concat([chunk, ...waiting]) : chunk, from, headEnd, length);
      if (this.#hasWaitingEnd && this.#exchange.isUnderWay) this.takeEnd();
    });
  }

  /** Sends on the head, with what of the body is there. */
  #begin(chunk: Buffer, from: number, headEnd: number, length: number): void {
    const connection = this.#connection;
    const { handled, upstream, recording } = this.#exchange;
    const head = connection.answer;
    const body = length === 0 ? NO_BODY : new Body(length, true);
    const end = body.take(chunk, headEnd);
    if (end === INVALID) return void this.#exchange.failed('upstreamInvalid');

    // What is left of the request when its answer begins may never come; so nothing can follow it.
    const isUnchunked = length === CHUNKED && this.#isToHttp10;
    const isLast = handled?.endsWithConnection(length, this.#isToHttp10) ?? (isUnchunked || length === UNTIL_CLOSE);
    const closes = isLast || !this.#exchange.isRequestComplete || connection.isClosing;
    this.#body = body;
    this.closes = closes;
    const own = handled?.answerHead(length, closes, this.#isToHttp10, this);
    connection.counter.countResponse(own ? (handled?.status ?? head.status) : head.status);
    if (own) recording?.responseStarted(handled?.status ?? head.status, own.toString('latin1'));
    const encoded = handled?.encoded;
    if (encoded) {
      connection.write(own as Buffer);
      upstream?.read(headEnd); // What of the body is there is told of as it is compressed.
      return void this.#encode(encoded, body.relayed(chunk, headEnd, end), end - headEnd, end < chunk.length);
    }
    const copy = recording?.observer?.response;
    if (length === CHUNKED) copy?.startChunked();
    const isToHttp10 = this.#isToHttp10;
    if (isUnchunked) this.#unchunk = new ChunkedDecoder();
    if (own || isUnchunked || !body.isAsItCame) {
      const piece = body.relayed(chunk, headEnd, end);
      copy?.take(piece);
      const data = this.#unchunk ? dataOf(this.#unchunk, piece) : piece;
      if (own) writeChangedResponse(connection, own, data);
      else
        writeResponse(
          connection,
          { chunk: data, from: 0, headEnd: 0, end: data.length, closes, isToHttp10 },
          recording,
        );
    } else {
      copy?.take(chunk, headEnd, end);
      writeResponse(connection, { chunk, from, headEnd, end, closes, isToHttp10 }, recording);
    }
    upstream?.read(chunk.length);
    if (body.isComplete) return void this.#exchange.finish(end < chunk.length);
    connection.timeouts.forProgress(connection.front.now());
    connection.request.release();
    head.release();
  }

  /** @param came how many bytes the piece was as it came. */
  #encode(encoded: EncodedBody, piece: Buffer, came: number, hasSurplus: boolean): void {
    const { timeouts, front } = this.#connection;
    timeouts.forProgress(front.now());
    this.#hasSurplus = hasSurplus;
    encoded.take(piece, came);
    if (this.#body?.isComplete) encoded.end();
  }

  /** Both sides speak another protocol from here on. */
  #switch(chunk: Buffer, headEnd: number): void {
    const connection = this.#connection;
    const head = connection.answer;
    const upstream = this.#exchange.upstream as UpstreamStream;
    if (!connection.request.isUpgrade) return void this.#exchange.failed('upstreamInvalid');
    this.#exchange.handled?.visit.settle(head.status);
    connection.counter.countResponse(head.status);
    const sent = writeInterim(connection);
    const recording = this.#exchange.takeRecording();
    recording?.responseStarted(head.status, sent.toString('latin1'));
    const onClose = recording?.upgraded(connection);
    if (headEnd < chunk.length) connection.write(chunk.subarray(headEnd));
    upstream.read(chunk.length);
    upgradeProtocol(connection, upstream.detach(), onClose);
  }
}

function dataOf(unchunk: ChunkedDecoder, piece: Buffer): Buffer {
  const parts: Buffer[] = [];
  unchunk.take(piece, 0, piece.length, (data) => parts.push(data));
  return Buffer.concat(parts);
}
