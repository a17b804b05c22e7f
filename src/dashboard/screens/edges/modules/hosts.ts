// What modules belong to, and how they are changed there.

import { addressOf, addressOfRoute } from '../../../data/addresses.ts';
import type { Operation } from '../../../data/operation.ts';
import * as known from '../../../generated/operations.ts';

/** An edge or a route that has modules. */
export interface Host {
  kind: 'httpsEdge' | 'tlsEdge' | 'httpsEdgeRoute';
  id: string;
  /** The edge of a route. */
  edgeId?: string;
  /** What a visitor would ask for there, as far as it is known. */
  visit: string;
}

/** What names a host to its operations. */
export type Where = Pick<Host, 'id' | 'edgeId'>;

export function whereOf({ id, edgeId }: Host): Where {
  return edgeId === undefined ? { id } : { id, edgeId };
}

export function addressOfHost({ kind, id, edgeId }: Host): string {
  return edgeId === undefined ? addressOf(kind, id) : addressOfRoute(edgeId, id);
}

export const nouns = { httpsEdge: 'edge', tlsEdge: 'edge', httpsEdgeRoute: 'route' };

/** Changes modules, each of which is replaced as a whole. */
export type Save = Operation<unknown, Where & { input: object }>;
/** Unsets one module. */
export type Unset = Operation<unknown, Where>;

// Each of these takes what names its host, and knows the inputs of its host's modules, which the tables are of.
const save = (operation: unknown) => operation as Save;
const unsets = (operations: object) => operations as Record<string, Unset>;

export const saves: Record<Host['kind'], Save> = {
  httpsEdge: save(known.UpdateHttpsEdge),
  tlsEdge: save(known.UpdateTlsEdge),
  httpsEdgeRoute: save(known.UpdateHttpsEdgeRoute),
};

export const unsetsOf: Record<Host['kind'], Record<string, Unset>> = {
  httpsEdge: unsets({
    mutualTls: known.UnsetHttpsEdgeMutualTls,
    tlsTermination: known.UnsetHttpsEdgeTlsTermination,
  }),
  tlsEdge: unsets({
    backend: known.UnsetTlsEdgeBackend,
    ipRestriction: known.UnsetTlsEdgeIpRestriction,
    mutualTls: known.UnsetTlsEdgeMutualTls,
    tlsTermination: known.UnsetTlsEdgeTlsTermination,
    trafficPolicy: known.UnsetTlsEdgeTrafficPolicy,
    policy: known.UnsetTlsEdgePolicy,
  }),
  httpsEdgeRoute: unsets({
    backend: known.UnsetRouteBackend,
    ipRestriction: known.UnsetRouteIpRestriction,
    circuitBreaker: known.UnsetRouteCircuitBreaker,
    compression: known.UnsetRouteCompression,
    requestHeaders: known.UnsetRouteRequestHeaders,
    responseHeaders: known.UnsetRouteResponseHeaders,
    webhookVerification: known.UnsetRouteWebhookVerification,
    websocketTcpConverter: known.UnsetRouteWebsocketTcpConverter,
    userAgentFilter: known.UnsetRouteUserAgentFilter,
    basicAuth: known.UnsetRouteBasicAuth,
    trafficPolicy: known.UnsetRouteTrafficPolicy,
    policy: known.UnsetRoutePolicy,
  }),
};
