// What is done to a request of HTTP/2 and its answer at an endpoint that has modules.

import type { ErrorResponseParts } from '../../http/error-response.ts';
import type { UpstreamOutcome } from '../../http/module.ts';
import type { VisitorError } from '../../http/visitor-errors.ts';
import { guarded } from '../../protocol/defect.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { RequestHead } from '../codec/request-head.ts';
import type { ListenerContext } from '../pipeline/listener-context.ts';
import { ModulePipeline, type PipelineStep } from '../pipeline/module-pipeline.ts';
import { PipelineRequest } from '../pipeline/pipeline-request.ts';
import { type LocalReply, UpstreamResponse } from '../pipeline/pipeline-response.ts';
import type { ConnectionInfo } from '../pipeline/services.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { RequestBody } from './request-body.ts';
import type { Http2ResponseRelay } from './response-relay.ts';

/** The exchange that it belongs to. What is called when the visitor has gone has no effect. */
export interface ExecutedExchange {
  /** Where somebody wants to hear of it. */
  readonly recording: RequestRecording | undefined;
  proceed(endpoint: LiveEndpoint, request: RequestHead): void;
  answer(answer: LocalReply): void;
  refuse(error: VisitorError, fields: ErrorResponseParts['fields']): void;
  drop(): void;
  /** The answer of upstream goes on. @param more what upstream has sent since its head. */
  begin(response: UpstreamResponse, more: readonly Buffer[]): void;
  bodyOf(request: RequestHead): RequestBody;
  onEnd(): void;
}

export class Http2ModuleExecution {
  readonly #request: RequestHead;
  readonly #visit: ModulePipeline;
  readonly #exchange: ExecutedExchange;
  #response: UpstreamResponse | undefined;
  /** Whether upstream is asked. */
  #hasProceeded = false;
  /** What upstream sends while its answer is being decided on. */
  #waiting: (Buffer | 'end')[] | undefined;

  constructor(
    { front, connection }: { front: ListenerContext; connection: ConnectionInfo },
    endpoint: LiveEndpoint,
    request: RequestHead,
    exchange: ExecutedExchange,
  ) {
    const facts = {
      scheme: front.scheme,
      isHttp2: true,
      receivedAt: front.services.time(),
      body: () => exchange.bodyOf(request).collect(this.#visit.request.takeExpectation()),
    };
    this.#request = request;
    this.#exchange = exchange;
    this.#visit = new ModulePipeline(endpoint, new PipelineRequest(request, facts), connection, front.services);
    this.#visit.decisions = exchange.recording?.decisions;
    this.#visit.observer = exchange.recording?.observer;
  }

  start(): void {
    this.#follow(this.#visit.handleRequest());
  }

  /** The head as upstream gets it; undefined when nothing was changed. */
  head(visitorFields: Buffer): Buffer | undefined {
    const { request } = this.#visit;
    return request.isChanged ? request.write(visitorFields) : undefined;
  }

  /** @returns whether it is kept for later. */
  waits(piece: Buffer | 'end'): boolean {
    this.#waiting?.push(piece);
    return this.#waiting !== undefined;
  }

  /** The head of the answer was read. */
  onAnswer({ head, isToHead }: Http2ResponseRelay): void {
    this.#waiting = [];
    this.#response = new UpstreamResponse(head, head.bodyLength(isToHead));
    this.#follow(this.#visit.handleResponse(this.#response));
  }

  settle(outcome: UpstreamOutcome): void {
    this.#visit.settle(outcome);
  }

  /** The visitor is told of an error, in place of an answer or in the middle of it. */
  failed(error: VisitorError): void {
    const isVisitors = error === 'badBody' || error === 'requestTimeout';
    this.settle(isVisitors || !this.#hasProceeded ? 'unasked' : 'failed');
  }

  #follow(step: PipelineStep | Promise<PipelineStep>): void {
    const drop = () => this.#exchange.drop();
    if (step instanceof Promise) void step.then(guarded(drop, (later) => this.#take(later)));
    else this.#take(step);
  }

  #take(step: PipelineStep): void {
    const exchange = this.#exchange;
    if (step.kind === 'answer') exchange.answer(step.answer);
    else if (step.kind === 'fail') exchange.refuse(step.error, step.fields);
    else if (step.kind === 'close') exchange.drop();
    else if (step.kind === 'pass') this.#goOn();
    // WebSockets, which a converter is for, do not come over HTTP/2 here.
    else if (step.convertsWebsockets) exchange.refuse('notAWebsocket', []);
    else {
      this.#hasProceeded = true;
      exchange.proceed(step.endpoint, this.#request);
    }
  }

  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    const more = waiting.filter((piece) => piece !== 'end');
    this.#exchange.begin(this.#response as UpstreamResponse, more);
    if (more.length < waiting.length) this.#exchange.onEnd();
  }
}
