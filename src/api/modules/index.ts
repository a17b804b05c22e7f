// Which modules there are, and what they belong to. A new module adds its line to the list of its host.

import { basicAuth } from './authentication/basic-auth.ts';
import { mutualTlsOfHttpsEdge, mutualTlsOfTlsEdge } from './authentication/mutual-tls.ts';
import { oauth } from './authentication/oauth.ts';
import { oidc } from './authentication/oidc.ts';
import { webhookVerification } from './authentication/webhook-verification.ts';
import { backendOfRoute, backendOfTcpEdge, backendOfTlsEdge } from './backend.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { compression } from './compression.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { ipRestrictionOfRoute, ipRestrictionOfTcpEdge, ipRestrictionOfTlsEdge } from './ip-restriction.ts';
import type { AnyApiModule } from './module.ts';
import { moduleOperations } from './module-operations.ts';
import { policyOfRoute, policyOfTcpEdge, policyOfTlsEdge } from './policy.ts';
import { tlsTerminationOfHttpsEdge, tlsTerminationOfTlsEdge } from './tls-termination.ts';
import { trafficPolicyOfRoute, trafficPolicyOfTcpEdge, trafficPolicyOfTlsEdge } from './traffic-policy.ts';
import { upstream } from './upstream.ts';
import { userAgentFilter } from './user-agent-filter.ts';
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
  upstream,
  userAgentFilter,
  basicAuth,
  oauth,
  oidc,
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

export const tcpEdgeModules: AnyApiModule[] = [
  backendOfTcpEdge,
  ipRestrictionOfTcpEdge,
  policyOfTcpEdge,
  trafficPolicyOfTcpEdge,
];

const all = [...httpsEdgeModules, ...httpsEdgeRouteModules, ...tlsEdgeModules, ...tcpEdgeModules];

export const routes = all.flatMap((module) => moduleOperations(module));
