// What a table shows of each row.

import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** A track of CSS grid: `2fr`, `8rem`. */
  width?: string;
  /** 1: always shown; 2: left out on narrow screens; 3: shown on wide ones only. */
  priority?: 1 | 2 | 3;
  align?: 'start' | 'end';
}
