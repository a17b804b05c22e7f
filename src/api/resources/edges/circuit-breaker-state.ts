// The circuit breaker of a route, as it is now.

import { builder } from '../../builder/builder.ts';
import type { ShownCircuitBreaker } from '../../dependencies.ts';

const BreakerState = builder.enumType('BreakerState', {
  description: 'What a circuit breaker does with requests.',
  values: {
    CLOSED: { value: 'closed', description: 'They go to the upstream.' },
    OPEN: { value: 'open', description: 'They are turned away with 503.' },
    PROBING: { value: 'probing', description: 'One is being tried; the others are turned away with 503.' },
  } as const,
});

export const CircuitBreakerState = builder.objectRef<ShownCircuitBreaker>('CircuitBreakerState').implement({
  description:
    'A circuit breaker over all nodes of the gateway: each counts the requests that came to it, and what is counted is summed.',
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
    partial: t.exposeBoolean('isPartial', {
      nullable: true,
      description:
        'Whether a node of the gateway did not answer within a second: what it knows is missing. ' +
        'Null where the node that answers has no links to others, and tells of itself alone.',
    }),
  }),
});
