// An edge with a route whose circuit breaker trips after few requests, and its visitors.

import { objectsOf } from './payloads.js';
import { visitName } from './visit.js';

export const DOMAIN = 'edge.tunnel.localhost';
const LABEL = 'browser';

/** The agent's command that serves the edge. */
export const edgeCommand = `labels 3000 --label app=${LABEL}`;

/**
 * @param {(query: string, variables?: object) => Promise<any>} ask
 * @returns {Promise<{ edgeId: string, routeId: string }>}
 */
export async function createEdge(ask) {
  await ask(`mutation { createReservedDomain(input: { domain: "${DOMAIN}" }) { reservedDomain { id } } }`);
  const { backend, edge } = objectsOf(
    await ask(`mutation {
    backend: createTunnelGroupBackend(input: { description: "shops", labels: { app: "${LABEL}" } }) { tunnelGroupBackend { id } }
    edge: createHttpsEdge(input: { description: "front door", hostports: ["${DOMAIN}:443"] }) { httpsEdge { id } }
  }`),
  );
  const input = {
    match: '/',
    matchType: 'PATH_PREFIX',
    backend: { enabled: true, backendId: backend.id },
    circuitBreaker: { volumeThreshold: 4, errorThresholdPercentage: 0.5, trippedDuration: 60 },
  };
  const {
    createHttpsEdgeRoute: { httpsEdgeRoute: createHttpsEdgeRoute },
  } = await ask(
    `mutation ($edgeId: ID!, $input: CreateHttpsEdgeRouteInput!) {
      createHttpsEdgeRoute(edgeId: $edgeId, input: $input) { httpsEdgeRoute { id } }
    }`,
    { edgeId: edge.id, input },
  );
  return { edgeId: edge.id, routeId: createHttpsEdgeRoute.id };
}

/**
 * Sends a request to the edge.
 * @param {string} address host and port of the HTTPS listener
 * @returns {Promise<number>} the status of the response
 */
export async function visitEdge(address) {
  return (await visitName(address, DOMAIN)).status;
}
