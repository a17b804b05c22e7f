// One request and its answer: the way to an endpoint and back.

import type { LiveEndpoint, OpenFailure } from '../../tunnel/endpoint.ts';
import type { VisitorError } from '../errors.ts';
import { Body, CHUNKED, INVALID, UNTIL_CLOSE } from './body.ts';
import { forwardedHead } from './forwarded-head.ts';
import { countAnswer } from './front.ts';
import { MORE, REFUSED } from './head-reader.ts';
import type { Input } from './input.ts';
import type { ExchangeOwner } from './owners.ts';
import { JOIN_MAX, pieceOf, sendAnswer, sendInterim } from './pieces.ts';
import { Upstream } from './upstream.ts';

const NO_BODY = new Body(0);

export class Exchange {
  /** Whether the upstream has as much of the request as it takes for now. */
  isFull = false;
  readonly #connection: ExchangeOwner;
  readonly #isToHead: boolean;
  readonly #isToHttp10: boolean;
  /** The visitor's half; what of it was forwarded is behind it. */
  readonly #request: Body;
  #isSent = false;
  /** The upstream's half, from the end of its head on. */
  #answer: Body | undefined;
  #closes = false;
  #upstream: Upstream | undefined;

  constructor(connection: ExchangeOwner) {
    const { line, bodyLength } = connection.request;
    this.#connection = connection;
    this.#isToHead = line.isHead;
    this.#isToHttp10 = line.isHttp10;
    this.#request = bodyLength === 0 ? NO_BODY : new Body(bodyLength);
  }

  /** Whether the visitor's next bytes belong to this request. */
  get wantsBody(): boolean {
    return this.#isSent && !this.#request.isComplete;
  }

  /** Sends the request, whose head was read, where it belongs. */
  start(now: number): void {
    const { front, request } = this.#connection;
    front.counters.requests++;
    this.#connection.patience.forAnswer(now);
    const { line, hostname } = request;
    const isOtherScheme = line.authorityEnd > 0 && line.isHttps !== (front.scheme === 'https');
    if (isOtherScheme || front.authority?.(hostname) === false) return void this.#fail('misdirected');
    const endpoint = front.find(hostname);
    if (endpoint) this.#forward(endpoint, now);
    else this.#explain(hostname);
  }

  /** Takes what of the request's body has come. */
  takeBody(input: Input): void {
    const { bytes, at } = input;
    const end = this.#request.take(bytes, at);
    if (end === INVALID) return void this.#fail('badBody', true);
    input.take(end);
    this.isFull = this.#upstream?.write(pieceOf(bytes, at, end)) === false;
    if (this.#request.isComplete && !this.#answer) this.#connection.patience.forAnswer(this.#connection.front.now());
  }

  /** The visitor sends nothing more. */
  onVisitorEnd(): void {
    if (!this.#request.isComplete) this.#fail('cutShort', true);
  }

  /** The connection is gone. */
  onVisitorGone(): void {
    this.#upstream?.cancel();
  }

  /** What the exchange waits for takes too long. */
  onTimeout(): void {
    const isVisitorSlow = this.wantsBody && !this.isFull;
    this.#fail(isVisitorSlow ? 'requestTimeout' : 'upstreamTimeout', isVisitorSlow);
  }

  onOpen(): void {
    const now = this.#connection.front.now();
    this.#connection.patience.forAnswer(now);
    this.#send(now);
    this.#connection.work();
  }

  onOpenFailure(failure: OpenFailure): void {
    this.#fail(failure);
  }

  onDrain(): void {
    this.isFull = false;
    this.#connection.patience.progress();
    this.#connection.work();
  }

  onData(chunk: Buffer): void {
    this.#connection.patience.progress();
    const answer = this.#answer;
    if (!answer) return void this.#onHead(chunk);
    const end = answer.take(chunk, 0);
    if (end === INVALID) return void this.#cut();
    this.#connection.write(pieceOf(chunk, 0, end));
    this.#upstream?.read(chunk.length);
    if (answer.isComplete) this.#finish(end < chunk.length);
  }

  onEnd(): void {
    if (this.#answer?.isUntilClose) this.#finish(false);
    else this.#fail('upstreamClosed');
  }

  /** The stream broke. */
  onBreak(error: VisitorError): void {
    this.#fail(error);
  }

  #forward(endpoint: LiveEndpoint, now: number): void {
    const connection = this.#connection;
    const kept = connection.upstream;
    if (kept?.takes(endpoint, now)) {
      kept.exchange = this;
      this.#upstream = kept;
      this.#send(now);
    } else {
      kept?.letGo();
      this.#upstream = new Upstream(connection, endpoint);
      connection.upstream = this.#upstream;
      this.#upstream.open(connection.visitor, this);
    }
  }

  #send(now: number): void {
    const connection = this.#connection;
    const request = this.#request;
    const { bytes, at } = connection.input;
    const end = request.isComplete || bytes.length - at > JOIN_MAX ? at : request.take(bytes, at);
    if (end === INVALID) return void this.#fail('badBody', true);
    const head = forwardedHead(connection.request, connection.visitorFields(), bytes, at, end);
    connection.input.take(end);
    this.isFull = this.#upstream?.write(head) === false;
    this.#isSent = true;
    if (!request.isComplete) connection.patience.forProgress(now);
  }

  #explain(hostname: string): void {
    const { front } = this.#connection;
    const origin = front.redirect?.(hostname);
    if (origin !== undefined) return void this.#connection.redirect(origin, this.#request.isComplete);
    front.whereIs(hostname).then(
      (where) => this.#fail(where === 'unknown' ? 'unknownName' : where),
      () => this.#fail('unavailable'),
    );
  }

  /** Takes bytes that the answer begins with, or an interim one before it. */
  #onHead(chunk: Buffer): void {
    const head = this.#connection.answer;
    let at = 0;
    while (!this.#answer && at < chunk.length) {
      const end = head.read(chunk, at);
      if (end === MORE) break;
      if (end === REFUSED) return void this.#fail('upstreamInvalid');
      if (head.status === 101) return void this.#switch(chunk, end);
      if (head.isInterim) this.#interim();
      at = head.isInterim ? end : this.#final(chunk, at, end);
      if (at === INVALID) return void this.#fail('upstreamInvalid');
    }
    this.#upstream?.read(chunk.length);
    if (this.#answer?.isComplete) this.#finish(at < chunk.length);
  }

  /** Relays an answer such as 100 or 103; HTTP/1.0 knows none (RFC 9110 §15.2). */
  #interim(): void {
    const connection = this.#connection;
    if (!this.#isToHttp10) sendInterim(connection);
    if (this.#request.isComplete) connection.patience.forAnswer(connection.front.now());
  }

  /**
   * Sends on the head of the answer, with what of its body is there.
   * @returns the index after the last byte that belongs to the answer, or `INVALID`.
   */
  #final(chunk: Buffer, from: number, headEnd: number): number {
    const connection = this.#connection;
    const head = connection.answer;
    const length = head.bodyLength(this.#isToHead);
    if (length === CHUNKED && this.#isToHttp10) return INVALID;
    const body = length === 0 ? NO_BODY : new Body(length);
    const end = body.take(chunk, headEnd);
    if (end === INVALID) return INVALID;

    // What is left of the request when its answer begins may never come; so nothing can follow it.
    const closes = length === UNTIL_CLOSE || !this.#request.isComplete || connection.isClosing;
    this.#answer = body;
    this.#closes = closes;
    countAnswer(connection.front.counters, head.status);
    sendAnswer(connection, { chunk, from, headEnd, end, closes, isToHttp10: this.#isToHttp10 });
    if (body.isComplete) return end;
    connection.patience.forProgress(connection.front.now());
    connection.request.release();
    head.release();
    return end;
  }

  /** Both sides speak another protocol from here on. */
  #switch(chunk: Buffer, headEnd: number): void {
    const connection = this.#connection;
    const head = connection.answer;
    const upstream = this.#upstream as Upstream;
    if (!connection.request.isUpgrade) return void this.#fail('upstreamInvalid');
    countAnswer(connection.front.counters, head.status);
    sendInterim(connection);
    if (headEnd < chunk.length) connection.write(chunk.subarray(headEnd));
    upstream.read(chunk.length);
    connection.handOver(upstream.handOver());
  }

  /** @param hasSurplus whether the upstream sent more than an answer. */
  #finish(hasSurplus: boolean): void {
    const connection = this.#connection;
    const upstream = this.#upstream as Upstream;
    const now = connection.front.now();
    if (hasSurplus || !this.#request.isComplete) upstream.cancel();
    else if (connection.answer.isKeptAlive && !this.#answer?.isUntilClose)
      upstream.rest(now, connection.answer.keepAliveTimeout);
    else upstream.letGo();
    connection.finish(this.#closes, now);
  }

  /** Answers with an error, if there is an answer to be given still; cuts what there is of one otherwise. */
  #fail(error: VisitorError, isVisitorsFault = false): void {
    if (this.#connection.exchange !== this) return;
    if (this.#answer) return void this.#cut();
    this.#upstream?.cancel();
    this.#connection.fail(error, !isVisitorsFault && this.#request.isComplete);
  }

  #cut(): void {
    this.#upstream?.cancel();
    this.#connection.cut();
  }
}
