// A module that takes its time with requests and with answers, as a test says.

import type { EndpointRules } from '../../../src/edge/pipeline/rules/endpoint-rules.ts';
import { ModuleChain } from '../../../src/edge/pipeline/rules/module-chain.ts';
import type { HttpModule, UpstreamOutcome, Verdict } from '../../../src/http/module.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';

/** Waits until a test says what is to become of a request, or an answer. */
export class Gate {
  readonly reached: Promise<void>;
  #reach: () => void = () => {};
  #decide: (verdict: Verdict) => void = () => {};

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  wait(): Promise<Verdict> {
    this.#reach();
    return new Promise((resolve) => {
      this.#decide = resolve;
    });
  }

  open(verdict?: Verdict): void {
    this.#decide(verdict);
  }
}

export class Waiting {
  /** What the module was told of upstream. */
  readonly outcomes: UpstreamOutcome[] = [];
  #requests: Gate | undefined;
  #answers: Gate | undefined;

  /** All requests from now on wait at the gate. */
  holdRequests(): Gate {
    this.#requests = new Gate();
    return this.#requests;
  }

  /** All answers from now on. They get the field `x-seen`. */
  holdAnswers(): Gate {
    this.#answers = new Gate();
    return this.#answers;
  }

  /** For an endpoint. */
  get rules(): EndpointRules {
    const module: HttpModule = {
      name: 'waits',
      onRequest: () => this.#requests?.wait(),
      onResponse: (exchange) => {
        exchange.response?.fields.add('x-seen', 'yes');
        return this.#answers?.wait();
      },
      onOutcome: (_, outcome) => void this.outcomes.push(outcome),
    };
    const upstream = (endpoint: LiveEndpoint) => endpoint;
    const route = { chain: new ModuleChain([module]), convertsWebsockets: false, upstream };
    return { connection: [], tls: undefined, route: () => route };
  }
}
