// The values of the variables for one visit. Making them costs next to nothing: each is read when an expression asks for it.

import type { HttpExchange } from '../../../http/exchange.ts';
import type { NewConnection } from '../../../http/module.ts';
import type { Bindings, PolicyPhase } from '../vocabulary.ts';
import { variablesOf } from './phase-vocabulary.ts';
import type { CelVariables, EvaluationContext, HttpEvaluationContext, PolicyState } from './variable.ts';

/** What rules are asked about: one of the two, as the phase has it. */
export interface About {
  exchange?: HttpExchange;
  connection?: NewConnection;
}

const classes = {
  on_tcp_connect: bindingsClass(variablesOf.on_tcp_connect),
  on_http_request: bindingsClass(variablesOf.on_http_request),
  on_http_response: bindingsClass(variablesOf.on_http_response),
};

/**
 * Values by the whole names of variables, as they are whenever they are asked for: what an action changed is seen by
 * expressions after it.
 * @param about the connection in `on_tcp_connect`, the exchange in the phases of HTTP.
 */
export function bindingsOf(
  about: About,
  phase: PolicyPhase,
  state: PolicyState,
  environment: EvaluationContext['environment'],
): Bindings {
  const connection = (about.exchange ?? about.connection) as HttpExchange; // Without a request where no variable asks for one.
  return new classes[phase]({ connection, state, environment });
}

/** A getter for each variable on the prototype, and nothing else: `constructor` is no variable. */
function bindingsClass(variables: CelVariables<HttpEvaluationContext>): new (visit: HttpEvaluationContext) => Bindings {
  class VisitBindings {
    readonly #visit: HttpEvaluationContext;

    constructor(visit: HttpEvaluationContext) {
      this.#visit = visit;
    }

    static {
      for (const [name, variable] of Object.entries(variables)) {
        const get = function (this: VisitBindings) {
          return variable.read(this.#visit);
        };
        Object.defineProperty(VisitBindings.prototype, name, { get, enumerable: true });
      }
      Reflect.deleteProperty(VisitBindings.prototype, 'constructor');
      Object.setPrototypeOf(VisitBindings.prototype, null);
    }
  }
  return VisitBindings as unknown as new (
    visit: HttpEvaluationContext,
  ) => Bindings;
}
