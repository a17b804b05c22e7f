// What the API shows of traffic: it is in the memory of the node that is asked, and nowhere else.

import type { BreakerSnapshot } from '../edge/modules/breaker.ts';

export interface TrafficState {
  /** The circuit breaker of a route as it is on this node; undefined when the route has none that acts. */
  breaker(routeId: string): BreakerSnapshot | undefined;
}
