// A cache of the lists that the user left last: returning to one shows its rows and scroll position at once.

import type { WithId } from './list-rows.ts';
import { type ListScope, ListSource } from './list-source.ts';

/** A list can have thousands of rows, so only a few lists are cached. */
const MAX_CACHED_LISTS = 4;

export interface CachedList<Row extends WithId> {
  source: ListSource<Row>;
  /** The scroll position in pixels. */
  scroll: { top: number };
}

const cache = new Map<string, CachedList<WithId>>();

/** Takes a list out of the cache, or creates one. It belongs to the caller until `cacheList`. */
export function takeCachedList<Row extends WithId>(key: string, scope: ListScope = {}): CachedList<Row> {
  const cached = cache.get(key) ?? { source: new ListSource<WithId>(scope), scroll: { top: 0 } };
  cache.delete(key);
  // The key contains the operation, which determines the type of the rows.
  return cached as unknown as CachedList<Row>;
}

/** Puts a list into the cache; the oldest one drops out. */
export function cacheList<Row extends WithId>(key: string, cached: CachedList<Row>): void {
  cache.delete(key);
  cache.set(key, cached as unknown as CachedList<WithId>);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED_LISTS && oldest !== undefined) cache.delete(oldest);
}

/** Empties the cache. Its data belongs to the session that ended. */
export function clearListCache(): void {
  cache.clear();
}
