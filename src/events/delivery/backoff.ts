// How long a lane waits after a failure.

import type { SinkError } from '../sinks/sink.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** The longest wait, whatever a provider asks for. */
export const WAIT_MAX_MS = 15 * MINUTE;
const CONFIG_WAIT_MIN_MS = 5 * MINUTE;
/** A role or a right that was just given takes a moment to be known everywhere: so many failures are retried quickly. */
const QUICK_CONFIG_ATTEMPTS = 3;

/**
 * Milliseconds until the next attempt: any time up to 1 s, doubled with every failure, to 15 min, so that lanes that
 * failed together do not come back together. What only the customer can mend waits for 5 to 15 min.
 * @param attempts failures before this one, since the last success.
 * @param random from 0, below 1.
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
