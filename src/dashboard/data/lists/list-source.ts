// A long list of which only some pages are loaded. It tracks which rows are stale and loads those that are visible.

import type { ChangeEvents } from '../live/change-events.ts';
import { isSameKind, type ListPage, mergeOrderedPage, mergePage, staleRange, type WithId } from './list-rows.ts';

/** The largest page that the API serves. */
const PAGE_SIZE = 100;

export type FetchPage<Row> = (first: number, after: string | undefined) => Promise<ListPage<Row>>;

/** What of a list the user asked for. */
export interface ListScope {
  /** It has only some of the objects: a change of any may add a row or take one away. */
  isNarrowed?: boolean;
  /** It is not sorted by id: a change of any may move a row. */
  isOrdered?: boolean;
}

export class ListSource<Row extends WithId> {
  rows: readonly Row[] = [];
  totalCount: number | undefined;
  hasMore = false;
  isLoaded = false;
  /** The visible rows: indexes into `rows`, the second one past the last row. */
  visibleRange: readonly [number, number] = [0, 30];
  readonly #stale = new Set<string>();
  #isTopStale = true;
  #wantsNextPage = false;
  /** How many rows the user has paged through. */
  #pagedRows = PAGE_SIZE;
  #changesDuringFetch = { changed: new Set<string>(), deletedMeanwhile: new Set<string>(), isAll: false };
  readonly #scope: ListScope;

  constructor(scope: ListScope = {}) {
    this.#scope = scope;
  }

  /** Applies change events; `fetchMissing` loads what they make stale. @returns whether rows were removed. */
  applyEvents(events: ChangeEvents): boolean {
    if (events === 'gap') {
      this.invalidate();
      return false;
    }
    const { isNarrowed, isOrdered } = this.#scope;
    const deleted = new Set<string>();
    const newest = this.rows[0]?.id;
    if ((isNarrowed || isOrdered) && events.some(({ action }) => action !== 'DELETED')) this.invalidate();
    for (const { action, objectId: id } of events) {
      if (newest === undefined) this.#isTopStale = true;
      else if (id === '' || !isSameKind(id, newest)) this.invalidate(id === '');
      else if (action === 'DELETED') deleted.add(id);
      else if (action === 'CREATED') this.#isTopStale = true;
      else this.#markStale(id);
    }
    for (const id of deleted) this.#changesDuringFetch.deletedMeanwhile.add(id);
    return deleted.size > 0 && this.#remove(deleted);
  }

  /** Marks all rows as stale. */
  invalidate(includesTop = true): void {
    this.#changesDuringFetch.isAll = true;
    for (const { id } of this.rows) this.#stale.add(id);
    if (includesTop) this.#isTopStale = true;
  }

  /** Requests the next page. @returns whether there is one. */
  requestNextPage(): boolean {
    this.#wantsNextPage = this.hasMore;
    return this.#wantsNextPage;
  }

  /** Sets the visible range. @returns whether it contains stale rows. */
  setVisibleRange(from: number, to: number): boolean {
    this.visibleRange = [from, to];
    return staleRange(this.rows, this.#stale, this.visibleRange) !== null;
  }

  /** Loads all pages that are missing or stale in the visible range, one after the other. */
  async fetchMissing(fetchPage: FetchPage<Row>): Promise<void> {
    if (this.#isTopStale) {
      this.#isTopStale = false;
      await this.#fetchAndMerge(fetchPage, undefined, PAGE_SIZE).catch((error) => {
        this.#isTopStale = true;
        throw error;
      });
      this.isLoaded = true;
    }
    const range = staleRange(this.rows, this.#stale, this.visibleRange);
    if (range)
      await this.#fetchAndMerge(fetchPage, this.rows[range[0] - 1]?.id, Math.min(PAGE_SIZE, range[1] - range[0] + 1));
    if (this.#wantsNextPage) {
      this.#wantsNextPage = false;
      await this.#fetchAndMerge(fetchPage, this.rows.at(-1)?.id, PAGE_SIZE);
      this.#pagedRows = this.rows.length;
    }
    this.#trim();
  }

  async #fetchAndMerge(fetchPage: FetchPage<Row>, after: string | undefined, first: number): Promise<void> {
    this.#changesDuringFetch = { changed: new Set(), deletedMeanwhile: new Set(), isAll: false };
    const page = await fetchPage(first, after).catch((error) => {
      // The row that the page begins behind was deleted, and in another order than by id its place is lost with it.
      if (after === undefined || error?.field !== 'after') throw error;
      const place = this.rows.findIndex(({ id }) => id === after);
      this.rows = this.rows.filter(({ id }) => id !== after);
      after = this.rows[place - 1]?.id;
      return fetchPage(first, after);
    });
    // Changes that arrived during the request may be newer than the page.
    const { changed, deletedMeanwhile, isAll } = this.#changesDuringFetch;
    const nodes = page.nodes.filter(({ id }) => !deletedMeanwhile.has(id));
    const lastKnown = this.rows.at(-1)?.id;
    const merge = this.#scope.isOrdered ? mergeOrderedPage : mergePage;
    this.rows = merge(this.rows, { ...page, nodes }, after);
    if (!isAll) for (const { id } of nodes) if (!changed.has(id)) this.#stale.delete(id);
    if (page.totalCount !== undefined) this.totalCount = page.totalCount;
    const last = this.rows.at(-1)?.id;
    if (last !== lastKnown || last === nodes.at(-1)?.id) this.hasMore = page.pageInfo.hasNextPage;
  }

  /** Drops rows far below the visible range, so that new rows at the top do not let the list grow without limit. */
  #trim(): void {
    const maxRows = Math.max(this.#pagedRows, this.visibleRange[1]) + PAGE_SIZE;
    if (this.rows.length <= maxRows) return;
    this.rows = this.rows.slice(0, maxRows);
    this.hasMore = true;
    const known = new Set(this.rows.map(({ id }) => id));
    for (const id of this.#stale) if (!known.has(id)) this.#stale.delete(id);
  }

  #markStale(id: string): void {
    this.#stale.add(id);
    this.#changesDuringFetch.changed.add(id);
  }

  #remove(ids: ReadonlySet<string>): boolean {
    const count = this.rows.length;
    this.rows = this.rows.filter(({ id }) => !ids.has(id));
    // Whether the others were among those that fit is not known, so the total is asked for.
    if (this.#scope.isNarrowed && count - this.rows.length < ids.size) this.#isTopStale = true;
    else if (this.totalCount !== undefined) this.totalCount = Math.max(this.rows.length, this.totalCount - ids.size);
    return this.rows.length < count;
  }
}
