import type { Column } from './table-row.tsx';

/** How a table is sorted, and by what it can be. */
export interface TableSort {
  /** The members of the API that the list can be ordered by. */
  members: ReadonlySet<string>;
  directionOf: (member: string) => 'ascending' | 'descending' | undefined;
  /** Sorts by a member: upwards, downwards, and as it was. */
  sortBy: (member: string) => void;
}

interface ColumnHeaderProps<Row> {
  column: Column<Row>;
  sort: TableSort | undefined;
  /** Whether it is on screen, rather than for screen readers only. */
  isVisible: boolean;
}

/** The title of a column: a button where the list can be sorted by it. */
export function ColumnHeader<Row>({ column, sort, isVisible }: ColumnHeaderProps<Row>) {
  const { title, align, member } = column;
  const classes = align === 'end' ? 'cell end' : 'cell';
  if (!sort || member === undefined || !sort.members.has(member)) {
    return (
      // biome-ignore lint/a11y: see the table
      <div role="columnheader" class={classes}>
        {title}
      </div>
    );
  }
  const direction = sort.directionOf(member);
  return (
    // biome-ignore lint/a11y: see the table
    <div role="columnheader" aria-sort={direction ?? 'none'} class={classes}>
      <button type="button" class="sort" tabIndex={isVisible ? 0 : -1} onClick={() => sort.sortBy(member)}>
        {title}
        <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ''}</span>
      </button>
    </div>
  );
}
