// What visitors are shown for the name that they ask for, where nothing else is said of it.

import type { SecureContext } from 'node:tls';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { Certificates, ServedCertificate } from './certificates.ts';

export class SecureContexts {
  readonly #certificates: Certificates;
  /** Of agents' own certificates. */
  readonly #agents = new WeakMap<object, ServedCertificate>();

  constructor(certificates: Certificates) {
    this.#certificates = certificates;
  }

  /**
   * @param heldAs what a name without an endpoint is held by; it is asked only where there is no certificate.
   * @returns undefined for a name that nothing is bound to, and that nobody holds.
   */
  async for(
    name: string,
    endpoint: LiveEndpoint | undefined,
    heldAs: () => string | undefined,
  ): Promise<SecureContext | undefined> {
    if (endpoint && typeof endpoint.tls === 'object') return this.#agentsContext(endpoint.tls, endpoint.hostname);
    const context = await this.#certificates.secureContext(name, endpoint?.hostname);
    if (context || endpoint) return context;
    // Of a name that is somebody's, the visitor is told over TLS what is wrong with it.
    const held = heldAs();
    return held === undefined ? undefined : this.#certificates.secureContext(name, held);
  }

  #agentsContext(pair: { certificate: string; key: string }, servedAs = ''): SecureContext {
    const shown = this.#agents.get(pair) ?? { cert: pair.certificate, key: pair.key };
    this.#agents.set(pair, shown);
    return this.#certificates.contextWith(shown, servedAs);
  }
}
