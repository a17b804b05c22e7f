// What a list shows: its filter, search, order and columns. All of it is in the URL, so that reload, back and a shared
// link show the same.

import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

/** Texts as the API takes them; '' is the default of each. */
export type ListState = {
  /** An expression in CEL. */
  filter: string;
  /** Words in any order. */
  search: string;
  /** `created_at desc` */
  order: string;
  /** The keys of columns that are hidden, separated by commas. */
  hide: string;
};

const MEMBERS = ['filter', 'search', 'order', 'hide'] as const;

/** Reads the state of a list from the parameters of a URL. */
export function readListState(query: Readonly<Record<string, string | undefined>>): ListState {
  const [filter = '', search = '', order = '', hide = ''] = MEMBERS.map((name) => query[name]);
  return { filter, search, order, hide };
}

/** The query string of a list: `?filter=…`, or '' for the defaults. Other parameters stay. */
export function listQuery(
  query: Readonly<Record<string, string | undefined>>,
  state: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries({ ...query, ...state }).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** A change of some members; `isReplaced` leaves no entry in the history, as for typing. */
export type ChangeListState = (some: Partial<ListState>, isReplaced?: boolean) => void;

/** The state that the URL has, and a function that changes it there. */
export function useListState(): [ListState, ChangeListState] {
  const { path, query, route } = useLocation();
  const { filter, search, order, hide } = query;
  const state = useMemo(() => readListState({ filter, search, order, hide }), [filter, search, order, hide]);
  return [state, (some, isReplaced = false) => route(path + listQuery(query, some), isReplaced)];
}

/** What of the state chooses the rows, as variables of a list's query. */
export function listVariables({ filter, search, order }: ListState): {
  filter?: string;
  search?: string;
  orderBy?: string;
} {
  return {
    ...(filter && { filter }),
    ...(search.trim() && { search: search.trim() }),
    ...(order && { orderBy: order }),
  };
}

/** The order after another click on a column: upwards, downwards, and the default again. */
export function nextOrder(order: string, member: string): string {
  if (order === `${member} asc`) return `${member} desc`;
  return order === `${member} desc` ? '' : `${member} asc`;
}

/** The direction in which an order sorts by a member; undefined for another member. */
export function directionOf(order: string, member: string): 'ascending' | 'descending' | undefined {
  const [name, direction = 'asc'] = order.trim().split(/\s+/);
  if (name !== member) return undefined;
  return direction.toLowerCase() === 'desc' ? 'descending' : 'ascending';
}
