// A virtualized table: it renders only the visible rows and loads more of the list as the user scrolls.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LiveList } from '../../data/hooks/use-list.ts';
import { ErrorNote } from '../feedback/error-note.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';
import { ColumnHeader, type TableSort } from './column-header.tsx';
import { showCutText } from './cut-text.ts';
import type { RowSelection } from './row-selection.ts';
import { SelectAllBox } from './select-box.tsx';
import type { Column } from './table-row.tsx';
import { TableRow } from './table-row.tsx';
import { useRowKeyboard } from './use-row-keys.ts';
import { useRowWindow } from './use-row-window.ts';

export type { Column };

export interface TableProps<Row> {
  /** The accessible name. */
  label: string;
  /** The first column names the row. */
  columns: readonly Column<Row>[];
  /** A live list of the API … */
  list?: LiveList<Row>;
  /** … or rows that are complete. */
  rows?: readonly Row[];
  rowKey?: (row: Row) => string;
  /** The path that a row links to. */
  href?: (row: Row) => string;
  /** Shown if there are no rows. */
  empty?: ComponentChildren;
  /** How many lines a row has on narrow screens, where it is a card; the default is 2. */
  cardLines?: 2 | 3;
  /** How many rows there are, in words; the default is what the list says. */
  total?: string;
  /** Lets rows be selected. */
  selection?: RowSelection;
  /** Lets columns that have a member be sorted by. */
  sort?: TableSort;
}

const ROW_HEIGHT = 40;
const CARD_HEIGHTS = { 2: 60, 3: 82 };

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, list, rows = list?.rows ?? [], href, empty, cardLines = 2, selection, sort } = props;
  const rowKey = props.rowKey ?? ((row: Row) => (row as { id: string }).id);
  const scroller = useRef<HTMLDivElement>(null);
  const rowWindow = useRowWindow(
    scroller,
    rows,
    rowKey,
    { rowHeight: ROW_HEIGHT, cardHeight: CARD_HEIGHTS[cardLines] },
    list?.scroll,
  );
  const visibleColumns = columns.filter(({ priority = 1 }) => priority <= rowWindow.priority);
  const keyboard = useRowKeyboard(scroller, rows, rowKey, rowWindow, selection);
  useSelectableRows(selection, rows, rowKey);

  useLayoutEffect(() => {
    list?.setVisibleRange(rowWindow.from, rowWindow.to);
    if (list?.hasMore && !list.error && rowWindow.to > rows.length - 50) list.loadMore();
  });

  if (list?.error && rows.length === 0) return <ErrorNote error={list.error} retry={list.refetch} />;
  if (list?.isLoading) return <Skeleton lines={6} />;
  if (rows.length === 0) return <>{empty ?? <p class="muted">Nothing here.</p>}</>;

  const indexes = rowWindow.indexesWith(keyboard.current);
  const total = list?.totalCount ?? rows.length;
  return (
    <div class={rowWindow.isCards ? 'table cards' : 'table'} aria-busy={list?.isPrevious || undefined}>
      <ErrorNote error={list?.error} retry={list?.refetch} />
      {rowWindow.newRowsAbove > 0 && (
        <button type="button" class="button above" onClick={rowWindow.scrollToTop}>
          {rowWindow.newRowsAbove} new above
        </button>
      )}
      <section
        ref={scroller}
        class="table-scroll"
        aria-label={label}
        // A list without links needs a tab stop of its own to be scrolled by keyboard.
        tabIndex={href ? undefined : 0}
        onPointerOver={showCutText}
        onScroll={rowWindow.onScroll}
        onKeyDown={keyboard.onKeyDown}
        onFocusIn={keyboard.onFocusIn}
        onFocusOut={keyboard.onFocusOut}
      >
        {/* biome-ignore-start lint/a11y: rows of a real table can't be placed by script; the links in them take the focus */}
        <div
          role="table"
          aria-label={label}
          aria-rowcount={total + 1}
          aria-colcount={visibleColumns.length + (selection ? 1 : 0)}
          style={{
            '--columns': [
              ...(selection ? ['1.5rem'] : []),
              ...visibleColumns.map(({ width = '1fr' }) => gridTrack(width)),
            ].join(' '),
            '--row-height': `${rowWindow.rowHeight}px`,
          }}
        >
          <div role="rowgroup" class="table-header">
            <div role="row" aria-rowindex={1} class="table-row">
              {selection && (
                <div role="columnheader" class="cell select">
                  <SelectAllBox selection={selection} isVisible={!rowWindow.isCards} />
                </div>
              )}
              {visibleColumns.map((column) => (
                <ColumnHeader key={column.key} column={column} sort={sort} isVisible={!rowWindow.isCards} />
              ))}
            </div>
          </div>
          <div role="rowgroup" class="table-body" style={{ height: `${rows.length * rowWindow.rowHeight}px` }}>
            {indexes.map((index) => {
              const row = rows[index];
              return (
                row !== undefined && (
                  <TableRow
                    key={rowKey(row)}
                    row={row}
                    id={rowKey(row)}
                    selection={selection}
                    index={index}
                    top={index * rowWindow.rowHeight}
                    columns={visibleColumns}
                    href={href?.(row)}
                    isCurrent={index === keyboard.current}
                  />
                )
              );
            })}
          </div>
        </div>
        {/* biome-ignore-end lint/a11y: see above */}
      </section>
      {list && <p class="table-footer">{props.total ?? footerText(list)}</p>}
    </div>
  );
}

/** Tells the selection which rows there are. */
function useSelectableRows<Row>(
  selection: RowSelection | undefined,
  rows: readonly Row[],
  rowKey: (row: Row) => string,
): void {
  useLayoutEffect(() => {
    if (!selection) return;
    selection.loaded = rows.map(rowKey);
    selection.keepLoaded();
  }, [selection, rows]);
}

function gridTrack(width: string): string {
  return width.endsWith('fr') ? `minmax(0, ${width})` : width;
}

function footerText<Row>({ rows: { length }, totalCount, hasMore }: LiveList<Row>): string {
  const total = totalCount ?? (hasMore ? undefined : length);
  return total === undefined ? `${length.toLocaleString('en')} so far` : `${total.toLocaleString('en')} in all`;
}
