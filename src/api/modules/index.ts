// Which modules there are, and what they belong to. A new module adds its line to the list of its host.

import { backendOfRoute, backendOfTlsEdge } from './backend.ts';
import { basicAuth } from './basic-auth.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { compression } from './compression.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { ipRestrictionOfRoute, ipRestrictionOfTlsEdge } from './ip-restriction.ts';
import type { AnyApiModule } from './module.ts';
import { moduleOperations } from './module-operations.ts';
import { mutualTlsOfHttpsEdge, mutualTlsOfTlsEdge } from './mutual-tls.ts';
import { policyOfRoute, policyOfTlsEdge } from './policy.ts';
import { tlsTerminationOfHttpsEdge, tlsTerminationOfTlsEdge } from './tls-termination.ts';
import { trafficPolicyOfRoute, trafficPolicyOfTlsEdge } from './traffic-policy.ts';
import { userAgentFilter } from './user-agent-filter.ts';
import { webhookVerification } from './webhook-verification.ts';
import { websocketTcpConverter } from './websocket-tcp-converter.ts';

export const httpsEdgeModules: AnyApiModule[] = [mutualTlsOfHttpsEdge, tlsTerminationOfHttpsEdge];
export const httpsEdgeRouteModules: AnyApiModule[] = [
  backendOfRoute,
  ipRestrictionOfRoute,
  circuitBreaker,
  compression,
  requestHeaders,
  responseHeaders,
  webhookVerification,
  websocketTcpConverter,
  userAgentFilter,
  basicAuth,
  policyOfRoute,
  trafficPolicyOfRoute,
];
export const tlsEdgeModules: AnyApiModule[] = [
  backendOfTlsEdge,
  ipRestrictionOfTlsEdge,
  mutualTlsOfTlsEdge,
  tlsTerminationOfTlsEdge,
  policyOfTlsEdge,
  trafficPolicyOfTlsEdge,
];

const all = [...httpsEdgeModules, ...httpsEdgeRouteModules, ...tlsEdgeModules];

export const routes = all.flatMap((module) => moduleOperations(module));
