// A list of the API with everything that every list has: a filter, an order, columns, saved views, an export, and a
// selection to change in bulk.

import '../../style/list.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { directionOf, listQuery, nextOrder } from '../../data/routing/list-state.ts';
import { savedViews } from '../../data/session/saved-views.ts';
import { Button } from '../button.tsx';
import { EmptyState } from '../layout/empty-state.tsx';
import type { TableSort } from '../table/column-header.tsx';
import { Table, type TableProps } from '../table/table.tsx';
import { SelectionBar } from './bulk/selection-bar.tsx';
import type { SelectedRows } from './bulk/target.ts';
import { DisplayMenu, hiddenKeys } from './display-menu.tsx';
import { ExportMenu } from './export-menu.tsx';
import { ListFilterBar } from './filter/list-filter-bar.tsx';
import type { ListView } from './use-list-view.ts';
import { ViewsMenu } from './views-menu.tsx';

interface ListTableProps<Row> extends Pick<TableProps<Row>, 'label' | 'columns' | 'href' | 'empty' | 'cardLines'> {
  view: ListView<Row>;
  /** What is listed, in the singular and the plural: `['credential', 'credentials']`. */
  nouns: readonly [one: string, many: string];
  /** What happens beyond that when many are deleted, in a sentence. */
  consequence?: string;
  /** A control that chooses rows by more than a filter can. */
  ownControl?: ComponentChildren;
  /** Shows all again, whatever `ownControl` chooses. */
  clearOwn?: () => void;
  /** Buttons for the selected rows, beside those of every list. */
  selectionActions?: (selected: SelectedRows) => ComponentChildren;
}

export function ListTable<Row>(props: ListTableProps<Row>) {
  const { view, nouns, columns, empty, consequence, ownControl, clearOwn, selectionActions, ...table } = props;
  const { name, kind, list, state, change, isNarrowed, selection } = view;
  useDefaultView(name);
  const shownColumns = useMemo(() => {
    const hidden = hiddenKeys(state.hide);
    return columns.filter(({ key }, index) => index === 0 || !hidden.has(key));
  }, [columns, state.hide]);
  const sort = useMemo<TableSort>(
    () => ({
      members: new Set(kind?.members.filter(({ isOrdered }) => isOrdered).map((member) => member.name)),
      directionOf: (member) => directionOf(state.order, member),
      sortBy: (member) => change({ order: nextOrder(state.order, member) }),
    }),
    [kind, state.order, change],
  );
  const isSelectable = selectionActions !== undefined || (kind?.bulkActions.length ?? 0) > 0;
  const hasOwnMessage = list.error?.field === 'filter' || list.error?.field === 'search';
  // A list that has nothing needs no filter.
  const isBare = !isNarrowed && !list.isLoading && list.rows.length === 0 && !list.error;
  return (
    <div class="list">
      {!isBare && (
        <ListFilterBar view={view} noun={nouns[1]} ownControl={ownControl}>
          <DisplayMenu view={view} columns={columns} />
          <ViewsMenu list={name} />
          <ExportMenu view={view} />
        </ListFilterBar>
      )}
      <p class="visually-hidden" role="status">
        {isNarrowed && !list.isPrevious && countText(view)}
      </p>
      {!hasOwnMessage && (
        <Table
          {...table}
          columns={shownColumns}
          list={list}
          total={countText(view)}
          selection={isSelectable ? selection : undefined}
          sort={sort}
          empty={isNarrowed ? <NothingFits view={view} nouns={nouns} clearOwn={clearOwn} /> : empty}
        />
      )}
      {isSelectable && (
        <SelectionBar view={view} nouns={nouns} consequence={consequence} ownActions={selectionActions} />
      )}
    </div>
  );
}

type NothingFitsProps<Row> = Pick<ListTableProps<Row>, 'view' | 'nouns' | 'clearOwn'>;

function NothingFits<Row>({ view: { wholeCount, change }, nouns, clearOwn }: NothingFitsProps<Row>) {
  function clear() {
    if (clearOwn) clearOwn();
    else change({ filter: '', search: '' });
  }
  return (
    <EmptyState title={`No ${nouns[0]} fits`} action={<Button onClick={clear}>Clear the filter</Button>}>
      {wholeCount !== undefined &&
        `Without the filter there ${wholeCount === 1 ? 'is' : 'are'} ${wholeCount.toLocaleString('en')}.`}
    </EmptyState>
  );
}

/** `12 of 10,000` */
function countText<Row>({ list: { totalCount, rows }, isNarrowed, wholeCount }: ListView<Row>): string {
  if (totalCount === undefined) return `${rows.length.toLocaleString('en')} so far`;
  const shown = totalCount.toLocaleString('en');
  if (!isNarrowed || wholeCount === undefined) return `${shown} in all`;
  return `${shown} of ${wholeCount.toLocaleString('en')}`;
}

/** Shows the view that the user wants by default, where a link names none. */
function useDefaultView(name: string): void {
  const { path, query, route } = useLocation();
  useEffect(() => {
    const view = savedViews(name).find(({ isDefault }) => isDefault);
    if (view && listQuery({}, query) === '') route(path + view.query, true);
  }, [name]);
}
