// A long list, of which as much is known as was scrolled through, and as much is kept true as is looked at.

import type { News } from '../live/change-events.ts';
import { type Identified, isSameKind, type Page, staleRange, takePage } from './list-rows.ts';

/** The most that the API gives at once. */
const PAGE_SIZE = 100;

export type AskPage<Row> = (first: number, after: string | undefined) => Promise<Page<Row>>;

export class ListSource<Row extends Identified> {
  rows: readonly Row[] = [];
  totalCount: number | undefined;
  hasMore = false;
  isLoaded = false;
  /** What is looked at: indexes into `rows`, the second beyond the last. */
  view: readonly [number, number] = [0, 30];
  readonly #stale = new Set<string>();
  #isTopStale = true;
  #wantsMore = false;
  /** How many rows were paged through. */
  #scrolledTo = PAGE_SIZE;
  #toldMeanwhile = { changed: new Set<string>(), gone: new Set<string>(), isAll: false };

  /** Takes note of changes. What they concern is asked by the next `ask`. @returns whether rows are gone. */
  hear(news: News): boolean {
    if (news === 'gap') {
      this.outdate();
      return false;
    }
    const deleted = new Set<string>();
    const newest = this.rows[0]?.id;
    for (const { action, id } of news) {
      if (newest === undefined) this.#isTopStale = true;
      else if (id === '' || !isSameKind(id, newest)) this.outdate(id === '');
      else if (action === 'DELETED') deleted.add(id);
      else if (action === 'CREATED') this.#isTopStale = true;
      else this.#change(id);
    }
    for (const id of deleted) this.#toldMeanwhile.gone.add(id);
    return deleted.size > 0 && this.#remove(deleted);
  }

  /** Nothing that is known is taken for true any more. */
  outdate(isTopToo = true): void {
    this.#toldMeanwhile.isAll = true;
    for (const { id } of this.rows) this.#stale.add(id);
    if (isTopToo) this.#isTopStale = true;
  }

  /** Wants the next page, too. @returns whether there is something to ask. */
  want(): boolean {
    this.#wantsMore = this.hasMore;
    return this.#wantsMore;
  }

  /** What is looked at. @returns whether something in it is to be asked again. */
  look(from: number, to: number): boolean {
    this.view = [from, to];
    return staleRange(this.rows, this.#stale, this.view) !== null;
  }

  /** Asks for everything that is missing or outdated in view, page by page. */
  async ask(askPage: AskPage<Row>): Promise<void> {
    if (this.#isTopStale) {
      this.#isTopStale = false;
      await this.#take(askPage, undefined, PAGE_SIZE).catch((error) => {
        this.#isTopStale = true;
        throw error;
      });
      this.isLoaded = true;
    }
    const range = staleRange(this.rows, this.#stale, this.view);
    if (range) await this.#take(askPage, this.rows[range[0] - 1]?.id, Math.min(PAGE_SIZE, range[1] - range[0] + 1));
    if (this.#wantsMore) {
      this.#wantsMore = false;
      await this.#take(askPage, this.rows.at(-1)?.id, PAGE_SIZE);
      this.#scrolledTo = this.rows.length;
    }
    this.#trim();
  }

  async #take(askPage: AskPage<Row>, after: string | undefined, first: number): Promise<void> {
    this.#toldMeanwhile = { changed: new Set(), gone: new Set(), isAll: false };
    const page = await askPage(first, after);
    // What was told meanwhile may have happened after the page was read.
    const { changed, gone, isAll } = this.#toldMeanwhile;
    const nodes = page.nodes.filter(({ id }) => !gone.has(id));
    const lastKnown = this.rows.at(-1)?.id;
    this.rows = takePage(this.rows, { ...page, nodes }, after);
    if (!isAll) for (const { id } of nodes) if (!changed.has(id)) this.#stale.delete(id);
    if (page.totalCount !== undefined) this.totalCount = page.totalCount;
    const last = this.rows.at(-1)?.id;
    if (last !== lastKnown || last === nodes.at(-1)?.id) this.hasMore = page.pageInfo.hasNextPage;
  }

  /** Lets go of rows far below, which new ones at the top pushed down: however many come, no more are kept. */
  #trim(): void {
    const most = Math.max(this.#scrolledTo, this.view[1]) + PAGE_SIZE;
    if (this.rows.length <= most) return;
    this.rows = this.rows.slice(0, most);
    this.hasMore = true;
    const known = new Set(this.rows.map(({ id }) => id));
    for (const id of this.#stale) if (!known.has(id)) this.#stale.delete(id);
  }

  #change(id: string): void {
    this.#stale.add(id);
    this.#toldMeanwhile.changed.add(id);
  }

  #remove(ids: ReadonlySet<string>): boolean {
    const count = this.rows.length;
    this.rows = this.rows.filter(({ id }) => !ids.has(id));
    if (this.totalCount !== undefined) this.totalCount = Math.max(this.rows.length, this.totalCount - ids.size);
    return this.rows.length < count;
  }
}
