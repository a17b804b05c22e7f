// The requests of policies to internal endpoints: each comes to its endpoint as a visitor's does, so that its rules, its
// restrictions and its figures are the same. No listener is in between, and nothing that visitors send leads here.

import type { Duplex } from 'node:stream';
import { OutboundFailed } from '../../http/outbound.ts';
import { termsRequireCertificate } from '../../http/tls-terms.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { setProxiedPeer } from '../../tunnel/network/peer.ts';
import { Http1Connections } from '../http1/connections.ts';
import { createHttpCounters } from '../metrics/counters.ts';
import { endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { EdgeSettings } from '../settings.ts';
import { ConnectionLimit } from '../visitors/connection-limit.ts';
import { InnerSocket } from './inner-socket.ts';

/** More than there are: who sends the requests limits them, by account too. */
const CONNECTIONS_MAX = 4096;

export interface InternalCallsOptions {
  settings: EdgeSettings;
  services: PipelineServices;
  /** A clock that never goes back, in milliseconds. */
  now(): number;
}

export class InternalCalls {
  readonly #options: InternalCallsOptions;
  readonly #connections: Http1Connections;
  /** They hold no places of visitors, who wait for them. */
  readonly #limit = new ConnectionLimit(CONNECTIONS_MAX, CONNECTIONS_MAX);
  /** Not those of a listener: its figures are what comes from outside. */
  readonly #counters = createHttpCounters();

  constructor(options: InternalCallsOptions) {
    this.#options = options;
    this.#connections = new Http1Connections(options.settings, options.now);
  }

  /**
   * Connects to an internal endpoint: what is sent is served as HTTP/1.1 without TLS.
   * @param visitor for whom; the endpoint is told so, and its rules apply to them.
   * @returns the client's end, which whoever asked for it closes.
   * @throws {OutboundFailed} when the endpoint wants to see a certificate of its visitors: a policy has none to show.
   */
  connect(endpoint: LiveEndpoint, visitor: Visitor): Duplex {
    if (termsRequireCertificate(endpointRulesOf(endpoint)?.tls))
      throw new OutboundFailed(`${endpoint.publicUrl} requires a client certificate, and a policy has none`);
    const { settings, services, now } = this.#options;
    const [client, server] = InnerSocket.pair();
    setProxiedPeer(server.asSocket, visitor, 0);
    const slot = this.#limit.admit(server.asSocket);
    if (!slot) return client.destroy();
    const context = {
      scheme: endpoint.proto === 'https' ? 'https' : 'http',
      find: () => endpoint,
      resolve: async () => endpoint,
      ...{ settings, services, now, counters: this.#counters },
    } as const;
    this.#connections.accept(server.asSocket, context, slot);
    return client;
  }

  /** Closes what is idle. To be called when there are no visitors any more. */
  close(): void {
    this.#connections.stop(0);
  }
}
