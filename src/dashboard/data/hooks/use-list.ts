// A live list of the API: it loads pages as the user scrolls, and keeps the visible rows current.

import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type ApiFailure, execute, toApiFailure } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type CachedList, cacheList, takeCachedList } from '../lists/list-cache.ts';
import type { ListPage, WithId } from '../lists/list-rows.ts';
import { type RefreshTriggers, refreshOn } from '../live/refresh.ts';

export interface LiveList<Row> {
  /** The rows that are loaded so far, the newest first. */
  rows: readonly Row[];
  /** The length of the whole list, if the API tells it. */
  totalCount: number | undefined;
  hasMore: boolean;
  isLoading: boolean;
  /** Whether the rows are still those of another filter or order, until there are some. */
  isPrevious: boolean;
  error: ApiFailure | undefined;
  /** Loads the next page. The table calls it as the user scrolls. */
  loadMore: () => void;
  /** Sets which rows are visible: only those are kept current. The table calls it. */
  setVisibleRange: (from: number, to: number) => void;
  /** Loads the visible rows again. */
  refetch: () => void;
  /** The ids of the visible rows, for queries beside the list. */
  visibleIds: ReadonlySignal<readonly string[]>;
  /** The scroll position of the table. It is restored when the user returns to the list. */
  scroll: { top: number };
}

export interface UsualOrder {
  /** Whether the list has another order than by id where the user chose none. */
  isOrdered?: boolean;
}

/** The variables that every list of the API takes. */
export interface Paging {
  first?: number | null;
  after?: string | null;
  filter?: string | null;
  search?: string | null;
  orderBy?: string | null;
}

/**
 * Loads a connection. The query takes `$first: Int` and `$after: String`, and selects
 * `nodes { id … } pageInfo { hasNextPage endCursor } totalCount`, which `pick` finds in the result.
 */
export function useList<Result, Variables extends Paging, Row extends WithId>(
  operation: Operation<Result, Variables>,
  variables: Omit<Variables, 'first' | 'after'>,
  pick: (result: Result) => ListPage<Row> | null | undefined,
  { kinds, pollMs, skip = false, isOrdered = false }: RefreshTriggers & { skip?: boolean } & UsualOrder = {},
): LiveList<Row> {
  const key = `${operation.id} ${JSON.stringify(variables)}`;
  const scope = scopeOf(variables, isOrdered);
  // A link starts at the top of the list; the back button restores the position. (The router's types lack `wasPush`.)
  const { wasPush } = useLocation() as { wasPush?: boolean };
  const cached = useMemo(() => {
    const list = takeCachedList<Row>(key, scope);
    if (wasPush) list.scroll.top = 0;
    return list;
  }, [key]);
  const list = useMemo(() => createList<Row>(cached), [cached]);
  const [, rerender] = useState({});
  useEffect(() => () => cacheList(key, cached), [cached]);

  useEffect(() => {
    if (skip) return;
    const { source } = cached;
    const unmounted = new AbortController();
    let frame: number | undefined;
    const { refreshNow, scheduleRefresh, stop } = refreshOn(
      { kinds },
      fetchMissing,
      (events) => source.applyEvents(events) && scheduleRender(),
    );
    list.loadMore = () => void (source.requestNextPage() && refreshNow());
    list.setVisibleRange = (from, to) => {
      if (source.setVisibleRange(from, to)) scheduleRefresh();
      updateVisibleIds();
    };
    list.refetch = () => {
      source.invalidate();
      void refreshNow();
    };
    const pollTimer = pollMs === undefined ? undefined : setInterval(refetchVisible, pollMs);
    list.refetch();
    return () => {
      unmounted.abort();
      stop();
      clearInterval(pollTimer);
      if (frame !== undefined) cancelAnimationFrame(frame);
    };

    function refetchVisible(): void {
      if (document.hidden) return;
      source.invalidate(false);
      void refreshNow();
    }

    async function fetchMissing(): Promise<void> {
      try {
        await source.fetchMissing(fetchPage);
        list.error = undefined;
      } catch (thrown) {
        list.error = toApiFailure(thrown);
      }
      if (!unmounted.signal.aborted) scheduleRender();
    }

    async function fetchPage(first: number, after: string | undefined): Promise<ListPage<Row>> {
      const result = await execute(operation, { ...variables, first, after } as Variables, unmounted.signal);
      return pick(result) ?? { nodes: [], pageInfo: { hasNextPage: false } };
    }

    // Any number of changes causes one render per frame.
    function scheduleRender(): void {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        Object.assign(list, sourceState(cached), { isLoading: !source.isLoaded && !list.error });
        updateVisibleIds();
        rerender({});
      });
    }

    function updateVisibleIds(): void {
      const ids = source.rows.slice(...source.visibleRange).map(({ id }) => id);
      if (ids.join() !== list.visibleIds.peek().join()) list.visibleIds.value = ids;
    }
  }, [cached, list, kinds?.join(), pollMs, skip]);

  const previous = useRef<{ objects: string; rows: readonly Row[]; totalCount: number | undefined } | undefined>(
    undefined,
  );
  const isPrevious = list.isLoading && previous.current?.objects === scope.objects && previous.current.rows.length > 0;
  if (!list.isLoading) previous.current = { objects: scope.objects, rows: list.rows, totalCount: list.totalCount };
  return {
    ...list,
    ...(isPrevious && { ...previous.current, isLoading: false }),
    isPrevious,
    loadMore: () => list.loadMore(),
    setVisibleRange: (from, to) => list.setVisibleRange(from, to),
    refetch: () => list.refetch(),
  };
}

/** What the variables say of a list, and what names the list that they choose rows of. */
function scopeOf<Variables extends Paging>(variables: Omit<Variables, 'first' | 'after'>, isOrdered: boolean) {
  const { filter, search, orderBy, ...others }: Omit<Paging, 'first' | 'after'> = variables;
  const isNarrowed = [filter, search, ...Object.values(others)].some((value) => value !== undefined && value !== null);
  return { isNarrowed, isOrdered: isOrdered || Boolean(orderBy), objects: JSON.stringify(others) };
}

function sourceState<Row extends WithId>({ source: { rows, totalCount, hasMore } }: CachedList<Row>) {
  return { rows, totalCount, hasMore };
}

function createList<Row extends WithId>(cached: CachedList<Row>) {
  return {
    ...sourceState(cached),
    isLoading: !cached.source.isLoaded,
    error: undefined as ApiFailure | undefined,
    loadMore: () => {},
    setVisibleRange: (_from: number, _to: number) => {},
    refetch: () => {},
    visibleIds: signal<readonly string[]>([]),
    scroll: cached.scroll,
  };
}
