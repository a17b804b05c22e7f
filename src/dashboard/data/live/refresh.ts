// Decides when to load data again: after changes (debounced), after a gap in the change feed, and by polling while
// visible.

import { type ChangeEvents, onObjectChange } from './change-feed.ts';

/** Changes within this time cause one request. */
const DEBOUNCE_MS = 300;

/** The shortest time between two requests while changes keep coming, unless a caller wants a longer one. */
const MIN_INTERVAL_MS = 1000;

export interface RefreshTriggers {
  /** The kinds of objects whose changes affect the data. */
  kinds?: readonly string[];
  /** The polling interval while the page is visible. */
  pollMs?: number;
  /** The shortest time between two requests while changes keep coming; for requests that cost much. */
  minIntervalMs?: number;
}

/** Functions that load data with an answer that is younger than their call, by the kinds of objects in it. */
const mounted = new Map<() => Promise<void>, ReadonlySet<string>>();

/** Loads everything on screen that shows objects of this kind again, now. */
export async function refreshObjects(kind: string): Promise<void> {
  await Promise.all([...mounted].map(([refreshAnew, kinds]) => kinds.has(kind) && refreshAnew()));
}

/**
 * Calls `fetchData` on every trigger, never twice at a time. `onEvents` gets the change events before that.
 * @returns functions that refresh at once, refresh after the debounce time, and stop.
 */
export function refreshOn(
  { kinds = [], pollMs, minIntervalMs = MIN_INTERVAL_MS }: RefreshTriggers,
  fetchData: () => Promise<void>,
  onEvents: (events: ChangeEvents) => void = () => {},
): { refreshNow: () => Promise<void>; scheduleRefresh: () => void; stop: () => void } {
  let debounceTimer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;
  let isRunAgain = false;
  let lastRunAt = 0;
  let isStopped = false;

  const removeListener =
    kinds.length > 0
      ? onObjectChange(kinds, (events) => {
          onEvents(events);
          scheduleRefresh();
        })
      : () => {};
  const pollTimer = pollMs === undefined ? undefined : setInterval(() => document.hidden || void refreshNow(), pollMs);

  mounted.set(refreshAnew, new Set(kinds));

  function scheduleRefresh(): void {
    const delay = lastRunAt + minIntervalMs - performance.now();
    debounceTimer ??= setTimeout(() => void refreshNow(), Math.max(DEBOUNCE_MS, delay));
  }

  async function refreshNow(): Promise<void> {
    clearTimeout(debounceTimer);
    debounceTimer = undefined;
    if (running) {
      isRunAgain = true;
      return running;
    }
    lastRunAt = performance.now();
    running = fetchData();
    await running;
    running = undefined;
    if (isRunAgain && !isStopped) scheduleRefresh();
    isRunAgain = false;
  }

  async function refreshAnew(): Promise<void> {
    await running;
    await refreshNow();
  }

  function stop(): void {
    isStopped = true;
    mounted.delete(refreshAnew);
    removeListener();
    clearTimeout(debounceTimer);
    clearInterval(pollTimer);
  }

  return { refreshNow, scheduleRefresh, stop };
}
