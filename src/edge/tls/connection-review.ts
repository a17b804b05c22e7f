// Open connections, and the terms of TLS that each was made on: when those change, the visitor has to come anew.

import type { Socket } from 'node:net';
import type { TlsParameters } from '../../http/module.ts';
import { abortSocket } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { type EndpointRules, endpointRulesOf } from '../pipeline/endpoint-rules.ts';
import { isSameTlsParameters } from './tls-parameters.ts';

interface Bound {
  name: string;
  endpoint: LiveEndpoint;
  terms: TlsParameters | undefined;
}

export class TlsConnectionReview {
  readonly #find: (name: string) => LiveEndpoint | undefined;
  readonly #bound = new Map<Socket, Bound>();

  /** @param find what serves a name now. */
  constructor(find: (name: string) => LiveEndpoint | undefined) {
    this.#find = find;
  }

  /** Before the handshake: it is to fail where the terms change meanwhile. */
  bind(raw: Socket, name: string, endpoint: LiveEndpoint, rules: EndpointRules): void {
    this.#bound.set(raw, { name, endpoint, terms: rules.tls });
    raw.once('close', () => this.#bound.delete(raw));
  }

  /** Cuts the visitors whom the terms would not let in any more as they did. */
  review(): void {
    for (const [raw, { name, endpoint, terms }] of this.#bound) {
      if (endpoint.isOpen) continue; // One that is changed is closed, and another one takes its place.
      const now = this.#find(name);
      if (!isSameTlsParameters(now && endpointRulesOf(now)?.tls, terms)) abortSocket(raw);
    }
  }
}
