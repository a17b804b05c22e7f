// What is done to a request and its answer at an endpoint that has modules: nothing of it is needed at others.

import { guarded } from '../../protocol/defect.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { CHUNKED, UNTIL_CLOSE } from '../codec/body.ts';
import { forwardedRequestHead } from '../codec/forwarded-request-head.ts';
import type { ResponseHead } from '../codec/response-head.ts';
import { BodyCollector } from '../pipeline/body-collector.ts';
import { EncodedBody, type EncodedBodyEvents } from '../pipeline/encoded-body.ts';
import { ModulePipeline, type PipelineStep } from '../pipeline/module-pipeline.ts';
import { PipelineRequest } from '../pipeline/pipeline-request.ts';
import { type LocalReply, UpstreamResponse } from '../pipeline/pipeline-response.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { Http1ConnectionContext } from './owners.ts';

const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** The exchange that it belongs to. What is called when the visitor has gone has no effect. */
export interface ExecutedExchange {
  /** Where somebody wants to hear of it. */
  readonly recording: RequestRecording | undefined;
  /** The request goes on, to this endpoint. */
  proceed(endpoint: LiveEndpoint, convertsWebsockets: boolean): void;
  answer(answer: LocalReply): void;
  refuse(step: PipelineStep & { kind: 'fail' }): void;
  /** The connection is closed without a word. */
  drop(): void;
}

export class ModuleExecution {
  readonly body: BodyCollector;
  readonly visit: ModulePipeline;
  /** Set where the answer is compressed on its way. */
  encoded: EncodedBody | undefined;
  readonly #connection: Http1ConnectionContext;
  readonly #exchange: ExecutedExchange;
  #response: UpstreamResponse | undefined;

  constructor(connection: Http1ConnectionContext, endpoint: LiveEndpoint, exchange: ExecutedExchange) {
    const { front, request } = connection;
    this.#connection = connection;
    this.#exchange = exchange;
    this.body = new BodyCollector(request.bodyLength === CHUNKED);
    const facts = {
      scheme: front.scheme,
      isHttp2: false,
      receivedAt: front.services.time(),
      body: () => this.#collect(),
    };
    this.visit = new ModulePipeline(
      endpoint,
      new PipelineRequest(request, facts),
      connection.client.connection,
      front.services,
    );
    this.visit.decisions = exchange.recording?.decisions;
    this.visit.observer = exchange.recording?.observer;
  }

  readonly #cut = () => void this.#connection.socket.destroy();

  /** Of the answer that goes on. */
  get status(): number | undefined {
    return this.#response?.status;
  }

  start(): void {
    const step = this.visit.handleRequest();
    if (step instanceof Promise) void step.then(guarded(this.#cut, (later) => this.#take(later)));
    else this.#take(step);
  }

  /** The head as upstream gets it. */
  head(): Buffer {
    const fields = this.#connection.client.fields.for(this.#connection.request.host);
    const { request } = this.visit;
    return request.isChanged ? request.write(fields) : forwardedRequestHead(this.#connection.request, fields);
  }

  /** The answer's head was read. @param goOn is called, now or later, unless the visitor gets another answer. */
  onAnswer(head: ResponseHead, bodyLength: number, goOn: () => void): void {
    this.#response = new UpstreamResponse(head, bodyLength);
    const step = this.visit.handleResponse(this.#response);
    if (step instanceof Promise) void step.then(guarded(this.#cut, (later) => this.#take(later, goOn)));
    else this.#take(step, goOn);
  }

  /**
   * The head as the visitor gets it; undefined when it may go on as it came.
   * @param length of the body as upstream sends it.
   */
  answerHead(length: number, closes: boolean, isToHttp10: boolean, events: EncodedBodyEvents): Buffer | undefined {
    const response = this.#response;
    if (!response?.isChanged) return undefined;
    const { encoding } = response;
    if (encoding) this.encoded = new EncodedBody(encoding, length === CHUNKED, !isToHttp10, events);
    if (encoding && !isToHttp10) response.fields.set('Transfer-Encoding', 'chunked');
    const hop = closes ? 'Connection: close\r\n' : isToHttp10 ? 'Connection: keep-alive\r\n' : '';
    return Buffer.from(`${response.write()}${hop}\r\n`, 'latin1');
  }

  /** Whether the end of the connection is what ends the answer, as the visitor gets it. */
  endsWithConnection(length: number, isToHttp10: boolean): boolean {
    if (this.#response?.encoding) return isToHttp10;
    return length === UNTIL_CLOSE || (length === CHUNKED && isToHttp10);
  }

  #take(step: PipelineStep, goOn?: () => void): void {
    switch (step.kind) {
      case 'upstream':
        this.#exchange.proceed(step.endpoint, step.convertsWebsockets);
        break;
      case 'pass':
        goOn?.();
        break;
      case 'answer':
        this.#exchange.answer(step.answer);
        break;
      case 'fail':
        this.#exchange.refuse(step);
        break;
      case 'close':
        this.#exchange.drop();
    }
  }

  /** A module wants the body before the request goes on. */
  #collect(): Promise<Buffer | undefined> {
    const { request, input } = this.#connection;
    if (request.bodyLength === 0) return Promise.resolve(Buffer.alloc(0));
    const body = this.body.collect();
    // Who waits to be told so before sending it is told here; upstream has no need to.
    if (!request.line.isHttp10 && this.visit.request.takeExpectation() && input.isEmpty)
      this.#connection.write(CONTINUE);
    queueMicrotask(() => this.#connection.work());
    return body;
  }
}
