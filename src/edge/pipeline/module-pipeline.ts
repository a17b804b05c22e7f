// One request on its way through what stands before an endpoint, and its answer on the way back. The same for HTTP/1 and
// HTTP/2, which carry out what is decided here.

import type { TLSSocket } from 'node:tls';
import type { HttpExchange, HttpResponse, ModuleDecisions } from '../../http/exchange.ts';
import type { ModuleRefusal, Responded, UpstreamOutcome, Verdict } from '../../http/module.ts';
import { type VisitorError, visitorErrors } from '../../http/visitor-errors.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { RequestObserver } from '../reports/traffic-reports.ts';
import type { ConnectionInfo } from '../visitors/connection-info.ts';
import type { RequestClient } from './clients.ts';
import { admitConnection } from './connection-admission.ts';
import { type EndpointRules, endpointRulesOf, type HttpRoute } from './endpoint-rules.ts';
import type { ChainProgress, Decision, ModuleChain } from './module-chain.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import { ModuleResponse, type UpstreamResponse } from './pipeline-response.ts';
import { ABORTED, PASS, type PipelineStep } from './pipeline-step.ts';
import { requestRefusal, type VisitorRefusal } from './refusal.ts';
import type { PipelineServices } from './services.ts';

/** How often a request may be sent from one endpoint to another. */
const HOPS_MAX = 8;

interface ForwardHop extends ChainProgress {
  chain: ModuleChain;
}

interface ModuleResult {
  module: { name: string };
  verdict: NonNullable<Verdict>;
}

export class ModulePipeline implements HttpExchange {
  readonly request: PipelineRequest;
  response: HttpResponse | undefined;
  endpoint: LiveEndpoint;
  readonly decisions: ModuleDecisions | undefined;
  /** Where it is noted why the visitor was turned away. */
  readonly #observer: RequestObserver | undefined;
  readonly #line: ConnectionInfo;
  readonly #services: PipelineServices;
  readonly #hopsTaken: ForwardHop[] = [];
  #memory: Map<object, unknown> | undefined;
  #operationId: string | undefined;
  #hops = 0;
  #isSettled = false;

  constructor(
    endpoint: LiveEndpoint,
    request: PipelineRequest,
    { front, connection }: RequestClient,
    recording: Pick<RequestRecording, 'decisions' | 'observer'> | undefined,
  ) {
    this.endpoint = endpoint;
    this.request = request;
    this.decisions = recording?.decisions;
    this.#observer = recording?.observer;
    this.#line = connection;
    this.#services = front.services;
  }

  get visitor(): Visitor {
    return this.#line.visitor;
  }

  get startedAt(): number {
    return this.#line.startedAt;
  }

  get serverName(): string | undefined {
    return this.#line.serverName;
  }

  get tls(): TLSSocket | undefined {
    return this.#line.tls;
  }

  get bytesIn(): number {
    return this.#line.bytesIn;
  }

  get bytesOut(): number {
    return this.#line.bytesOut;
  }

  get memory(): Map<object, unknown> {
    this.#memory ??= new Map();
    return this.#memory;
  }

  get operationId(): string {
    this.#operationId ??= this.#services.newOperationId();
    return this.#operationId;
  }

  /** Sends the request through the modules of its endpoint, and of those that it is forwarded to. Never rejects. */
  handleRequest(): PipelineStep | Promise<PipelineStep> {
    return this.#guarded(() => this.#enter(this.endpoint));
  }

  /** Sends the answer of upstream through the modules. Never rejects. */
  handleResponse(response: UpstreamResponse): PipelineStep | Promise<PipelineStep> {
    this.response = response;
    this.settle(response.status);
    return this.#guarded(() => this.#respond(this.#hopsTaken.length - 1));
  }

  /** Tells the modules what upstream did; once. */
  settle(outcome: UpstreamOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const leg of this.#hopsTaken) leg.chain.settle(this, leg, outcome);
  }

  #enter(endpoint: LiveEndpoint): PipelineStep | Promise<PipelineStep> {
    this.endpoint = endpoint;
    const handling = endpointRulesOf(endpoint);
    if (!handling) return { kind: 'upstream', endpoint, convertsWebsockets: false };
    if (handling.connection.length === 0 || this.#line.admitted.has(handling)) return this.#pass(handling);
    return this.#admit(handling);
  }

  /** What a connection has to pass, where it was not asked before there was a request. */
  async #admit(handling: EndpointRules): Promise<PipelineStep> {
    const refused = (visit: VisitorRefusal) => this.#refused(visit);
    const endpoint = await admitConnection(this, handling, { ...this.#services, logRefusal: refused });
    if (!endpoint) {
      this.settle('unasked');
      return { kind: 'close' };
    }
    this.#line.admitted.add(handling);
    const now = endpointRulesOf(endpoint);
    return now ? this.#pass(now) : { kind: 'upstream', endpoint, convertsWebsockets: false };
  }

  #pass(handling: EndpointRules): PipelineStep | Promise<PipelineStep> {
    if (this.#isSettled) return ABORTED;
    const route = handling.route(this.request.target);
    if (typeof route === 'string') return this.#failed(route);
    if (!route.chain) return this.#toUpstream(route);
    const leg: ForwardHop = { chain: route.chain, passed: 0 };
    this.#hopsTaken.push(leg);
    const found = route.chain.request(this, leg);
    if (found instanceof Promise)
      return found.then((later) => {
        if (this.#isSettled) return ABORTED;
        return later ? this.#decided(later) : this.#toUpstream(route);
      });
    return found ? this.#decided(found) : this.#toUpstream(route);
  }

  #toUpstream(route: HttpRoute): PipelineStep {
    const endpoint = route.upstream(this.endpoint);
    if (typeof endpoint !== 'string')
      return { kind: 'upstream', endpoint, convertsWebsockets: route.convertsWebsockets };
    this.settle('failed');
    return this.#failed(endpoint);
  }

  #failed(error: VisitorError): PipelineStep {
    this.settle('unasked');
    return { kind: 'fail', error, fields: [] };
  }

  /** @param modules how many of the leg are still to be passed; all that the request has passed when left out. */
  #respond(from: number, modules?: number): PipelineStep | Promise<PipelineStep> {
    for (let at = from; at >= 0; at--) {
      const leg = this.#hopsTaken[at] as ForwardHop;
      const found = leg.chain.response(this, leg, at === from ? (modules ?? leg.passed) : leg.passed);
      if (found instanceof Promise)
        return found.then((later) => (later ? this.#replaced(later, at) : this.#respond(at - 1)));
      if (found) return this.#replaced(found, at);
    }
    return this.response instanceof ModuleResponse
      ? { kind: 'answer', answer: this.response.finished(this.decisions) }
      : PASS;
  }

  /** A module has another answer than the one that came; those before it are given that. */
  #replaced(found: Decision, leg: number): PipelineStep | Promise<PipelineStep> {
    const { verdict, at } = found;
    if (verdict.kind !== 'answer') return this.#turnedAway(found);
    this.response = this.#own(found, verdict);
    return this.#respond(leg, at);
  }

  /** What a module says of a request. */
  #decided(found: ModuleResult): PipelineStep | Promise<PipelineStep> {
    const { verdict } = found;
    if (verdict.kind === 'forward' && ++this.#hops <= HOPS_MAX) return this.#enter(verdict.endpoint);
    this.settle('unasked');
    if (verdict.kind === 'forward')
      return this.#turnedAway({ ...found, verdict: refusal('too many endpoints forward to one another') });
    if (verdict.kind !== 'answer') return this.#turnedAway(found);
    this.response = this.#own(found, verdict);
    return this.#respond(this.#hopsTaken.length - 1);
  }

  #own(found: ModuleResult, answer: Responded): ModuleResponse {
    const response = new ModuleResponse(answer);
    if (answer.reason !== undefined) {
      this.#tell(found, answer.reason, answer.status);
      response.fields.set('Service-Operation-Id', this.operationId);
    }
    return response;
  }

  #turnedAway(found: ModuleResult): PipelineStep {
    const { verdict } = found;
    if (verdict.kind === 'close') {
      this.#tell(found, verdict.reason, undefined);
      return { kind: 'close' };
    }
    const { error, reason, fields = [] } = verdict.kind === 'refuse' ? verdict : refusal('it cannot be forwarded now');
    this.#tell(found, reason, visitorErrors[error].status);
    return { kind: 'fail', error, fields: [...fields, ['Service-Operation-Id', this.operationId]] };
  }

  #tell({ module }: ModuleResult, reason: string, status: number | undefined): void {
    const operationId = status === undefined ? undefined : this.operationId;
    this.#refused(requestRefusal(this, { operationId, module: module.name, reason, status }));
  }

  #refused(visit: VisitorRefusal): void {
    this.#services.logRefusal(visit);
    if (this.#observer) this.#observer.refusal = { module: visit.module, reason: visit.reason };
  }

  #guarded(work: () => PipelineStep | Promise<PipelineStep>): PipelineStep | Promise<PipelineStep> {
    const failed = (error: unknown): PipelineStep => {
      this.settle('unasked');
      this.#services.logFailure(error, this.operationId);
      return { kind: 'fail', error: 'moduleFailed', fields: [['Service-Operation-Id', this.operationId]] };
    };
    try {
      const step = work();
      return step instanceof Promise ? step.catch(failed) : step;
    } catch (error) {
      return failed(error);
    }
  }
}

const refusal = (reason: string): ModuleRefusal => ({ kind: 'refuse', error: 'policyFailed', reason });
