// One request: the way to an endpoint. `response-relay.ts` is the way back.

import type { UpstreamOutcome } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import type { LiveEndpoint, OpenFailure } from '../../tunnel/endpoints/endpoint.ts';
import { Body, INVALID } from '../codec/body.ts';
import { forwardedRequestHead } from '../codec/forwarded-request-head.ts';
import { endpointOf } from '../pipeline/listener-context.ts';
import type { PipelineStep } from '../pipeline/module-pipeline.ts';
import type { LocalReply } from '../pipeline/pipeline-response.ts';
import { type RequestRecording, recordRequest } from '../reports/request-recording.ts';
import { type InputBuffer, NOTHING } from './input-buffer.ts';
import { type ExecutedExchange, ModuleExecution } from './module-execution.ts';
import type { Http1ConnectionContext } from './owners.ts';
import { type RelayedExchange, ResponseRelay } from './response-relay.ts';
import { JOIN_MAX } from './response-writer.ts';
import { UpstreamStream, type UpstreamUser } from './upstream-stream.ts';
import { joinWebsocket } from './websocket-converter.ts';

const NO_BODY = new Body(0);

export class Exchange implements ExecutedExchange, RelayedExchange, UpstreamUser {
  /** Whether the upstream has as much of the request as it takes for now. */
  isFull = false;
  upstream: UpstreamStream | undefined;
  /** At endpoints with modules. */
  handled: ModuleExecution | undefined;
  /** Where somebody wants to hear of it, and has not yet. */
  recording: RequestRecording | undefined;
  readonly #connection: Http1ConnectionContext;
  /** The visitor's half; what of it was forwarded is behind it. */
  readonly #request: Body;
  readonly #answer: ResponseRelay;
  #isSent = false;

  constructor(connection: Http1ConnectionContext) {
    const { bodyLength } = connection.request;
    this.#connection = connection;
    this.#request = bodyLength === 0 ? NO_BODY : new Body(bodyLength);
    this.#answer = new ResponseRelay(connection, this);
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
    this.#connection.timeouts.forAnswer(now);
    const endpoint = endpointOf(front, request, this);
    if (!endpoint) return;
    const hasPlace = this.#connection.counter.begin(endpoint, request, now);
    if (!hasPlace) return void this.#connection.fail('tooManyVisitors', false);
    this.recording = recordRequest(this.#connection.client, endpoint, request);
    if (!endpoint.handling) return void this.#forward(endpoint, now);
    this.handled = new ModuleExecution(this.#connection, endpoint, this);
    this.handled.start();
  }

  /** Takes what of the request's body has come. */
  takeBody(input: InputBuffer): void {
    const { bytes, at } = input;
    const end = this.#request.take(bytes, at);
    if (end === INVALID) return void this.#fail('badBody', true);
    input.take(end);
    this.#connection.counter.addEndpointReceived(end - at);
    const piece = this.#request.relayed(bytes, at, end);
    this.recording?.addRequestBytes(piece, 0, piece.length, this.#request.isComplete);
    if (!this.#isSent) return void this.handled?.body.take(piece, this.#request.isComplete);
    if (piece.length > 0) this.isFull = this.upstream?.write(piece) === false;
    if (this.#request.isComplete && !this.#answer.hasBegun)
      this.#connection.timeouts.forAnswer(this.#connection.front.now());
  }

  /** The visitor sends nothing more. */
  onVisitorEnd(): void {
    if (!this.#request.isComplete) this.#fail('cutShort', true);
  }

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
    this.#connection.timeouts.forAnswer(now);
    this.#send(now);
    this.#connection.work();
  }

  onOpenFailure(failure: OpenFailure): void {
    this.#fail(failure);
  }

  onDrain(): void {
    this.isFull = false;
    this.#connection.timeouts.progress();
    this.#connection.work();
  }

  onData(chunk: Buffer): void {
    this.#connection.timeouts.progress();
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
    if (convertsWebsockets)
      return void joinWebsocket(this.#connection, endpoint, this, this.handled as ModuleExecution);
    this.#forward(endpoint, this.#connection.front.now());
    this.#connection.work();
  }

  answer(answer: LocalReply): void {
    if (!this.isUnderWay) return;
    this.upstream?.cancel();
    this.#connection.answerWith(answer, this.#request.isComplete);
  }

  refuse({ error, fields }: PipelineStep & { kind: 'fail' }): void {
    if (!this.isUnderWay) return;
    this.upstream?.cancel();
    this.#connection.fail(error, this.#request.isComplete, fields);
  }

  drop(): void {
    if (!this.isUnderWay) return;
    const connection = this.#connection;
    this.upstream?.cancel();
    // A reset would take with it what is still on its way of answers to earlier requests.
    if (connection.client.connection.bytesOut > 0) connection.finish(true, connection.front.now());
    else connection.drop();
  }

  finish(hasSurplus: boolean): void {
    const connection = this.#connection;
    const upstream = this.upstream as UpstreamStream;
    const now = connection.front.now();
    if (hasSurplus || !this.#request.isComplete) upstream.cancel();
    else if (connection.answer.isKeptAlive && !this.#answer.isUntilClose)
      upstream.keepIdle(now, connection.answer.keepAliveTimeout);
    else upstream.release();
    this.report(true);
    connection.finish(this.#answer.closes, now);
  }

  failed(error: VisitorError): void {
    this.#fail(error);
  }

  /** The gateway has given an answer of its own, as HTTP/1. */
  answered(status: number, bytes: Buffer): void {
    this.takeRecording()?.localReplySent(status, bytes, this.#request.taken);
  }

  /** It is over, which is told once. @param isComplete whether the answer was sent whole. */
  report(isComplete: boolean): void {
    const compression = this.recording && this.handled?.encoded?.compression;
    this.takeRecording()?.finish(isComplete, this.#request.taken, this.#answer.sent, compression);
  }

  takeRecording(): RequestRecording | undefined {
    const { recording } = this;
    this.recording = undefined;
    return recording;
  }

  #forward(endpoint: LiveEndpoint, now: number): void {
    const connection = this.#connection;
    const kept = connection.upstream;
    if (kept?.canReuse(endpoint, now, connection.client.connection.visitor)) {
      if (this.recording) this.recording.isConnectionReused = true;
      kept.exchange = this;
      this.upstream = kept;
      this.#send(now);
    } else {
      kept?.release();
      this.upstream = new UpstreamStream(connection, endpoint);
      connection.upstream = this.upstream;
      this.upstream.open(connection.client.connection.visitor, this);
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
      const head = forwardedRequestHead(connection.request, fields, piece, 0, piece.length);
      connection.input.take(end);
      connection.counter.addEndpointReceived(end - at);
      if (end > at) this.recording?.addRequestBytes(piece, 0, piece.length, request.isComplete);
      this.isFull = this.upstream?.write(head) === false;
    }
    this.#isSent = true;
    if (!request.isComplete) connection.timeouts.forProgress(now);
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
