// Where policies send a request on to, and where they may not.

import type { TlsParameters } from '../../../http/module.ts';
import { isSameTlsParameters, termsRequireCertificate } from '../../../http/tls-terms.ts';
import type { LiveEndpoint } from '../../../tunnel/endpoints/endpoint.ts';
import { endpointRulesOf } from './endpoint-rules.ts';
import { HOPS_MAX } from './module-chain.ts';
import { type ModuleResult, policyRefusal } from './refusal.ts';

/** The forwards of one request. */
export class Forwards {
  readonly #visited: TlsParameters | undefined;
  #hops = 0;

  /** @param visited the endpoint that the visitor came to. */
  constructor(visited: LiveEndpoint) {
    this.#visited = endpointRulesOf(visited)?.tls;
  }

  /** A decision as it is, or the refusal to forward the request as it says. Each forward counts. */
  checked(decision: ModuleResult): ModuleResult {
    const { verdict } = decision;
    if (verdict.kind !== 'forward') return decision;
    const obstacle = this.#obstacleTo(verdict.endpoint);
    return obstacle === undefined ? decision : { ...decision, verdict: policyRefusal(obstacle) };
  }

  #obstacleTo(endpoint: LiveEndpoint): string | undefined {
    if (++this.#hops > HOPS_MAX) return 'too many endpoints forward to one another';
    const terms = endpointRulesOf(endpoint)?.tls;
    // Only a handshake on its own terms asks for the certificate.
    if (termsRequireCertificate(terms) && !isSameTlsParameters(this.#visited, terms))
      return `${endpoint.publicUrl} requires a client certificate, which was not asked for where the visitor came in`;
    return undefined;
  }
}
