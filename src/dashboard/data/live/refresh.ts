// When something on screen is asked again: after changes (gathered), after a gap, and by the clock while it is seen.

import { type ChangeEvents, onObjectChange } from './change-feed.ts';

/** Changes that come together are asked for together. */
const DEBOUNCE_MS = 300;

/** While change follows change, what is on screen is asked no oftener than this. */
const MIN_INTERVAL_MS = 1000;

export interface RefreshTriggers {
  /** The kinds of objects whose changes concern what is shown. */
  kinds?: readonly string[];
  /** How often to ask although nothing is known to have changed, while the page is visible. */
  pollMs?: number;
}

/**
 * Calls `ask` on every occasion, never twice at a time. `hear` is told of news before that.
 * @returns what asks at once, and what ends it.
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
