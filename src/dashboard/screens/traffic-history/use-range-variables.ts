import { useComputed } from '@preact/signals';
import { now } from '../../data/clock.ts';
import { boundsOf, RECENT_RANGES, type TimeRange } from '../../data/routing/time-range.ts';
import type { TrafficStep } from '../../generated/operations.ts';

/** Figures come in steps of so many milliseconds. */
const FIGURE_MS = 10_000;
/** A long range costs more, and moves on less often. */
const MOVES_PER_RANGE = 360;

export interface RangeVariables {
  from: string;
  to: string;
  /** Null: one that suits the range. */
  step: TrafficStep | null;
}

/**
 * The variables of a query for a range. Those of a range up to now change while the page is visible.
 * @param minMoveMs how often at most, in milliseconds.
 */
export function useRangeVariables(range: TimeRange, minMoveMs = FIGURE_MS): RangeVariables {
  const lengthMs = 'recent' in range ? RECENT_RANGES[range.recent].lengthMs : 0;
  const moveMs = Math.max(minMoveMs, lengthMs / MOVES_PER_RANGE);
  const moment = useComputed(() => Math.ceil(now.value / moveMs) * moveMs);
  const { from, to } = boundsOf(range, 'recent' in range ? moment.value : moment.peek());
  const isShort = lengthMs > 0 && lengthMs <= RECENT_RANGES['1h'].lengthMs;
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    step: isShort ? 'TEN_SECONDS' : null,
  };
}
