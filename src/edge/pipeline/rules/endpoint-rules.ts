// The modules and the routes of an endpoint: of a tunnel that has asked for modules, or of an edge.

import type { ConnectionModule, Responded, TlsParameters } from '../../../http/module.ts';
import type { VisitorError } from '../../../http/visitor-errors.ts';
import type { LiveEndpoint, TrafficRules } from '../../../tunnel/endpoints/endpoint.ts';
import type { CountedRoute } from '../../metrics/request-counter.ts';
import type { ModuleChain } from './module-chain.ts';

/** Which requests of an endpoint are done what to, and where they go. */
export interface HttpRoute {
  /** Of an edge's route; undefined for what is no object of its own. */
  readonly id?: string;
  /** Undefined where nothing is done to them. */
  readonly chain: ModuleChain | undefined;
  /** Whether a WebSocket's messages are the bytes of a TCP connection to upstream. */
  readonly convertsWebsockets: boolean;
  /** Where its requests are counted by themselves: of the routes of edges. */
  readonly counted?: CountedRoute | undefined;
  /** Where the request goes: to the endpoint itself, to whose turn it is; or what it is answered with. It never rejects. */
  upstream(endpoint: LiveEndpoint): RouteUpstream | Promise<RouteUpstream>;
}

/** What serves a request: an endpoint, or an answer that the gateway gives itself; or why nothing does. */
export type RouteUpstream = LiveEndpoint | Responded | VisitorError;

export interface EndpointRules extends TrafficRules {
  /** What connections have to pass before anything else. */
  readonly connection: readonly ConnectionModule[];
  /**
   * How TLS is ended; undefined: as everywhere. A connection is for the very terms that its handshake had: where they are
   * others now, the visitor has to connect anew.
   */
  readonly tls: TlsParameters | undefined;
  /** @param target of the request, in origin-form. */
  route(target: string): HttpRoute | VisitorError;
}

export function endpointRulesOf(endpoint: LiveEndpoint): EndpointRules | undefined {
  return endpoint.rules as EndpointRules | undefined; // The edge makes all rules.
}
