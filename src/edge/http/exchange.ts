// One request: the way to an endpoint. `answer-relay.ts` is the way back.

import type { UpstreamOutcome } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import type { LiveEndpoint, OpenFailure } from '../../tunnel/endpoints/endpoint.ts';
import { type AnsweredExchange, AnswerRelay } from './answer-relay.ts';
import { Body, INVALID } from './body.ts';
import { forwardedHead } from './forwarded-head.ts';
import { endpointOf } from './front.ts';
import { Handled, type HandledExchange } from './handled.ts';
import { type Input, NOTHING } from './input.ts';
import type { ExchangeOwner } from './owners.ts';
import { JOIN_MAX } from './pieces.ts';
import { type RequestRecording, recordRequest } from './request-recording.ts';
import { Upstream, type UpstreamUser } from './upstream.ts';
import type { Step } from './visit.ts';
import type { OwnAnswer } from './visit-response.ts';
import { joinWebsocket } from './websocket.ts';

const NO_BODY = new Body(0);

export class Exchange implements HandledExchange, AnsweredExchange, UpstreamUser {
  /** Whether the upstream has as much of the request as it takes for now. */
  isFull = false;
  upstream: Upstream | undefined;
  /** At endpoints with modules. */
  handled: Handled | undefined;
  /** Where somebody wants to hear of it, and has not yet. */
  recording: RequestRecording | undefined;
  readonly #connection: ExchangeOwner;
  /** The visitor's half; what of it was forwarded is behind it. */
  readonly #request: Body;
  readonly #answer: AnswerRelay;
  #isSent = false;

  constructor(connection: ExchangeOwner) {
    const { bodyLength } = connection.request;
    this.#connection = connection;
    this.#request = bodyLength === 0 ? NO_BODY : new Body(bodyLength);
    this.#answer = new AnswerRelay(connection, this);
  }

  get isUnderWay(): boolean {
    return this.#connection.exchange === this;
  }

  get isRequestComplete(): boolean {
    return this.#request.isComplete;
  }

  /** Whether the visitor's next bytes belong to this request. */
  get wantsBody(): boolean {
    return (this.#isSent || this.handled?.body.isWanted === true) && !this.#request.isComplete;
  }

  /** Sends the request, whose head was read, where it belongs. */
  start(now: number): void {
    const { front, request } = this.#connection;
    front.counters.requests++;
    this.#connection.patience.forAnswer(now);
    const endpoint = endpointOf(front, request, this);
    if (!endpoint) return;
    const hasPlace = this.#connection.counting.begin(endpoint, request, now);
    if (!hasPlace) return void this.#connection.fail('tooManyVisitors', false);
    this.recording = recordRequest(this.#connection.client, endpoint, request);
    if (!endpoint.handling) return void this.#forward(endpoint, now);
    this.handled = new Handled(this.#connection, endpoint, this);
    this.handled.start();
  }

  /** Takes what of the request's body has come. */
  takeBody(input: Input): void {
    const { bytes, at } = input;
    const end = this.#request.take(bytes, at);
    if (end === INVALID) return void this.#fail('badBody', true);
    input.take(end);
    this.#connection.counting.came(end - at);
    const piece = this.#request.relayed(bytes, at, end);
    this.recording?.came(piece, 0, piece.length, this.#request.isComplete);
    if (!this.#isSent) return void this.handled?.body.take(piece, this.#request.isComplete);
    if (piece.length > 0) this.isFull = this.upstream?.write(piece) === false;
    if (this.#request.isComplete && !this.#answer.hasBegun)
      this.#connection.patience.forAnswer(this.#connection.front.now());
  }

  /** The visitor sends nothing more. */
  onVisitorEnd(): void {
    if (!this.#request.isComplete) this.#fail('cutShort', true);
  }

  /** The connection is gone. */
  onVisitorGone(): void {
    this.#settle('unasked');
    this.upstream?.cancel();
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
    this.#answer.take(chunk);
  }

  onEnd(): void {
    this.#answer.takeEnd();
  }

  /** The stream broke. */
  onBreak(error: VisitorError): void {
    if (!this.#answer.isComplete) this.#fail(error);
  }

  proceed(endpoint: LiveEndpoint, convertsWebsockets: boolean): void {
    if (!this.isUnderWay) return void this.#settle('unasked');
    if (convertsWebsockets) return void joinWebsocket(this.#connection, endpoint, this, this.handled as Handled);
    this.#forward(endpoint, this.#connection.front.now());
    this.#connection.work();
  }

  answer(answer: OwnAnswer): void {
    if (!this.isUnderWay) return;
    this.upstream?.cancel();
    this.#connection.answerWith(answer, this.#request.isComplete);
  }

  refuse({ error, fields }: Step & { kind: 'fail' }): void {
    if (!this.isUnderWay) return;
    this.upstream?.cancel();
    this.#connection.fail(error, this.#request.isComplete, fields);
  }

  drop(): void {
    if (!this.isUnderWay) return;
    const connection = this.#connection;
    this.upstream?.cancel();
    // A reset would take with it what is still on its way of answers to earlier requests.
    if (connection.client.line.bytesOut > 0) connection.finish(true, connection.front.now());
    else connection.drop();
  }

  finish(hasSurplus: boolean): void {
    const connection = this.#connection;
    const upstream = this.upstream as Upstream;
    const now = connection.front.now();
    if (hasSurplus || !this.#request.isComplete) upstream.cancel();
    else if (connection.answer.isKeptAlive && !this.#answer.isUntilClose)
      upstream.rest(now, connection.answer.keepAliveTimeout);
    else upstream.letGo();
    this.report(true);
    connection.finish(this.#answer.closes, now);
  }

  failed(error: VisitorError): void {
    this.#fail(error);
  }

  /** The gateway has given an answer of its own, as HTTP/1. */
  answered(status: number, bytes: Buffer): void {
    this.takeRecording()?.answeredWhole(status, bytes, this.#request.taken);
  }

  /** It is over, which is told once. @param isComplete whether the answer was sent whole. */
  report(isComplete: boolean): void {
    const compression = this.recording && this.handled?.encoded?.compression;
    this.takeRecording()?.give(isComplete, this.#request.taken, this.#answer.sent, compression);
  }

  takeRecording(): RequestRecording | undefined {
    const { recording } = this;
    this.recording = undefined;
    return recording;
  }

  #forward(endpoint: LiveEndpoint, now: number): void {
    const connection = this.#connection;
    const kept = connection.upstream;
    if (kept?.takes(endpoint, now, connection.client.line.visitor)) {
      if (this.recording) this.recording.isConnectionReused = true;
      kept.exchange = this;
      this.upstream = kept;
      this.#send(now);
    } else {
      kept?.letGo();
      this.upstream = new Upstream(connection, endpoint);
      connection.upstream = this.upstream;
      this.upstream.open(connection.client.line.visitor, this);
    }
  }

  #send(now: number): void {
    const connection = this.#connection;
    const request = this.#request;
    if (this.handled) {
      for (const piece of [this.handled.head(), ...this.handled.body.pieces])
        this.isFull = this.upstream?.write(piece) === false;
    } else {
      const { bytes, at } = connection.input;
      const end = request.isComplete || bytes.length - at > JOIN_MAX ? at : request.take(bytes, at);
      if (end === INVALID) return void this.#fail('badBody', true);
      const fields = connection.client.fields.for(connection.request.host);
      const piece = end > at ? request.relayed(bytes, at, end) : NOTHING;
      const head = forwardedHead(connection.request, fields, piece, 0, piece.length);
      connection.input.take(end);
      connection.counting.came(end - at);
      if (end > at) this.recording?.came(piece, 0, piece.length, request.isComplete);
      this.isFull = this.upstream?.write(head) === false;
    }
    this.#isSent = true;
    if (!request.isComplete) connection.patience.forProgress(now);
  }

  /** Answers with an error, if there is an answer to be given still; cuts what there is of one otherwise. */
  #fail(error: VisitorError, isVisitorsFault = false): void {
    if (!this.isUnderWay) return;
    this.#settle(isVisitorsFault || !this.upstream ? 'unasked' : 'failed');
    this.upstream?.cancel();
    if (this.#answer.hasBegun) this.#connection.cut();
    else this.#connection.fail(error, !isVisitorsFault && this.#request.isComplete);
  }

  /** What waits for more of the request, or of the answer, is told that it is over. */
  #settle(outcome: UpstreamOutcome): void {
    const { handled } = this;
    if (!handled) return;
    handled.visit.settle(outcome);
    handled.body.fail();
    handled.encoded?.destroy();
  }
}
