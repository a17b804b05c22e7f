// A list of the API with what the user chose of it: filter, order, columns and selected rows.

import { useEffect, useMemo } from 'preact/hooks';
import type { Operation } from '../../data/client/operation.ts';
import { type LiveList, type Paging, type UsualOrder, useList } from '../../data/hooks/use-list.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { type ListKind, listKind } from '../../data/lists/list-kinds.ts';
import type { ListPage, WithId } from '../../data/lists/list-rows.ts';
import type { RefreshTriggers } from '../../data/live/refresh.ts';
import { type ChangeListState, type ListState, listVariables, useListState } from '../../data/routing/list-state.ts';
import { RowSelection } from '../table/row-selection.ts';

/** The length of the whole list is loaded again at most this often. */
const TOTAL_INTERVAL_MS = 5000;

export interface ListView<Row> {
  /** The name of the list in the API: `credentials`. */
  name: string;
  /** What can be done with the list; undefined until it is known. */
  kind: ListKind | undefined;
  list: LiveList<Row>;
  state: ListState;
  change: ChangeListState;
  /** Whether the filter or the search may leave out objects. */
  isNarrowed: boolean;
  /** The length of the list without filter and search, once it is known. */
  wholeCount: number | undefined;
  selection: RowSelection;
  /** Whether more than `filter` and `search` chooses the rows, so that a bulk change cannot be told all that match. */
  hasOwnVariables: boolean;
}

interface ListViewOptions<Variables> extends RefreshTriggers, UsualOrder {
  /** What the query takes besides the variables of every list. */
  variables?: Omit<Variables, keyof Paging>;
}

/**
 * Loads a list as the URL says.
 * @param name the root field of the API: `credentials`.
 * @param operation its query, which takes `$first`, `$after`, `$filter`, `$search` and `$orderBy`.
 */
export function useListView<Result, Variables extends Paging, Row extends WithId>(
  name: string,
  operation: Operation<Result, Variables>,
  pick: (result: Result) => ListPage<Row> | null | undefined,
  { variables, ...triggers }: ListViewOptions<Variables> = {},
): ListView<Row> {
  const [state, change] = useListState();
  const own = { ...variables } as Omit<Variables, 'first' | 'after'>;
  const list = useList(operation, { ...own, ...listVariables(state) }, pick, triggers);
  const hasOwnVariables = Object.values(own).some((value) => value !== undefined);
  const isNarrowed = state.filter !== '' || state.search.trim() !== '' || hasOwnVariables;
  const whole = useQuery(operation, { first: 1 } as Variables, {
    kinds: triggers.kinds,
    minIntervalMs: TOTAL_INTERVAL_MS,
    skip: !isNarrowed,
  });
  const selection = useMemo(() => new RowSelection(), [name]);
  useEffect(() => () => selection.clear(), [selection, state.filter, state.search, JSON.stringify(own)]);
  const wholeCount = isNarrowed ? whole.data && pick(whole.data)?.totalCount : list.totalCount;
  return { name, kind: listKind(name), list, state, change, isNarrowed, wholeCount, selection, hasOwnVariables };
}
