// Which modules there are, and what they belong to. A new module adds its line to the list of its host.

import { type AnyModule, hostedModule } from '../module.ts';
import { backendOfRoute, backendOfTlsEdge } from './backend.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { mutualTlsOfHttpsEdge, mutualTlsOfTlsEdge } from './mutual-tls.ts';

export const httpsEdgeModules: AnyModule[] = [mutualTlsOfHttpsEdge];
export const httpsEdgeRouteModules: AnyModule[] = [backendOfRoute, circuitBreaker];
export const tlsEdgeModules: AnyModule[] = [backendOfTlsEdge, mutualTlsOfTlsEdge];

export const routes = [...httpsEdgeModules, ...httpsEdgeRouteModules, ...tlsEdgeModules].flatMap((module) =>
  hostedModule(module),
);
