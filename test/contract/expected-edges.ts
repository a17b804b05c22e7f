// What edges and their routes look like in an answer, with modules that are not set.

import { common, type Json } from './expected-common.ts';
import type { World } from './world.ts';

export const route = (world: World, edgeId: string, got: Json, own: object) => ({
  ...common(world, 'edghtsrt', `/edges/https/${edgeId}/routes`, got),
  edge_id: edgeId,
  backend: null,
  ip_restriction: null,
  circuit_breaker: null,
  compression: null,
  request_headers: null,
  response_headers: null,
  webhook_verification: null,
  websocket_tcp_converter: null,
  upstream: null,
  user_agent_filter: null,
  basic_auth: null,
  oauth: null,
  oidc: null,
  policy: null,
  traffic_policy: null,
  ...own,
});

export const httpsEdge = (world: World, got: Json, own: object) => ({
  ...common(world, 'edghts', '/edges/https', got),
  hostports: [],
  mutual_tls: null,
  tls_termination: null,
  routes: [],
  ...own,
});

export const tcpEdge = (world: World, got: Json, own: object) => ({
  ...common(world, 'edgtcp', '/edges/tcp', got),
  hostports: null,
  backend: null,
  ip_restriction: null,
  policy: null,
  traffic_policy: null,
  ...own,
});

export const tlsEdge = (world: World, got: Json, own: object) => ({
  ...common(world, 'edgtls', '/edges/tls', got),
  hostports: [],
  backend: null,
  ip_restriction: null,
  mutual_tls: null,
  tls_termination: null,
  policy: null,
  traffic_policy: null,
  ...own,
});
