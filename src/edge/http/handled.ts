// What is done to a request and its answer at an endpoint that has modules: nothing of it is needed at others.

import { guarded } from '../../protocol/defect.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { CHUNKED, UNTIL_CLOSE } from './body.ts';
import { BodyCollector } from './body-collector.ts';
import { EncodedBody, type EncodedBodyEvents } from './encoded-body.ts';
import { forwardedHead } from './forwarded-head.ts';
import type { ExchangeOwner } from './owners.ts';
import type { RequestRecording } from './request-recording.ts';
import type { ResponseHead } from './response-head.ts';
import { type Step, Visit } from './visit.ts';
import { HeadRequest } from './visit-request.ts';
import { HeadResponse, type OwnAnswer } from './visit-response.ts';

const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** The exchange that it belongs to. What is called when the visitor has gone has no effect. */
export interface HandledExchange {
  /** Where somebody wants to hear of it. */
  readonly recording: RequestRecording | undefined;
  /** The request goes on, to this endpoint. */
  proceed(endpoint: LiveEndpoint, convertsWebsockets: boolean): void;
  answer(answer: OwnAnswer): void;
  refuse(step: Step & { kind: 'fail' }): void;
  /** The connection is closed without a word. */
  drop(): void;
}

export class Handled {
  readonly body: BodyCollector;
  readonly visit: Visit;
  /** Set where the answer is compressed on its way. */
  encoded: EncodedBody | undefined;
  readonly #connection: ExchangeOwner;
  readonly #exchange: HandledExchange;
  #response: HeadResponse | undefined;

  constructor(connection: ExchangeOwner, endpoint: LiveEndpoint, exchange: HandledExchange) {
    const { front, request } = connection;
    this.#connection = connection;
    this.#exchange = exchange;
    this.body = new BodyCollector(request.bodyLength === CHUNKED);
    const facts = {
      scheme: front.scheme,
      isHttp2: false,
      receivedAt: front.visits.time(),
      body: () => this.#collect(),
    };
    this.visit = new Visit(endpoint, new HeadRequest(request, facts), connection.client.line, front.visits);
    this.visit.decisions = exchange.recording?.decisions;
    this.visit.observer = exchange.recording?.observer;
  }

  readonly #cut = () => void this.#connection.socket.destroy();

  /** Of the answer that goes on. */
  get status(): number | undefined {
    return this.#response?.status;
  }

  start(): void {
    const step = this.visit.begin();
    if (step instanceof Promise) void step.then(guarded(this.#cut, (later) => this.#take(later)));
    else this.#take(step);
  }

  /** The head as upstream gets it. */
  head(): Buffer {
    const fields = this.#connection.client.fields.for(this.#connection.request.host);
    const { request } = this.visit;
    return request.isChanged ? request.write(fields) : forwardedHead(this.#connection.request, fields);
  }

  /** The answer's head was read. @param goOn is called, now or later, unless the visitor gets another answer. */
  onAnswer(head: ResponseHead, bodyLength: number, goOn: () => void): void {
    this.#response = new HeadResponse(head, bodyLength);
    const step = this.visit.answered(this.#response);
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

  #take(step: Step, goOn?: () => void): void {
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
    const body = this.body.ask();
    // Who waits to be told so before sending it is told here; upstream has no need to.
    if (!request.line.isHttp10 && this.visit.request.takeExpectation() && input.isEmpty)
      this.#connection.write(CONTINUE);
    queueMicrotask(() => this.#connection.work());
    return body;
  }
}
