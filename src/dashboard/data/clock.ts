// One clock for all times on screen, and it is the gateway's: the times that are shown are, too, and a browser's clock
// may be wrong. It ticks while the page is visible.

import { signal } from '@preact/signals';

const TICK_MS = 1000;

/** The gateway tells its time in whole seconds, and an answer takes a while: less than this is no difference. */
const CLOCK_TOLERANCE_MS = 3000;

/** The time, in milliseconds, to the second. */
export const now = signal(Date.now());

/** How far the gateway's clock is ahead of the browser's. */
let clockOffsetMs = 0;

/** Takes the time of an answer, as its header `Date` has it. */
export function syncClock(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (Number.isNaN(difference) || Math.abs(difference - clockOffsetMs) < CLOCK_TOLERANCE_MS) return;
  clockOffsetMs = Math.abs(difference) < CLOCK_TOLERANCE_MS ? 0 : difference;
  tick();
}

function tick(): void {
  now.value = Date.now() + clockOffsetMs;
}

setInterval(() => {
  if (!document.hidden) tick();
}, TICK_MS);

document.addEventListener('visibilitychange', tick);
