// Which rows of a long table are drawn, and how what is looked at stays where it is while rows come and go above it.

import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows drawn beyond both edges, so that a quick scroll doesn't show emptiness. */
const BEYOND = 6;
const CARDS_BELOW = 600;
const WIDE_FROM = 960;

export interface TableWindow {
  /** The rows to draw: from, and the one beyond the last. */
  from: number;
  to: number;
  /** The least important column that there is room for. */
  priority: 1 | 2 | 3;
  isCards: boolean;
  rowHeight: number;
  /** How many rows there is room for. */
  onPage: number;
  /** How many rows came above while one looked further down. */
  above: number;
  scrolled: () => void;
  toTop: () => void;
  toRow: (index: number) => void;
  /** The rows to draw, with one more that must not vanish. */
  indexes: (kept: number) => readonly number[];
}

export function useWindow<Row>(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  heights: { rowHeight: number; cardHeight: number },
  scroll: { top: number } = { top: 0 },
): TableWindow {
  const [size, setSize] = useState({ width: 1000, height: 600 });
  const [first, setFirst] = useState(0);
  const [above, setAbove] = useState(0);
  const anchor = useRef<{ key: string; index: number } | undefined>(undefined);
  const frame = useRef<number | undefined>(undefined);
  const isCards = size.width < CARDS_BELOW;
  const rowHeight = isCards ? heights.cardHeight : heights.rowHeight;
  const isThere = rows.length > 0;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isThere]);

  // Before anything is remembered: the place where the list was left.
  useLayoutEffect(() => {
    if (isThere && scroll.top > 0) scroller.current?.scrollTo({ top: scroll.top });
  }, [isThere]);

  // Who looks at the very top, without pointing at a row, sees new rows come in; all others keep what they look at.
  useLayoutEffect(() => {
    const element = scroller.current;
    const held = anchor.current;
    if (!element || !held) return remember();
    const before = keyAt(held.index);
    if (before === held.key) return;
    const index = rows.findIndex((row) => keyOf(row) === held.key);
    const isHeld = element.scrollTop > rowHeight / 2 || element.matches(':hover, :focus-within');
    const moved = index - held.index;
    if (index >= 0 && moved > 0 && isHeld) {
      const top = element.scrollTop;
      element.scrollTop += moved * rowHeight;
      // A list that is all in view, or nearly so, can't be moved that far.
      const hidden = Math.round((element.scrollTop - top) / rowHeight);
      if (hidden > 0) setAbove((count) => count + hidden);
    } else if (index >= 0 && moved < 0) {
      element.scrollTop += moved * rowHeight;
    }
    remember();
  }, [rows]);

  function keyAt(index: number): string | undefined {
    const row = rows[index];
    return row === undefined ? undefined : keyOf(row);
  }

  function remember() {
    const index = Math.floor((scroller.current?.scrollTop ?? 0) / rowHeight);
    const key = keyAt(index);
    anchor.current = key === undefined ? undefined : { key, index };
  }

  function scrolled() {
    frame.current ??= requestAnimationFrame(() => {
      frame.current = undefined;
      const top = scroller.current?.scrollTop ?? 0;
      scroll.top = top;
      remember();
      setFirst(Math.floor(top / rowHeight));
      if (top < rowHeight) setAbove(0);
    });
  }

  function toRow(index: number) {
    const element = scroller.current;
    if (!element) return;
    const head = isCards ? 0 : heights.rowHeight;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight - head) {
      element.scrollTop = top + rowHeight - element.clientHeight + head;
    }
  }

  const from = Math.max(0, Math.min(first, rows.length - 1) - BEYOND);
  const to = Math.min(rows.length, first + Math.ceil(size.height / rowHeight) + BEYOND);
  return {
    from,
    to,
    priority: isCards ? 1 : size.width < WIDE_FROM ? 2 : 3,
    isCards,
    rowHeight,
    onPage: Math.floor(size.height / rowHeight) - (isCards ? 0 : 1),
    above,
    scrolled,
    toTop: () => scroller.current?.scrollTo({ top: 0 }),
    toRow,
    indexes: (kept) => {
      const drawn = Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset);
      return kept < from || kept >= to ? [...drawn, kept] : drawn;
    },
  };
}
