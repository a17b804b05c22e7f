// A long list, of which as much is known as was scrolled through, and as much is kept true as is looked at.

import type { ChangeEvents } from '../live/change-events.ts';
import { isSameKind, type ListPage, mergePage, staleRange, type WithId } from './list-rows.ts';

/** The most that the API gives at once. */
const PAGE_SIZE = 100;

export type FetchPage<Row> = (first: number, after: string | undefined) => Promise<ListPage<Row>>;

export class ListSource<Row extends WithId> {
  rows: readonly Row[] = [];
  totalCount: number | undefined;
  hasMore = false;
  isLoaded = false;
  /** What is looked at: indexes into `rows`, the second beyond the last. */
  visibleRange: readonly [number, number] = [0, 30];
  readonly #stale = new Set<string>();
  #isTopStale = true;
  #wantsNextPage = false;
  /** How many rows were paged through. */
  #pagedRows = PAGE_SIZE;
  #changesDuringFetch = { changed: new Set<string>(), deletedMeanwhile: new Set<string>(), isAll: false };

  /** Takes note of changes. What they concern is asked by the next `ask`. @returns whether rows are gone. */
  applyEvents(events: ChangeEvents): boolean {
    if (events === 'gap') {
      this.invalidate();
      return false;
    }
    const deleted = new Set<string>();
    const newest = this.rows[0]?.id;
    for (const { action, id } of events) {
      if (newest === undefined) this.#isTopStale = true;
      else if (id === '' || !isSameKind(id, newest)) this.invalidate(id === '');
      else if (action === 'DELETED') deleted.add(id);
      else if (action === 'CREATED') this.#isTopStale = true;
      else this.#markStale(id);
    }
    for (const id of deleted) this.#changesDuringFetch.deletedMeanwhile.add(id);
    return deleted.size > 0 && this.#remove(deleted);
  }

  /** Nothing that is known is taken for true any more. */
  invalidate(includesTop = true): void {
    this.#changesDuringFetch.isAll = true;
    for (const { id } of this.rows) this.#stale.add(id);
    if (includesTop) this.#isTopStale = true;
  }

  /** Wants the next page, too. @returns whether there is something to ask. */
  requestNextPage(): boolean {
    this.#wantsNextPage = this.hasMore;
    return this.#wantsNextPage;
  }

  /** What is looked at. @returns whether something in it is to be asked again. */
  setVisibleRange(from: number, to: number): boolean {
    this.visibleRange = [from, to];
    return staleRange(this.rows, this.#stale, this.visibleRange) !== null;
  }

  /** Asks for everything that is missing or outdated in view, page by page. */
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
    const page = await fetchPage(first, after);
    // What was told meanwhile may have happened after the page was read.
    const { changed, deletedMeanwhile, isAll } = this.#changesDuringFetch;
    const nodes = page.nodes.filter(({ id }) => !deletedMeanwhile.has(id));
    const lastKnown = this.rows.at(-1)?.id;
    this.rows = mergePage(this.rows, { ...page, nodes }, after);
    if (!isAll) for (const { id } of nodes) if (!changed.has(id)) this.#stale.delete(id);
    if (page.totalCount !== undefined) this.totalCount = page.totalCount;
    const last = this.rows.at(-1)?.id;
    if (last !== lastKnown || last === nodes.at(-1)?.id) this.hasMore = page.pageInfo.hasNextPage;
  }

  /** Lets go of rows far below, which new ones at the top pushed down: however many come, no more are kept. */
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
    if (this.totalCount !== undefined) this.totalCount = Math.max(this.rows.length, this.totalCount - ids.size);
    return this.rows.length < count;
  }
}
