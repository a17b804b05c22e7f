import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TableWindow } from './use-row-window.ts';

export interface RowKeys {
  /** The row that the tabulator comes to. */
  current: number;
  pressed: (event: KeyboardEvent) => void;
  focused: (event: FocusEvent) => void;
  left: (event: FocusEvent) => void;
}

/**
 * Moves among the rows of a table by keyboard: the tabulator comes to one row, arrows go from there. It stays with its
 * row while others come and go, and goes to the next when that row is deleted.
 */
export function useRowKeys<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  view: TableWindow,
): RowKeys {
  const [chosen, setChosen] = useState<{ key: string; index: number }>({ key: '', index: 0 });
  const held = useRef('');
  const toFocus = useRef(false);
  const current = indexOf(rows, keyOf, chosen);

  useLayoutEffect(() => {
    const row = rows[current];
    if (row === undefined) return;
    const isGone = held.current !== '' && document.activeElement === document.body && keyOf(row) !== held.current;
    if (!toFocus.current && !isGone) return;
    toFocus.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"]`)?.focus({ preventScroll: true });
  });

  function choose(index: number) {
    const row = rows[index];
    if (row !== undefined) setChosen({ key: keyOf(row), index });
  }

  function pressed(event: KeyboardEvent) {
    const page = Math.max(1, view.onPage - 1);
    const steps: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: rows.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined || indexIn(event) === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const index = Math.max(0, Math.min(rows.length - 1, next));
    toFocus.current = true;
    choose(index);
    view.toRow(index);
  }

  function focused(event: FocusEvent) {
    const index = indexIn(event);
    const row = index === undefined ? undefined : rows[index];
    if (index === undefined || row === undefined) return;
    held.current = keyOf(row);
    choose(index);
  }

  // A row that was deleted takes the focus with it; one that is still there was left on purpose.
  function left({ target }: FocusEvent) {
    queueMicrotask(() => {
      if (target instanceof Node && target.isConnected) held.current = '';
    });
  }

  return { current, pressed, focused, left };
}

function indexIn({ target }: Event): number | undefined {
  const index = target instanceof HTMLElement ? target.dataset.index : undefined;
  return index === undefined ? undefined : Number(index);
}

function indexOf<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  { key, index }: { key: string; index: number },
): number {
  const row = rows[index];
  if (key === '' || (row !== undefined && keyOf(row) === key)) return index;
  const found = rows.findIndex((other) => keyOf(other) === key);
  return found >= 0 ? found : Math.max(0, Math.min(rows.length - 1, index));
}
