// One clock for all times on screen. It follows the gateway's clock, because all times on screen are the gateway's and
// the browser's clock may be wrong. It ticks while the page is visible.

import { signal } from '@preact/signals';

const TICK_MS = 1000;

/** Smaller differences are ignored: the header has whole seconds, and a response takes some time. */
const CLOCK_TOLERANCE_MS = 3000;

/** The current time in milliseconds; it changes every second. */
export const now = signal(Date.now());

/** How far the gateway's clock is ahead of the browser's clock. */
let clockOffsetMs = 0;

/** Adjusts the clock to the `Date` header of a response. */
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
