// How a route's circuit breaker is doing right now, on the node that is asked.

import type { CircuitBreakerSnapshot } from '../../../http/circuit-breaker.ts';
import { builder } from '../../builder.ts';

const BreakerState = builder.enumType('BreakerState', {
  description: 'What a circuit breaker does with requests.',
  values: {
    closed: { description: 'They go to the upstream.' },
    open: { description: 'They are turned away with 503.' },
    probing: { description: 'One is being tried; the others are turned away with 503.' },
  } as const,
});

export const CircuitBreakerState = builder.objectRef<CircuitBreakerSnapshot>('CircuitBreakerState').implement({
  description: 'A circuit breaker as this node of the gateway sees it; each node counts for itself.',
  fields: (t) => ({
    state: t.expose('state', { type: BreakerState, description: 'What it does with requests.' }),
    requests: t.exposeInt('requests', { description: 'Completed requests in the rolling window.' }),
    failures: t.exposeInt('failures', {
      description: 'How many of them failed: the upstream answered with 500 or more, or not at all.',
    }),
    retryIn: t.float({
      nullable: true,
      description: 'Seconds until a request is let through to see how the upstream is; null while it is not open.',
      resolve: ({ openUntil }) => (openUntil === undefined ? null : openUntil / 1000),
    }),
  }),
});
