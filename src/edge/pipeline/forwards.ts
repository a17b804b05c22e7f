// Where policies send a request on to, and where they may not.

import type { TlsParameters } from '../../http/module.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { type EndpointRules, endpointRulesOf } from './endpoint-rules.ts';
import { HOPS_MAX } from './module-chain.ts';
import { type ModuleResult, policyRefusal } from './refusal.ts';

/**
 * Whether an endpoint wants to see a certificate that nobody has been asked for: only a TLS handshake on its own terms does that.
 * @param visited the terms of the handshake that there was.
 */
export function lacksCertificate(visited: TlsParameters | undefined, reached: EndpointRules | undefined): boolean {
  const { clientAuthorities, clientVerification } = reached?.tls ?? {};
  if (!clientAuthorities || clientVerification === 'request') return false;
  const asked = [visited?.clientAuthorities, visited?.clientVerification];
  return JSON.stringify(asked) !== JSON.stringify([clientAuthorities, clientVerification]);
}

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
    if (lacksCertificate(this.#visited, endpointRulesOf(endpoint)))
      return `${endpoint.publicUrl} requires a client certificate, which was not asked for where the visitor came in`;
    return undefined;
  }
}
