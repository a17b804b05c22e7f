// Tries again what was lost: soon at first, then ever more seldom, never all browsers at once.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** How long to wait before attempt number `attempt` (from 0), in milliseconds. */
export function waitBefore(attempt: number, random = Math.random): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
  return longest / 2 + (random() * longest) / 2;
}
