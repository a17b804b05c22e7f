// Lists that were left a moment ago: who comes back finds the rows, and the place in them, as they were.

import type { Identified } from './list-rows.ts';
import { ListSource } from './list-source.ts';

/** A list can have many thousand rows, so few are kept. */
const MOST = 4;

export interface Kept<Row extends Identified> {
  source: ListSource<Row>;
  /** How far it was scrolled, in pixels. */
  scroll: { top: number };
}

const lists = new Map<string, Kept<Identified>>();

/** The list of this key as it was left, or a new one. It is the caller's alone until it is kept again. */
export function takeList<Row extends Identified>(key: string): Kept<Row> {
  const kept = lists.get(key) ?? { source: new ListSource<Identified>(), scroll: { top: 0 } };
  lists.delete(key);
  // The key names the operation, and with it what its rows are.
  return kept as unknown as Kept<Row>;
}

/** Keeps a list that is left. */
export function keepList<Row extends Identified>(key: string, kept: Kept<Row>): void {
  lists.delete(key);
  lists.set(key, kept as unknown as Kept<Identified>);
  const [oldest] = lists.keys();
  if (lists.size > MOST && oldest !== undefined) lists.delete(oldest);
}

/** Forgets all: they belong to who was signed in. */
export function forgetLists(): void {
  lists.clear();
}
