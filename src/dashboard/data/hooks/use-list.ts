// A list of the API on screen: pages on the server as one scrolls, and is kept true as far as it is looked at.

import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type ApiFailure, failureOf, run } from '../client/client.ts';
import type { Operation } from '../client/operation.ts';
import { type Kept, keepList, takeList } from '../lists/list-cache.ts';
import type { Identified, Page } from '../lists/list-rows.ts';
import { type Occasions, refresh } from '../live/refresh.ts';

export interface List<Row> {
  /** Those that are known so far, the newest first. */
  rows: readonly Row[];
  /** How many the whole list has, where the API tells. */
  totalCount: number | undefined;
  hasMore: boolean;
  isLoading: boolean;
  error: ApiFailure | undefined;
  /** Asks for the next page. The table does this as one scrolls. */
  more: () => void;
  /** Tells what is looked at: only that is kept true. The table does this. */
  look: (from: number, to: number) => void;
  /** Asks anew for what is looked at. */
  reload: () => void;
  /** The ids of the rows in view, for what is asked beside the list. */
  inView: ReadonlySignal<readonly string[]>;
  /** Where the table is scrolled to, and was when this list was left. */
  scroll: { top: number };
}

/** How a query pages: every list of the API takes these two. */
export interface Paging {
  first?: number | null;
  after?: string | null;
}

/**
 * Follows a connection. The query takes `$first: Int` and `$after: ID`, and selects
 * `nodes { id … } pageInfo { hasNextPage endCursor } totalCount`, which `pick` finds in its result.
 */
export function useList<Result, Variables extends Paging, Row extends Identified>(
  operation: Operation<Result, Variables>,
  variables: Omit<Variables, 'first' | 'after'>,
  pick: (result: Result) => Page<Row> | null | undefined,
  { kinds, everyMs, isOff = false }: Occasions & { isOff?: boolean } = {},
): List<Row> {
  const key = `${operation.id} ${JSON.stringify(variables)}`;
  // Who comes by a link begins at the top; who goes back, where the list was left. (The router's types leave this out.)
  const { wasPush } = useLocation() as { wasPush?: boolean };
  const kept = useMemo(() => {
    const list = takeList<Row>(key);
    if (wasPush) list.scroll.top = 0;
    return list;
  }, [key]);
  const list = useMemo(() => listOf<Row>(kept), [kept]);
  const [, draw] = useState({});
  useEffect(() => () => keepList(key, kept), [kept]);

  useEffect(() => {
    if (isOff) return;
    const { source } = kept;
    const gone = new AbortController();
    let frame: number | undefined;
    const { now, soon, end } = refresh({ kinds }, ask, (news) => source.hear(news) && show());
    list.more = () => void (source.want() && now());
    list.look = (from, to) => {
      if (source.look(from, to)) soon();
      showInView();
    };
    list.reload = () => {
      source.outdate();
      void now();
    };
    const clock = everyMs === undefined ? undefined : setInterval(askView, everyMs);
    list.reload();
    return () => {
      gone.abort();
      end();
      clearInterval(clock);
      if (frame !== undefined) cancelAnimationFrame(frame);
    };

    function askView(): void {
      if (document.hidden) return;
      source.outdate(false);
      void now();
    }

    async function ask(): Promise<void> {
      try {
        await source.ask(askPage);
        list.error = undefined;
      } catch (thrown) {
        list.error = failureOf(thrown);
      }
      if (!gone.signal.aborted) show();
    }

    async function askPage(first: number, after: string | undefined): Promise<Page<Row>> {
      const result = await run(operation, { ...variables, first, after } as Variables, gone.signal);
      return pick(result) ?? { nodes: [], pageInfo: { hasNextPage: false } };
    }

    // However much changes, it is drawn once a frame.
    function show(): void {
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        Object.assign(list, knownOf(kept), { isLoading: !source.isLoaded && !list.error });
        showInView();
        draw({});
      });
    }

    function showInView(): void {
      const ids = source.rows.slice(...source.view).map(({ id }) => id);
      if (ids.join() !== list.inView.peek().join()) list.inView.value = ids;
    }
  }, [kept, list, kinds?.join(), everyMs, isOff]);

  return { ...list, more: () => list.more(), look: (from, to) => list.look(from, to), reload: () => list.reload() };
}

function knownOf<Row extends Identified>({ source: { rows, totalCount, hasMore } }: Kept<Row>) {
  return { rows, totalCount, hasMore };
}

function listOf<Row extends Identified>(kept: Kept<Row>) {
  return {
    ...knownOf(kept),
    isLoading: !kept.source.isLoaded,
    error: undefined as ApiFailure | undefined,
    more: () => {},
    look: (_from: number, _to: number) => {},
    reload: () => {},
    inView: signal<readonly string[]>([]),
    scroll: kept.scroll,
  };
}
