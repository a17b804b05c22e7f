// An edge with a route whose circuit breaker trips soon, and visitors of it.

import { request } from 'node:https';

const DOMAIN = 'edge.tunnel.localhost';
const LABEL = 'browser';

/** What an agent is told so that it serves the edge. */
export const edgeCommand = `labels 3000 --label app=${LABEL}`;

/**
 * @param {(query: string, variables?: object) => Promise<any>} ask
 * @returns {Promise<{ edgeId: string, routeId: string }>}
 */
export async function makeEdge(ask) {
  await ask(`mutation { createReservedDomain(input: { domain: "${DOMAIN}" }) { id } }`);
  const { backend, edge } = await ask(`mutation {
    backend: createTunnelGroupBackend(input: { description: "shops", labels: { app: "${LABEL}" } }) { id }
    edge: createHttpsEdge(input: { description: "front door", hostports: ["${DOMAIN}:443"] }) { id }
  }`);
  const input = {
    match: '/',
    matchType: 'path_prefix',
    backend: { enabled: true, backendId: backend.id },
    circuitBreaker: { volumeThreshold: 4, errorThresholdPercentage: 0.5, trippedDuration: 60 },
  };
  const { createHttpsEdgeRoute } = await ask(
    `mutation ($edgeId: ID!, $input: CreateHttpsEdgeRouteInput!) {
      createHttpsEdgeRoute(edgeId: $edgeId, input: $input) { id }
    }`,
    { edgeId: edge.id, input },
  );
  return { edgeId: edge.id, routeId: createHttpsEdgeRoute.id };
}

/**
 * @param {string} address of the listener for https: host and port
 * @returns {Promise<number>} the status
 */
export function visitEdge(address) {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    // Whose certificate it is isn't the question here.
    const options = { host, port, servername: DOMAIN, headers: { host: DOMAIN }, rejectUnauthorized: false };
    request(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
