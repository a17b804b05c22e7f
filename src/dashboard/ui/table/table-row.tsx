import { Component, type ComponentChildren } from 'preact';
import type { RowSelection } from './row-selection.ts';
import { SelectBox } from './select-box.tsx';

interface TableRowProps<Row> {
  row: Row;
  id: string;
  /** Where rows can be selected. It stays the same object. */
  selection: RowSelection | undefined;
  index: number;
  top: number;
  columns: readonly Column<Row>[];
  href: string | undefined;
  /** Whether the Tab key reaches this row. */
  isCurrent: boolean;
}

/** A row. It renders only if its own data changed, so that rows beside a change cost nothing. */
export class TableRow<Row> extends Component<TableRowProps<Row>> {
  override shouldComponentUpdate(next: TableRowProps<Row>): boolean {
    const { row, index, top, columns, href, isCurrent } = this.props;
    const isSame = row === next.row && index === next.index && top === next.top && href === next.href;
    return !isSame || isCurrent !== next.isCurrent || !haveSameCells(columns, next.columns);
  }

  render() {
    const { row, id, selection, index, top, columns, href, isCurrent } = this.props;
    const nameId = selection && `row-${id}`;
    return (
      // biome-ignore lint/a11y: see the table
      <div role="row" aria-rowindex={index + 2} class="table-row" style={{ transform: `translateY(${top}px)` }}>
        {selection && nameId && (
          // biome-ignore lint/a11y: see the table
          <div role="cell" class="cell select">
            <SelectBox selection={selection} id={id} labelledBy={nameId} isCurrent={isCurrent} />
          </div>
        )}
        {columns.map(({ key, title, cell, align, isLabelled = align === 'end' }, column) => (
          <div
            key={key}
            role={column === 0 ? 'rowheader' : 'cell'}
            id={column === 0 ? nameId : undefined}
            class={column === 0 ? 'cell name' : align === 'end' ? 'cell end' : 'cell'}
            data-title={isLabelled ? title : undefined}
          >
            {column === 0 && href !== undefined ? (
              <a class="row-link" href={href} tabIndex={isCurrent ? 0 : -1} data-index={index}>
                {cell(row)}
              </a>
            ) : (
              cell(row)
            )}
          </div>
        ))}
      </div>
    );
  }
}

// Columns that are constants keep their cells' identity; columns made during a render do not.
function haveSameCells<Row>(some: readonly Column<Row>[], others: readonly Column<Row>[]): boolean {
  return some.length === others.length && some.every((column, index) => column.cell === others[index]?.cell);
}

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** A track size of CSS grid: `2fr`, `8rem`. */
  width?: string;
  /** 1: always shown; 2: hidden on narrow screens; 3: shown on wide screens only. */
  priority?: 1 | 2 | 3;
  align?: 'start' | 'end';
  /** Whether its title stands before its value on cards, which have no headings; numbers have it unless said otherwise. */
  isLabelled?: boolean;
  /** The member of the API that it shows, as REST names it, where the list can be ordered by that. */
  member?: string;
}
