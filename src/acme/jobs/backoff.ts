// When a failed job is tried again, and how often records are looked up. Let's Encrypt recommends 1, 10 and 100 minutes, then daily.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RETRIES_MS = [MINUTE_MS, 10 * MINUTE_MS, 100 * MINUTE_MS];
/** Each delay is longer by up to this part, so that jobs which failed together are not tried together. */
const SPREAD = 0.1;
/** A certificate in force that nears its end has this many tries more, at most one an hour. */
const TRIES_UNTIL_END = 8;

/**
 * The delay until the next try, in milliseconds.
 * @param attempts failures since the last success, this one among them.
 * @param remainingMs until the certificate in force ends; undefined where there is none.
 * @param random from 0 to 1.
 */
export function retryDelay(attempts: number, remainingMs: number | undefined, random: number): number {
  const usual = RETRIES_MS[attempts - 1] ?? DAY_MS;
  const urgent = remainingMs === undefined ? DAY_MS : Math.max(remainingMs / TRIES_UNTIL_END, HOUR_MS);
  return Math.min(usual, urgent) * (1 + SPREAD * random);
}

/** How often records that are missing are looked up, by how long they have been missing; milliseconds. */
export function recordsDelay(waitedMs: number, random: number): number {
  const delay =
    waitedMs < 10 * MINUTE_MS
      ? MINUTE_MS / 2
      : waitedMs < HOUR_MS
        ? 2 * MINUTE_MS
        : waitedMs < DAY_MS
          ? 10 * MINUTE_MS
          : HOUR_MS;
  return delay * (1 + SPREAD * random);
}

/** After so long without a certificate a job waits for a person: names that never come right use up the limits of the authority. */
export const GIVE_UP_MS = 30 * DAY_MS;
