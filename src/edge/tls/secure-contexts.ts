// What visitors are shown for the name that they ask for, where nothing else is said of it.

import type { SecureContext } from 'node:tls';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { type Certificates, contextOf } from './certificates.ts';

export class SecureContexts {
  readonly #certificates: Certificates;
  /** Of agents' own certificates. */
  readonly #agents = new WeakMap<object, SecureContext>();

  constructor(certificates: Certificates) {
    this.#certificates = certificates;
  }

  /**
   * @param isNobodys whether a name without an endpoint is nobody's; it is asked only where there is no certificate.
   * @returns undefined for a name that is nobody's.
   */
  async for(
    name: string,
    endpoint: LiveEndpoint | undefined,
    isNobodys: () => boolean,
  ): Promise<SecureContext | undefined> {
    if (endpoint && typeof endpoint.tls === 'object') return this.#agentsContext(endpoint.tls);
    const context = await this.#certificates.secureContext(name, endpoint?.hostname);
    if (context || endpoint) return context;
    // Of a name that is somebody's, the visitor is told over TLS what is wrong with it.
    return isNobodys() ? undefined : this.#certificates.secureContext(name, name);
  }

  #agentsContext(pair: { certificate: string; key: string }): SecureContext {
    const known = this.#agents.get(pair);
    if (known) return known;
    const context = contextOf({ cert: pair.certificate, key: pair.key });
    this.#agents.set(pair, context);
    return context;
  }
}
