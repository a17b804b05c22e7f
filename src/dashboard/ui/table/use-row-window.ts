// The window of rows that a virtualized table renders. Rows that are added above the window do not move what is
// visible.

import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows rendered beyond both edges, so that fast scrolling shows no blank area. */
const OVERSCAN = 6;
const CARDS_MAX_WIDTH = 600;
const WIDE_MIN_WIDTH = 960;

export interface RowWindow {
  /** The range to render; `to` is exclusive. */
  from: number;
  to: number;
  /** The highest column priority that fits. */
  priority: 1 | 2 | 3;
  isCards: boolean;
  rowHeight: number;
  /** How many rows fit into the viewport. */
  rowsPerPage: number;
  /** How many rows were added above since the user scrolled down. */
  newRowsAbove: number;
  onScroll: () => void;
  scrollToTop: () => void;
  scrollToRow: (index: number) => void;
  /** The indexes of the rows to render, and one more that has to stay mounted. */
  indexesWith: (extraIndex: number) => readonly number[];
}

export function useRowWindow<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  heights: { rowHeight: number; cardHeight: number },
  listScroll?: { top: number },
): RowWindow {
  const ownScroll = useRef({ top: 0 });
  const scroll = listScroll ?? ownScroll.current;
  const [size, setSize] = useState({ width: 1000, height: 600 });
  const [first, setFirst] = useState(0);
  const [newRowsAbove, setAbove] = useState(0);
  const anchor = useRef<{ key: string; index: number } | undefined>(undefined);
  const frame = useRef<number | undefined>(undefined);
  const isCards = size.width < CARDS_MAX_WIDTH;
  const rowHeight = isCards ? heights.cardHeight : heights.rowHeight;
  const hasRows = rows.length > 0;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [hasRows]);

  // The scroll position of the last visit is restored before an anchor is stored. Another list begins at its own.
  const shownScroll = useRef(scroll);
  useLayoutEffect(() => {
    const isOther = shownScroll.current !== scroll;
    shownScroll.current = scroll;
    if (isOther) anchor.current = undefined;
    if (hasRows && (isOther || scroll.top > 0)) scroller.current?.scrollTo({ top: scroll.top });
  }, [hasRows, scroll]);

  // At the very top, new rows appear unless the pointer or the focus is on a row. Everywhere else the visible rows
  // stay.
  useLayoutEffect(() => {
    const element = scroller.current;
    const previousAnchor = anchor.current;
    if (!element || !previousAnchor) return storeAnchor();
    const before = keyAtIndex(previousAnchor.index);
    if (before === previousAnchor.key) return;
    const index = rows.findIndex((row) => rowKey(row) === previousAnchor.key);
    const isAnchored = element.scrollTop > rowHeight / 2 || element.matches(':hover, :focus-within');
    const shift = index - previousAnchor.index;
    if (index >= 0 && shift > 0 && isAnchored) {
      const top = element.scrollTop;
      element.scrollTop += shift * rowHeight;
      // A list that is shorter than the viewport cannot scroll that far.
      const hidden = Math.round((element.scrollTop - top) / rowHeight);
      if (hidden > 0) setAbove((count) => count + hidden);
    } else if (index >= 0 && shift < 0) {
      element.scrollTop += shift * rowHeight;
    }
    storeAnchor();
  }, [rows]);

  function keyAtIndex(index: number): string | undefined {
    const row = rows[index];
    return row === undefined ? undefined : rowKey(row);
  }

  function storeAnchor() {
    const index = Math.floor((scroller.current?.scrollTop ?? 0) / rowHeight);
    const key = keyAtIndex(index);
    anchor.current = key === undefined ? undefined : { key, index };
  }

  function onScroll() {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      const top = scroller.current?.scrollTop ?? 0;
      scroll.top = top;
      storeAnchor();
      setFirst(Math.floor(top / rowHeight));
      if (top < rowHeight) setAbove(0);
    });
  }

  function scrollToRow(index: number) {
    const element = scroller.current;
    if (!element) return;
    const head = isCards ? 0 : heights.rowHeight;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight - head) {
      element.scrollTop = top + rowHeight - element.clientHeight + head;
    }
  }

  const from = Math.max(0, Math.min(first, rows.length - 1) - OVERSCAN);
  const to = Math.min(rows.length, first + Math.ceil(size.height / rowHeight) + OVERSCAN);
  return {
    from,
    to,
    priority: isCards ? 1 : size.width < WIDE_MIN_WIDTH ? 2 : 3,
    isCards,
    rowHeight,
    rowsPerPage: Math.floor(size.height / rowHeight) - (isCards ? 0 : 1),
    newRowsAbove,
    onScroll,
    scrollToTop: () => scroller.current?.scrollTo({ top: 0 }),
    scrollToRow,
    indexesWith: (extraIndex) => {
      const rendered = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
      return extraIndex < from || extraIndex >= to ? [...rendered, extraIndex] : rendered;
    },
  };
}
