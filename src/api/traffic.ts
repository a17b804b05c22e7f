// What the API shows of traffic: it is in the memory of the node that is asked, and nowhere else.

import type { CircuitBreakerSnapshot } from '../http/circuit-breaker.ts';
import type { EndpointTraffic } from '../tunnel/endpoints/endpoint-registry.ts';
import type { RoundTrip } from '../tunnel/session/session-types.ts';

export interface TrafficState {
  /** The circuit breaker of a route as it is on this node; undefined when the route has none that acts. */
  breaker(routeId: string): CircuitBreakerSnapshot | undefined;
  /** Of any account; undefined when this node does not serve the endpoint. */
  endpoint(id: string): EndpointTraffic | undefined;
  /** The last sign of life of an agent; undefined when its session is not on this node, or has given none yet. */
  roundTrip(sessionId: string): RoundTrip | undefined;
}

/** The parts of the data plane that know it. */
interface Plane {
  edges: Pick<TrafficState, 'breaker'>;
  sessions: Pick<TrafficState, 'roundTrip'>;
  endpoints: { trafficOf: TrafficState['endpoint'] };
}

/** @param plane is there by the time that anybody asks. */
export function trafficOf(plane: () => Plane): TrafficState {
  return {
    breaker: (routeId) => plane().edges.breaker(routeId),
    endpoint: (id) => plane().endpoints.trafficOf(id),
    roundTrip: (sessionId) => plane().sessions.roundTrip(sessionId),
  };
}
