// One request on its way through the modules of its endpoint, and back. The request pipeline does what is decided here.

import type { HttpExchange, HttpResponse, ModuleDecisions, ServiceOrigin, UpstreamTerms } from '../../http/exchange.ts';
import { answerByName, askByName, originOf } from '../../http/host-rewrite.ts';
import type { Responded, UpstreamOutcome } from '../../http/module.ts';
import { type VisitorError, visitorErrors } from '../../http/visitor-errors.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { isSharedCookie } from '../codec/shared-cookies.ts';
import type { RequestCounter } from '../metrics/request-counter.ts';
import type { LoggedRequest } from '../reports/logged-request.ts';
import type { RequestRecording } from '../reports/request-recording.ts';
import type { RequestObserver } from '../reports/traffic-reports.ts';
import type { ConnectionInfo } from '../visitors/connection-info.ts';
import type { RequestClient } from './clients.ts';
import { admitConnection } from './connection-admission.ts';
import { ConnectionView } from './connection-view.ts';
import { ExchangeLifetime } from './exchange-lifetime.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import { ModuleResponse, UpstreamResponse } from './pipeline-response.ts';
import { ABORTED, PASS, type PipelineStep } from './pipeline-step.ts';
import { type EndpointRules, endpointRulesOf, type HttpRoute, type RouteUpstream } from './rules/endpoint-rules.ts';
import { Forwards } from './rules/forwards.ts';
import type { Decision, ForwardHop } from './rules/module-chain.ts';
import { type ModuleResult, policyRefusal, requestRefusal, type VisitorRefusal } from './rules/refusal.ts';
import type { PipelineServices, VisitorRestriction } from './services.ts';

export class ModulePipeline extends ConnectionView implements HttpExchange {
  readonly request: PipelineRequest;
  response: HttpResponse | undefined;
  endpoint: LiveEndpoint;
  readonly entrance: LiveEndpoint;
  readonly decisions: ModuleDecisions | undefined;
  readonly lifetime: ExchangeLifetime;
  readonly upstreamTerms: UpstreamTerms = {};
  /** Where the reason of a refusal is recorded. */
  readonly #observer: RequestObserver | undefined;
  readonly #logged: LoggedRequest | undefined;
  readonly #connection: ConnectionInfo;
  readonly #services: PipelineServices;
  readonly #sharedDomains: readonly string[];
  readonly #counter: Pick<RequestCounter, 'takeRoute' | 'refuse'>;
  /** The chains that the request has passed, one for each endpoint that has modules. */
  readonly #chains: ForwardHop[] = [];
  #memory: Map<object, unknown> | undefined;
  #operationId: string | undefined;
  #forwards: Forwards | undefined;
  /** The name by which the service was asked, where that is not the endpoint's. */
  #askedBy: ServiceOrigin | undefined;
  #isSettled = false;

  constructor(
    endpoint: LiveEndpoint,
    request: PipelineRequest,
    { listener, connection }: RequestClient,
    recording: Pick<RequestRecording, 'decisions' | 'observer'> | undefined,
    counter: Pick<RequestCounter, 'takeRoute' | 'refuse'>,
    logged: LoggedRequest | undefined,
    cut: () => void,
  ) {
    super(connection);
    this.lifetime = new ExchangeLifetime(cut);
    this.endpoint = endpoint;
    this.entrance = endpoint;
    this.request = request;
    this.decisions = recording?.decisions;
    this.#observer = recording?.observer;
    this.#logged = logged;
    this.#connection = connection;
    this.#services = listener.services;
    this.#sharedDomains = listener.settings.sharedDomains;
    this.#counter = counter;
  }

  get memory(): Map<object, unknown> {
    this.#memory ??= new Map();
    return this.#memory;
  }

  endWith(hold: (cut: () => void) => () => void): void {
    this.lifetime.endWith(hold);
  }

  get operationId(): string {
    this.#operationId ??= this.#services.newOperationId();
    return this.#operationId;
  }

  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  /** Sends the request through the modules of its endpoint, and of those that it is forwarded to. Never rejects. */
  handleRequest(first?: VisitorRestriction): PipelineStep | Promise<PipelineStep> {
    return this.#guarded(() => {
      const verdict = first?.onRequest(this);
      return first && verdict ? this.#decided({ module: first, verdict }) : this.#enter(this.endpoint);
    });
  }

  /** Makes of the request what its modules want for the way to the service. @returns what they want besides. */
  applyTerms({ forwardsTo }: LiveEndpoint): UpstreamTerms {
    this.#askedBy = originOf(this.upstreamTerms.host, forwardsTo);
    if (this.#askedBy) askByName(this.request, this.#askedBy);
    return this.upstreamTerms;
  }

  /** Sends the response of upstream through the modules. Never rejects. */
  handleResponse(response: UpstreamResponse): PipelineStep | Promise<PipelineStep> {
    this.response = response;
    this.settle(response.status);
    return this.#guarded(() => {
      if (this.#askedBy) answerByName(response, this.request, this.#askedBy);
      return this.#respond(this.#chains.length - 1);
    });
  }

  /** Tells the modules what upstream did; once. */
  settle(outcome: UpstreamOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const hop of this.#chains) hop.chain.settle(this, hop, outcome);
  }

  /** The body of the response, which has begun, cannot be changed as a policy wants. */
  gaveUp(reason: string): void {
    this.#log({ module: { name: 'traffic_policy' } }, reason, undefined);
  }

  #enter(endpoint: LiveEndpoint): PipelineStep | Promise<PipelineStep> {
    this.endpoint = endpoint;
    const rules = endpointRulesOf(endpoint);
    if (!rules) return { kind: 'upstream', endpoint, convertsWebsockets: false };
    if (rules.connection.length === 0 || this.#connection.admitted.has(rules)) return this.#pass(rules);
    return this.#admit(rules);
  }

  /** Runs the connection modules where that was not done before there was a request. */
  async #admit(rules: EndpointRules): Promise<PipelineStep> {
    const logRefusal = (refusal: VisitorRefusal) => this.#logRefusal(refusal);
    const endpoint = await admitConnection(this, rules, { ...this.#services, logRefusal });
    if (!endpoint) {
      this.settle('unasked');
      this.#counter.refuse();
      return { kind: 'close' };
    }
    this.#connection.admitted.add(rules);
    const ownRules = endpointRulesOf(endpoint);
    return ownRules ? this.#pass(ownRules) : { kind: 'upstream', endpoint, convertsWebsockets: false };
  }

  #pass(rules: EndpointRules): PipelineStep | Promise<PipelineStep> {
    if (this.#isSettled) return ABORTED;
    const route = rules.route(this.request.target);
    if (typeof route === 'string') return this.#failed(route);
    if (route.counted) this.#counter.takeRoute(route.counted);
    if (this.#logged) this.#logged.routeId ??= route.id;
    if (!route.chain) return this.#toUpstream(route);
    const hop: ForwardHop = { chain: route.chain, passed: 0 };
    this.#chains.push(hop);
    const decision = route.chain.request(this, hop);
    if (decision instanceof Promise)
      return decision.then((later) => {
        if (this.#isSettled) return ABORTED;
        return later ? this.#decided(later) : this.#toUpstream(route);
      });
    return decision ? this.#decided(decision) : this.#toUpstream(route);
  }

  #toUpstream({ upstream, convertsWebsockets }: HttpRoute): PipelineStep | Promise<PipelineStep> {
    const go = (found: RouteUpstream): PipelineStep | Promise<PipelineStep> => {
      if (typeof found === 'string') return this.#failed(found, 'failed');
      if (!('kind' in found)) return { kind: 'upstream', endpoint: found, convertsWebsockets };
      this.settle('unasked');
      this.response = new ModuleResponse(found);
      return this.#respond(this.#chains.length - 1);
    };
    const found = upstream(this.endpoint);
    return found instanceof Promise ? found.then(go) : go(found);
  }

  #failed(error: VisitorError, outcome: UpstreamOutcome = 'unasked'): PipelineStep {
    this.settle(outcome);
    return { kind: 'fail', error, fields: [] };
  }

  /** @param modules how many of the hop are still to be passed; all that the request has passed when left out. */
  #respond(from: number, modules?: number): PipelineStep | Promise<PipelineStep> {
    for (let at = from; at >= 0; at--) {
      const hop = this.#chains[at] as ForwardHop;
      const decision = hop.chain.response(this, hop, at === from ? (modules ?? hop.passed) : hop.passed);
      if (decision instanceof Promise)
        return decision.then((later) => {
          if (this.lifetime.isAbandoned) return ABORTED;
          return later ? this.#replaced(later, at) : this.#respond(at - 1);
        });
      if (decision) return this.#replaced(decision, at);
    }
    const { response } = this;
    // Of upstream's own fields the head has left them out already.
    if (response && (!(response instanceof UpstreamResponse) || response.isChanged))
      response.fields.removeIf((line) => isSharedCookie(line, this.#sharedDomains));
    const whole = response instanceof UpstreamResponse ? response.whole : response;
    return whole instanceof ModuleResponse ? { kind: 'answer', answer: whole.finished(this.decisions) } : PASS;
  }

  /** A module has replaced the response that came: the modules before it get the new one. */
  #replaced(decision: Decision, hop: number): PipelineStep | Promise<PipelineStep> {
    const { verdict, at } = decision;
    if (verdict.kind !== 'answer') return this.#refuse(decision);
    this.response = this.#responseOf(decision, verdict);
    return this.#respond(hop, at);
  }

  /** A module has decided on the request. */
  #decided(result: ModuleResult): PipelineStep | Promise<PipelineStep> {
    if (result.verdict.kind === 'forward') this.#forwards ??= new Forwards(this.entrance);
    const decision = this.#forwards?.checked(result) ?? result;
    const { verdict } = decision;
    if (verdict.kind === 'forward') return this.#enter(verdict.endpoint);
    this.settle('unasked');
    if (verdict.kind !== 'answer') return this.#refuse(decision);
    this.response = this.#responseOf(decision, verdict);
    return this.#respond(this.#chains.length - 1);
  }

  #responseOf(decision: ModuleResult, answer: Responded): ModuleResponse {
    const response = new ModuleResponse(answer);
    if (answer.reason !== undefined) {
      this.#log(decision, answer.reason, answer.status);
      response.fields.set('Service-Operation-Id', this.operationId);
    }
    return response;
  }

  #refuse(decision: ModuleResult): PipelineStep {
    const { verdict } = decision;
    if (verdict.kind === 'close') {
      this.#log(decision, verdict.reason, undefined);
      this.#counter.refuse();
      return { kind: 'close' };
    }
    const { error, reason, fields = [] } = verdict.kind === 'refuse' ? verdict : policyRefusal('it cannot be sent on');
    this.#log(decision, reason, visitorErrors[error].status);
    return { kind: 'fail', error, fields: [...fields, ['Service-Operation-Id', this.operationId]] };
  }

  #log({ module }: Pick<ModuleResult, 'module'>, reason: string, status: number | undefined): void {
    const operationId = status === undefined ? undefined : this.operationId;
    this.#logRefusal(requestRefusal(this, { operationId, module: module.name, reason, status }));
  }

  #logRefusal(refusal: VisitorRefusal): void {
    this.#services.logRefusal(refusal);
    if (this.#observer) this.#observer.refusal = { module: refusal.module, reason: refusal.reason };
    this.#logged?.refused(refusal, refusal.operationId);
  }

  #guarded(work: () => PipelineStep | Promise<PipelineStep>): PipelineStep | Promise<PipelineStep> {
    const failed = (error: unknown): PipelineStep => {
      this.settle('unasked');
      this.#services.logFailure(error, this.operationId);
      if (this.#logged) this.#logged.operationId = this.operationId;
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
