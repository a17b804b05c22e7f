// Exponential backoff with jitter, so that browsers do not reconnect all at once.

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;

/** The delay before attempt number `attempt` (from 0), in milliseconds. */
export function retryDelay(attempt: number, random = Math.random): number {
  const longest = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** attempt);
  return longest / 2 + (random() * longest) / 2;
}
