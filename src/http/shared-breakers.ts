// Circuit breakers of several nodes: all follow the transitions of any.

import { LRUCache } from 'lru-cache';
import { Broadcast } from '../cluster/broadcast.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import type { BreakerTransition, FollowingBreaker } from './module.ts';

const BREAKER_TRANSITIONS = 'breakerTransitions';
/** The most breakers that follow others, and the most transitions that are remembered for those that join later. */
const BREAKERS_MAX = 10_000;

interface IdentifiedTransition extends BreakerTransition {
  id: string;
}

export class SharedBreakers {
  readonly #now: () => number;
  /** Those of routes and tunnels that are gone are collected. */
  readonly #breakers = new LRUCache<string, WeakRef<FollowingBreaker>>(boundedTo(BREAKERS_MAX));
  /** The last transitions of breakers that are not closed, and until when they last. */
  readonly #transitions = new LRUCache<string, { state: 'open' | 'probing'; until: number }>(boundedTo(BREAKERS_MAX));
  readonly #broadcast: Broadcast<IdentifiedTransition>;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(cluster: ClusterAccess, now: () => number) {
    this.#now = now;
    this.#broadcast = new Broadcast(cluster, {
      method: BREAKER_TRANSITIONS,
      batchMs: 0,
      onItem: (transition) => this.#follow(transition),
    });
  }

  join(id: string, breaker: FollowingBreaker): (transition: BreakerTransition) => void {
    this.#breakers.set(id, new WeakRef(breaker));
    const { state, until } = this.#transitions.get(id) ?? {};
    const forMs = (until ?? 0) - this.#now();
    if (state && forMs > 0) breaker.follow({ state, forMs });
    return (transition) => {
      this.#remember({ id, ...transition });
      this.#broadcast.send({ id, ...transition });
    };
  }

  #follow(transition: IdentifiedTransition): void {
    this.#remember(transition);
    this.#breakers.get(transition.id)?.deref()?.follow(transition);
  }

  #remember({ id, state, forMs }: IdentifiedTransition): void {
    if (state === 'closed') this.#transitions.delete(id);
    else this.#transitions.set(id, { state, until: this.#now() + forMs });
  }
}
