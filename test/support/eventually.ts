import { vi } from 'vitest';

/** Waits until a check passes, and fails with its last failure. A busy machine is no failure, so that it waits for long. */
export function eventually<T>(check: () => T | Promise<T>, { timeout = 30_000, interval = 10 } = {}): Promise<T> {
  return vi.waitFor(check, { timeout, interval });
}
