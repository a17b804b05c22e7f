// One request between a transport and an endpoint, of which it knows a source and a writer: routing, modules, own responses.

import type { VisitorError } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import { type ByteStream, ErrorCode } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { CHUNKED } from '../codec/body.ts';
import type { LoggedRequest } from '../reports/logged-request.ts';
import { type RequestRecording, recordRequest } from '../reports/request-recording.ts';
import { BodyCollector } from './body/body-collector.ts';
import { collectBody } from './body/collect-body.ts';
import { challengeStep, endpointOf, stepWithoutEndpoint } from './endpoint-lookup.ts';
import { errorReaderOf, errorReply, VISITOR_FAULTS } from './error-reply.ts';
import { logRequest } from './logged-visits.ts';
import { ModulePipeline } from './module-pipeline.ts';
import { PipelineRequest } from './pipeline-request.ts';
import type { LocalReply, UpstreamResponse } from './pipeline-response.ts';
import type { PipelineStep } from './pipeline-step.ts';
import type { PipelineContext } from './transport.ts';
import { UpstreamRequest, type UpstreamRequestEvents } from './upstream-request.ts';
import { openWebsocket } from './websocket-upgrade.ts';

export class RequestPipeline implements UpstreamRequestEvents {
  /** Whether nothing is left to do but to deliver what was written. */
  #isOver = false;
  /** Whether the visitor has ended his side, with all of the request sent. */
  #hasVisitorEnded = false;
  readonly #context: PipelineContext;
  /** Only at endpoints with modules. */
  #modules: ModulePipeline | undefined;
  /** Only where a module has asked for the body. */
  #collector: BodyCollector | undefined;
  /** Only where the request is reported, and until it was. */
  #recording: RequestRecording | undefined;
  /** Only where requests are logged. */
  #logged: LoggedRequest | undefined;
  #upstream: UpstreamRequest | undefined;

  constructor(context: PipelineContext) {
    this.#context = context;
  }

  /** Whether the head of the response was written. */
  get hasBegun(): boolean {
    return this.#upstream?.hasBegun === true;
  }

  /** Whether the upstream has as much of the request as it takes for now. */
  get isFull(): boolean {
    return this.#upstream?.isFull === true;
  }

  /** Whether the visitor's next bytes belong to this request, and are taken now. */
  get wantsBody(): boolean {
    if (this.#isOver || this.#context.source.isComplete) return false;
    return this.#upstream?.isSent ? !this.#upstream.isFull : this.#collector?.isWanted === true;
  }

  /** Sends the request, whose head was read, where it belongs. */
  start(now: number): void {
    const { listener, source, timeouts } = this.#context;
    listener.counters.requests++;
    timeouts.answerWithin(undefined);
    timeouts.forResponse(now);
    const challenged = challengeStep(listener, source.head);
    if (challenged) return void this.#follow(challenged);
    const endpoint = endpointOf(listener, source.head);
    if (endpoint === 'misdirected') this.fail(endpoint);
    else if (endpoint) this.#visit(endpoint, now);
    else this.#follow(stepWithoutEndpoint(listener, source.head));
  }

  #visit(endpoint: LiveEndpoint, now: number): void {
    const { listener, source, counter } = this.#context;
    this.#logged = logRequest(endpoint, listener, source, now);
    if (!counter.begin(endpoint, source.head, now)) return void this.fail('tooManyVisitors');
    this.#recording = recordRequest(source.client, endpoint, source.head, source.http2Fields);
    const restriction = listener.services.restrictionOf?.(endpoint.accountId);
    if (!endpoint.rules && !restriction) return void this.#forward(endpoint, now);
    const request = new PipelineRequest(source, listener, () => this.#collect(request));
    const cut = () => this.fail('signInRequired');
    this.#modules = new ModulePipeline(endpoint, request, source.client, this.#recording, counter, this.#logged, cut);
    this.#follow(this.#modules.handleRequest(restriction));
  }

  /** Takes a piece of the body with its chunk framing; `isComplete` of the source says whether it was the last one. */
  takeBody(piece: Buffer): void {
    const { listener, source, timeouts } = this.#context;
    const isLast = source.isComplete;
    this.#recording?.addRequestBytes(piece, 0, piece.length, isLast);
    if (this.#upstream?.isSent) this.#upstream.takeBody(piece);
    else this.#collector?.take(piece, isLast);
    if (isLast && !this.hasBegun) timeouts.forResponse(listener.now());
  }

  /**
   * The visitor sends nothing more. Who closes a connection looks like that, too, and nobody need work for him any more; a visitor who
   * still wants the answer has to be at an endpoint that lets visitors end their side.
   */
  onVisitorEnd(): void {
    if (this.#isOver || this.#hasVisitorEnded) return;
    if (!this.#context.source.isComplete) return void this.fail('cutShort');
    this.#hasVisitorEnded = true;
    // Before the request goes on, it is not known what its endpoint does.
    if (this.#upstream) this.#endWithVisitor();
  }

  onVisitorGone(): void {
    this.#modules?.settle('unasked');
    this.#giveUp();
  }

  /** @returns whether it is over now. */
  #endWithVisitor(): boolean {
    if (!this.#hasVisitorEnded || this.#modules?.upstreamTerms.allowsHalfClose) return false;
    const hasBegun = this.hasBegun;
    this.onVisitorGone();
    if (hasBegun) this.#context.writer.cut();
    else this.#context.writer.drop();
    this.#context.onDone();
    return true;
  }

  /** The visitor has taken what was written. */
  onWritable(): void {
    this.#upstream?.release();
  }

  /** What the request waits for takes too long. */
  onTimeout(): void {
    this.fail(this.wantsBody ? 'requestTimeout' : 'upstreamTimeout');
  }

  /** Answers with an error, if there is a response to be given still; cuts what there is of one otherwise. */
  fail(error: VisitorError): void {
    if (this.#isOver) return;
    const detail = error === 'upstreamTimeout' ? this.#context.timeouts.answerLimit : undefined;
    this.#logged?.failed(error, detail);
    this.#modules?.settle(VISITOR_FAULTS.has(error) || !this.#upstream ? 'unasked' : 'failed');
    if (!this.hasBegun) return void this.#replyError(error, [], detail);
    this.#context.listener.counters.cut++;
    this.#giveUp();
    this.#context.writer.cut();
    this.#context.onDone();
  }

  /** Reports the request, which is over, once. @param isComplete whether the whole response was sent. */
  report(isComplete: boolean): void {
    const { sent = 0, compression } = this.#upstream?.response ?? {};
    this.#takeRecording()?.finish(isComplete, this.#context.source.bodyLength, sent, compression);
    this.#logged?.finish(isComplete, this.#context.source.bodyLength, sent);
    this.#modules?.lifetime.over();
  }

  onHead(response: UpstreamResponse): void {
    this.#follow((this.#modules as ModulePipeline).handleResponse(response));
  }

  onComplete(): void {
    this.#isOver = true;
    this.#context.onDone();
  }

  onFailure(error: VisitorError, reason?: string): void {
    if (reason !== undefined) this.#modules?.gaveUp(reason);
    this.fail(error);
  }

  onUpgrade(status: number, head: Buffer, stream: ByteStream, rest: Buffer): void {
    this.#modules?.settle(status);
    this.#leave(status, head, stream, rest, false);
  }

  onDefect(): void {
    this.#drop();
  }

  #follow(step: PipelineStep | Promise<PipelineStep>): void {
    if (step instanceof Promise) this.#await(step, (later) => this.#take(later));
    else this.#take(step);
  }

  #await<T>(promise: Promise<T>, go: (result: T) => void): void {
    void promise.then(guarded(() => this.onDefect(), go));
  }

  #take(step: PipelineStep): void {
    if (this.#isOver) return;
    switch (step.kind) {
      case 'visit':
        return void this.#visit(step.endpoint, this.#context.listener.now());
      case 'upstream':
        if (step.convertsWebsockets) return void this.#convertWebsocket(step.endpoint);
        return void this.#forward(step.endpoint, this.#context.listener.now());
      case 'pass':
        return void this.#upstream?.proceed();
      case 'answer':
        return void this.#reply(step.answer, true);
      case 'fail':
        this.#logged?.failed(step.error);
        return void this.#replyError(step.error, step.fields);
      case 'close':
        return void this.#drop();
    }
  }

  #forward(endpoint: LiveEndpoint, now: number): void {
    if (this.#endWithVisitor()) return;
    if (this.#modules) this.#context.timeouts.answerWithin(this.#modules.applyTerms(endpoint).answerTimeout);
    const request = this.#modules?.request;
    const modified = request && { request, pieces: request.ownBody ?? this.#collector?.pieces ?? [] };
    this.#upstream = new UpstreamRequest(this.#context, this, this.#recording, this.#logged, modified);
    this.#upstream.send(endpoint, now);
  }

  #replyError(error: VisitorError, fields?: LocalReply['fields'], detail?: string): void {
    const { head, http2Fields } = this.#context.source;
    const reply = errorReply(error, errorReaderOf(head, http2Fields !== undefined), fields, detail);
    this.#reply(reply, !VISITOR_FAULTS.has(error));
  }

  #reply(reply: LocalReply, canGoOn: boolean): void {
    const { source, writer, counter } = this.#context;
    this.#giveUp();
    const status = reply.countedStatus ?? reply.status;
    counter.countResponse(status);
    this.#logged?.answered(status, source.head.line.isHead ? 0 : reply.body.length);
    writer.reply(reply, source.head.line.isHead, canGoOn && source.isComplete, this.#recording);
    this.#context.onDone();
  }

  #drop(): void {
    this.#giveUp();
    this.#context.writer.drop();
    this.#context.onDone();
  }

  #giveUp(): void {
    this.#isOver = true;
    this.#modules?.lifetime.abandon();
    this.#upstream?.cancel();
    this.#collector?.fail();
  }

  /** A module wants the body before the request goes on. */
  #collect(request: PipelineRequest): Promise<Buffer | undefined> {
    const { source, writer } = this.#context;
    if (source.isComplete && !this.#collector) return Promise.resolve(Buffer.alloc(0));
    this.#collector ??= new BodyCollector(source.head.bodyLength === CHUNKED);
    return collectBody(this.#collector, request, source, writer);
  }

  #takeRecording(): RequestRecording | undefined {
    const recording = this.#recording;
    this.#recording = undefined;
    return recording;
  }

  #convertWebsocket(endpoint: LiveEndpoint): void {
    this.#await(openWebsocket(endpoint, this.#context.source, this.#modules as ModulePipeline), (websocket) => {
      if (typeof websocket === 'string') return this.fail(websocket);
      if (this.#isOver) websocket.stream.reset(ErrorCode.CANCELLED);
      else this.#leave(websocket.status, websocket.head, websocket.stream, Buffer.alloc(0), true);
    });
  }

  /** Both sides speak another protocol from here on. */
  #leave(status: number, head: Buffer, stream: ByteStream, rest: Buffer, convertsWebsocket: boolean): void {
    this.#isOver = true;
    this.#context.counter.countResponse(status);
    const onClose = this.#logged?.upgraded(status, this.#context.source.client.connection, head.length);
    const about = { onClose, recording: this.#takeRecording(), lifetime: this.#modules?.lifetime };
    this.#modules = undefined;
    this.#context.onUpgrade({ head, stream, rest, convertsWebsocket, ...about });
  }
}
