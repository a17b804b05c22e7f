import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two checks of what has just begun, and of what takes seconds: each may be a request. Milliseconds. */
const [SHORT_MS, LONG_MS] = [10, 100];

/** Waits until a check passes, and fails with its last failure. A busy machine is no failure, so that it waits for long. */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeout = 30_000, interval }: { timeout?: number; interval?: number } = {},
): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waited = performance.now() - began;
      if (waited > timeout) throw error;
      await pause(interval ?? Math.min(LONG_MS, Math.max(SHORT_MS, waited / 10)));
    }
  }
}
