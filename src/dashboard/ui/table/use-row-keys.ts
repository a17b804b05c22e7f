import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowSelection } from './row-selection.ts';
import type { RowWindow } from './use-row-window.ts';

export interface RowKeyboard {
  /** The row that the Tab key reaches. */
  current: number;
  onKeyDown: (event: KeyboardEvent) => void;
  onFocusIn: (event: FocusEvent) => void;
  onFocusOut: (event: FocusEvent) => void;
}

/**
 * Keyboard navigation in a table (roving tabindex): Tab reaches one row, and the arrow keys move from there. The focus
 * stays with its row while others come and go, and moves to the next row when that one is deleted. `x` selects the row,
 * and `X` the rows up to it.
 */
export function useRowKeyboard<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  rowWindow: RowWindow,
  selection?: RowSelection,
): RowKeyboard {
  const [currentRow, setCurrentRow] = useState<{ key: string; index: number }>({ key: '', index: 0 });
  const focusedKey = useRef('');
  const shouldFocus = useRef(false);
  const current = indexOf(rows, rowKey, currentRow);

  useLayoutEffect(() => {
    const row = rows[current];
    if (row === undefined) return;
    const isFocusedRowDeleted =
      focusedKey.current !== '' && document.activeElement === document.body && rowKey(row) !== focusedKey.current;
    if (!shouldFocus.current && !isFocusedRowDeleted) return;
    shouldFocus.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)?.focus({ preventScroll: true });
  });

  function setCurrent(index: number) {
    const row = rows[index];
    if (row !== undefined) setCurrentRow({ key: rowKey(row), index });
  }

  function onKeyDown(event: KeyboardEvent) {
    if (selectByKey(event)) return event.preventDefault();
    const pageSize = Math.max(1, rowWindow.rowsPerPage - 1);
    const steps: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + pageSize,
      PageUp: current - pageSize,
      Home: 0,
      End: rows.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined || indexIn(event) === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(rows.length - 1, next));
    shouldFocus.current = true;
    setCurrent(index);
    rowWindow.scrollToRow(index);
  }

  /** @returns whether the key is one that selects. */
  function selectByKey(event: KeyboardEvent): boolean {
    const row = rows[current];
    if (!selection || row === undefined || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (indexIn(event) === undefined) return false;
    if (event.key === 'x') selection.toggle(rowKey(row));
    else if (event.key === 'X') selection.extendTo(rowKey(row));
    else return false;
    return true;
  }

  function onFocusIn(event: FocusEvent) {
    const index = indexIn(event);
    const row = index === undefined ? undefined : rows[index];
    if (index === undefined || row === undefined) return;
    focusedKey.current = rowKey(row);
    setCurrent(index);
  }

  // If the row is deleted the focus has to move on; if it still exists the user has left it.
  function onFocusOut({ target }: FocusEvent) {
    queueMicrotask(() => {
      if (target instanceof Node && target.isConnected) focusedKey.current = '';
    });
  }

  return { current, onKeyDown, onFocusIn, onFocusOut };
}

function indexIn({ target }: Event): number | undefined {
  const index = target instanceof HTMLElement ? target.dataset.index : undefined;
  return index === undefined ? undefined : Number(index);
}

function indexOf<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  { key, index }: { key: string; index: number },
): number {
  const row = rows[index];
  if (key === '' || (row !== undefined && rowKey(row) === key)) return index;
  const found = rows.findIndex((other) => rowKey(other) === key);
  return found >= 0 ? found : Math.max(0, Math.min(rows.length - 1, index));
}
