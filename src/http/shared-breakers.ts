// Circuit breakers of several nodes: all follow the transitions of any, and those of workers of one machine count together.

import { LRUCache } from 'lru-cache';
import { Broadcast } from '../cluster/broadcast.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import type { BreakerLink, BreakerTransition, FollowingBreaker } from './module.ts';

const BREAKER_TRANSITIONS = 'breakerTransitions';
const BREAKER_OUTCOMES = 'breakerOutcomes';
/** How long outcomes wait for others, before the other workers are told of them; milliseconds. */
const OUTCOMES_MS = 100;
/** The most breakers that follow others, and the most transitions that are remembered for those that join later. */
const BREAKERS_MAX = 10_000;

interface IdentifiedTransition extends BreakerTransition {
  id: string;
}

/** Requests that were completed at one worker. */
interface IdentifiedOutcomes {
  id: string;
  requests: number;
  failures: number;
}

export class SharedBreakers {
  readonly #now: () => number;
  /** Those of routes and tunnels that are gone are collected. */
  readonly #breakers = new LRUCache<string, WeakRef<FollowingBreaker>>(boundedTo(BREAKERS_MAX));
  /** The last transitions of breakers that are not closed, and until when they last. */
  readonly #transitions = new LRUCache<string, { state: 'open' | 'probing'; until: number }>(boundedTo(BREAKERS_MAX));
  readonly #broadcast: Broadcast<IdentifiedTransition>;
  readonly #toWorkers: Broadcast<IdentifiedOutcomes>;
  /** What the other workers have not been told of yet. */
  #outcomes = new Map<string, IdentifiedOutcomes>();

  /** @param now a monotonic clock, in milliseconds. */
  constructor(cluster: ClusterAccess, now: () => number) {
    this.#now = now;
    this.#broadcast = new Broadcast(cluster, {
      method: BREAKER_TRANSITIONS,
      batchMs: 0,
      onItem: (transition) => this.#follow(transition),
    });
    this.#toWorkers = new Broadcast(cluster, {
      method: BREAKER_OUTCOMES,
      batchMs: 0,
      isOfMachine: true,
      onItem: ({ id, requests, failures }) => this.#breakers.get(id)?.deref()?.addOutcomes(requests, failures),
    });
  }

  join(id: string, breaker: FollowingBreaker): BreakerLink {
    this.#breakers.set(id, new WeakRef(breaker));
    const { state, until } = this.#transitions.get(id) ?? {};
    const forMs = (until ?? 0) - this.#now();
    if (state && forMs > 0) breaker.follow({ state, forMs });
    return {
      tell: (transition) => {
        this.#remember({ id, ...transition });
        this.#broadcast.send({ id, ...transition });
      },
      count: (hasFailed) => this.#count(id, hasFailed),
    };
  }

  #count(id: string, hasFailed: boolean): void {
    if (this.#outcomes.size === 0) setTimeout(() => this.#tellOutcomes(), OUTCOMES_MS).unref();
    const counted = this.#outcomes.get(id) ?? { id, requests: 0, failures: 0 };
    this.#outcomes.set(id, counted);
    counted.requests++;
    if (hasFailed) counted.failures++;
  }

  #tellOutcomes(): void {
    for (const counted of this.#outcomes.values()) this.#toWorkers.send(counted);
    this.#outcomes = new Map();
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
