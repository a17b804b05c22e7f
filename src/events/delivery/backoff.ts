// How long the queue of a destination waits after a failure: exponential backoff with full jitter.

import type { SinkError } from '../sinks/sink.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** The longest wait, whatever a provider asks for. */
export const WAIT_MAX_MS = 15 * MINUTE;
const CONFIG_WAIT_MIN_MS = 5 * MINUTE;
/** A role or permission that was just granted takes a moment to spread at the provider, so the first failures are retried quickly. */
const QUICK_CONFIG_ATTEMPTS = 3;

/**
 * Milliseconds until the next attempt: a random time of at most 1 second, doubled with every failure up to 15 minutes. So
 * queues that failed together are not retried together. A failure that only the customer can mend waits for 5 to 15 minutes.
 * @param attempts failures before this one, since the last success.
 * @param random returns a number in [0, 1).
 */
export function backoff(
  { kind, retryAfter = 0 }: Pick<SinkError, 'kind' | 'retryAfter'>,
  attempts: number,
  random: () => number,
): number {
  const least = Math.min(Math.max(retryAfter, 0), WAIT_MAX_MS);
  const isSlow = kind === 'config' && attempts >= QUICK_CONFIG_ATTEMPTS;
  const from = isSlow ? CONFIG_WAIT_MIN_MS : 0;
  const to = isSlow ? WAIT_MAX_MS : Math.min(WAIT_MAX_MS, SECOND * 2 ** attempts);
  return Math.max(least, Math.round(from + random() * (to - from)));
}
