// The bindings of variables for one request or connection. They are lazy: a value is read when an expression uses it.

import type { HttpExchange } from '../../../http/exchange.ts';
import type { NewConnection } from '../../../http/module.ts';
import type { Bindings, PolicyPhase } from '../vocabulary.ts';
import { variablesOf } from './phase-vocabulary.ts';
import type { CelVariables, EvaluationContext, HttpEvaluationContext, PolicyState } from './variable.ts';

/** The subject of rules: an exchange or a connection, depending on the phase. */
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
 * Creates the bindings by the full names of variables. Each use reads the current value, so that expressions see what
 * actions before them have changed.
 * @param about the connection in `on_tcp_connect`, the exchange in the HTTP phases.
 */
export function bindingsOf(
  about: About,
  phase: PolicyPhase,
  state: PolicyState,
  environment: EvaluationContext['environment'],
): Bindings {
  const connection = (about.exchange ?? about.connection) as HttpExchange; // In `on_tcp_connect` there is no request; its variables read none.
  return new classes[phase]({ connection, state, environment });
}

/** A class with a getter for each variable on its prototype, and nothing else, as `constructor` is no variable. */
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
