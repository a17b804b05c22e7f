// Rate limits of several nodes. Each node counts its own events, and adds those of the others, which they share every now and
// then: beyond a limit come at most the events that the other nodes have allowed since they shared last. Where a server counts for
// all of them, its count decides as long as it answers.

import { LRUCache } from 'lru-cache';
import type { ClusterAccess } from '../cluster/cluster-query.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import { limiterKey, type RateLimit, RateLimiter } from './rate-limiter.ts';
import type { RedisLimits } from './redis-limits.ts';

const LIMIT_COUNTS = 'limitCounts';
/** The most limits. Those that were not used for their window have nothing to remember. */
const LIMITERS_MAX = 10_000;
/** How often the others are deleted, in milliseconds. */
const PURGE_INTERVAL_MS = 60_000;
/** With so many keys that wait to be shared they are shared at once, so that they fit into a message. */
const KEYS_MAX = 1000;

type Limit = Pick<RateLimit, 'capacity' | 'windowMs'>;
type Counts = [key: string, count: number][];

interface CountsMessage {
  limits: { id: string; limit: Limit; counts: Counts }[];
}

export interface SharedLimitersDeps {
  cluster: ClusterAccess;
  /** The server that counts for all nodes, where there is one. */
  exact?: Pick<RedisLimits, 'take'> | undefined;
  /** The time between two messages, in milliseconds. */
  shareMs: number;
  /** A monotonic clock, in milliseconds. */
  now(): number;
}

export class SharedLimiters {
  readonly #deps: SharedLimitersDeps;
  readonly #limiters: LRUCache<string, RateLimiter>;
  /** What was counted here since the last message. */
  readonly #waiting = new Map<string, { limit: Limit; counts: Map<string, number> }>();
  #keysWaiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #purgedAt = 0;

  constructor(deps: SharedLimitersDeps) {
    this.#deps = deps;
    const { now, cluster } = deps;
    this.#limiters = new LRUCache({ ...boundedTo(LIMITERS_MAX), ttl: 1, updateAgeOnGet: true, perf: { now } });
    cluster.methods.set(LIMIT_COUNTS, async (body) => {
      for (const { id, limit, counts } of (body as CountsMessage).limits) {
        const limiter = this.#limiter(id, limit);
        for (const [key, count] of counts) limiter.add(key, count);
      }
      return {};
    });
  }

  /** Counts an event of a key. @returns 0 when it is allowed, otherwise the milliseconds until the next one is. */
  take(id: string, limit: Limit, key: string): number | Promise<number> {
    const shortKey = limiterKey(key);
    return this.#deps.exact
      ? this.#takeExactly(this.#deps.exact, id, limit, shortKey)
      : this.#take(id, limit, shortKey);
  }

  async #takeExactly(exact: Pick<RedisLimits, 'take'>, id: string, limit: Limit, key: string): Promise<number> {
    const wait = await exact.take(id, limit, key);
    if (wait === undefined) return this.#take(id, limit, key);
    if (wait > 0) return wait;
    // The nodes go on from here when the server does not answer.
    this.#limiter(id, limit).add(key, 1);
    this.#note(id, limit, key);
    return 0;
  }

  #take(id: string, limit: Limit, key: string): number {
    const wait = this.#limiter(id, limit).take(key);
    if (wait === 0) this.#note(id, limit, key);
    return wait;
  }

  /** Stops sharing. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #limiter(id: string, { capacity, windowMs }: Limit): RateLimiter {
    const known = this.#limiters.get(id);
    if (known) return known;
    const limiter = new RateLimiter({ capacity, windowMs }, this.#deps.now);
    this.#limiters.set(id, limiter, { ttl: windowMs });
    return limiter;
  }

  #note(id: string, limit: Limit, key: string): void {
    let waiting = this.#waiting.get(id);
    if (!waiting) {
      waiting = { limit, counts: new Map() };
      this.#waiting.set(id, waiting);
    }
    const count = waiting.counts.get(key) ?? 0;
    waiting.counts.set(key, count + 1);
    if (count === 0 && ++this.#keysWaiting >= KEYS_MAX) this.#share();
    else this.#timer ??= setTimeout(() => this.#share(), this.#deps.shareMs).unref();
  }

  #share(): void {
    this.close();
    const limits = [...this.#waiting].map(([id, { limit, counts }]) => ({ id, limit, counts: [...counts] }));
    this.#waiting.clear();
    this.#keysWaiting = 0;
    const { cluster, now } = this.#deps;
    // Whoever cannot be reached does not learn of these: it allows more for a while.
    void cluster.calls.callAll(LIMIT_COUNTS, { limits } satisfies CountsMessage);
    if (now() - this.#purgedAt < PURGE_INTERVAL_MS) return;
    this.#purgedAt = now();
    this.#limiters.purgeStale();
  }
}
