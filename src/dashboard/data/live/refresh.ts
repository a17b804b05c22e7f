// Decides when to load data again: after changes (debounced), after a gap in the change feed, and by polling while
// visible.

import { type ChangeEvents, onObjectChange } from './change-feed.ts';

/** Changes within this time cause one request. */
const DEBOUNCE_MS = 300;

/** The shortest time between two requests while changes keep coming. */
const MIN_INTERVAL_MS = 1000;

export interface RefreshTriggers {
  /** The kinds of objects whose changes affect the data. */
  kinds?: readonly string[];
  /** The polling interval while the page is visible. */
  pollMs?: number;
}

/**
 * Calls `fetchData` on every trigger, never twice at a time. `onEvents` gets the change events before that.
 * @returns functions that refresh at once, refresh after the debounce time, and stop.
 */
export function refreshOn(
  { kinds = [], pollMs }: RefreshTriggers,
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

  function scheduleRefresh(): void {
    const delay = lastRunAt + MIN_INTERVAL_MS - performance.now();
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

  function stop(): void {
    isStopped = true;
    removeListener();
    clearTimeout(debounceTimer);
    clearInterval(pollTimer);
  }

  return { refreshNow, scheduleRefresh, stop };
}
