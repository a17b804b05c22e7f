// Open connections with the TLS parameters of each: when those of its endpoint change, the visitor has to connect again.

import type { Socket } from 'node:net';
import type { TlsParameters } from '../../http/module.ts';
import { isSameTlsParameters } from '../../http/tls-terms.ts';
import { abortSocket } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { type EndpointRules, endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';

interface Bound {
  name: string;
  endpoint: LiveEndpoint;
  parameters: TlsParameters | undefined;
}

export class TlsConnectionReview {
  readonly #find: (name: string) => LiveEndpoint | undefined;
  readonly #bound = new Map<Socket, Bound>();

  /** @param find what serves a name now. */
  constructor(find: (name: string) => LiveEndpoint | undefined) {
    this.#find = find;
  }

  /** To be called before the handshake, which is to fail where the parameters change meanwhile. */
  bind(raw: Socket, name: string, endpoint: LiveEndpoint, rules: EndpointRules): void {
    this.#bound.set(raw, { name, endpoint, parameters: rules.tls });
    raw.once('close', () => this.#bound.delete(raw));
  }

  /** Cuts the connections that the parameters of now would not allow. */
  review(): void {
    for (const [raw, { name, endpoint, parameters }] of this.#bound) {
      if (endpoint.isOpen) continue; // One that is changed is closed, and another one takes its place.
      const now = this.#find(name);
      if (!isSameTlsParameters(now && endpointRulesOf(now)?.tls, parameters)) abortSocket(raw);
    }
  }
}
