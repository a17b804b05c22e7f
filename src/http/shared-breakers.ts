// Circuit breakers of several nodes: what one of them turns to, all turn to.

import { LRUCache } from 'lru-cache';
import { Broadcast } from '../cluster/broadcast.ts';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { BreakerTurn, FollowingBreaker } from './module.ts';

const BREAKER_TURNS = 'breakerTurns';
/** The most breakers that follow others, and the most turns that are remembered for those that join later. */
const BREAKERS_MAX = 10_000;

interface IdentifiedTurn extends BreakerTurn {
  id: string;
}

export class SharedBreakers {
  readonly #now: () => number;
  /** Those of routes and tunnels that are gone are collected. */
  readonly #breakers = new LRUCache<string, WeakRef<FollowingBreaker>>({ max: BREAKERS_MAX });
  /** The last turns of breakers that are not closed, and until when they last. */
  readonly #turns = new LRUCache<string, { state: 'open' | 'probing'; until: number }>({ max: BREAKERS_MAX });
  readonly #broadcast: Broadcast<IdentifiedTurn>;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(cluster: ClusterAccess, now: () => number) {
    this.#now = now;
    this.#broadcast = new Broadcast(cluster, {
      method: BREAKER_TURNS,
      batchMs: 0,
      onItem: (turn) => this.#follow(turn),
    });
  }

  join(id: string, breaker: FollowingBreaker): (turn: BreakerTurn) => void {
    this.#breakers.set(id, new WeakRef(breaker));
    const { state, until } = this.#turns.get(id) ?? {};
    const forMs = (until ?? 0) - this.#now();
    if (state && forMs > 0) breaker.follow({ state, forMs });
    return (turn) => {
      this.#remember({ id, ...turn });
      this.#broadcast.send({ id, ...turn });
    };
  }

  #follow(turn: IdentifiedTurn): void {
    this.#remember(turn);
    this.#breakers.get(turn.id)?.deref()?.follow(turn);
  }

  #remember({ id, state, forMs }: IdentifiedTurn): void {
    if (state === 'closed') this.#turns.delete(id);
    else this.#turns.set(id, { state, until: this.#now() + forMs });
  }
}
