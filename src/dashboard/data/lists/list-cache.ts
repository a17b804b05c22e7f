// Lists that were left a moment ago: who comes back finds the rows, and the place in them, as they were.

import type { WithId } from './list-rows.ts';
import { ListSource } from './list-source.ts';

/** A list can have many thousand rows, so few are kept. */
const MAX_CACHED_LISTS = 4;

export interface CachedList<Row extends WithId> {
  source: ListSource<Row>;
  /** How far it was scrolled, in pixels. */
  scroll: { top: number };
}

const cache = new Map<string, CachedList<WithId>>();

/** The list of this key as it was left, or a new one. It is the caller's alone until it is kept again. */
export function takeCachedList<Row extends WithId>(key: string): CachedList<Row> {
  const cached = cache.get(key) ?? { source: new ListSource<WithId>(), scroll: { top: 0 } };
  cache.delete(key);
  // The key names the operation, and with it what its rows are.
  return cached as unknown as CachedList<Row>;
}

/** Keeps a list that is left. */
export function cacheList<Row extends WithId>(key: string, cached: CachedList<Row>): void {
  cache.delete(key);
  cache.set(key, cached as unknown as CachedList<WithId>);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED_LISTS && oldest !== undefined) cache.delete(oldest);
}

/** Forgets all: they belong to who was signed in. */
export function clearListCache(): void {
  cache.clear();
}
