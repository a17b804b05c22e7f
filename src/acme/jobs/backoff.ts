// When a failed job is tried again, and how often records are looked up. Let's Encrypt recommends 1, 10 and 100 minutes, then daily.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Refused issuance. */
export const RETRIES_MS: readonly number[] = [MINUTE_MS, 10 * MINUTE_MS, 100 * MINUTE_MS];
/** Each delay is longer by up to this part, so that jobs which failed together are not tried together. */
export const SPREAD = 0.1;
/** How often an authority that is away is tried: no more than five times an hour, which the limit of failures allows. */
export const AWAY_MS = { first: MINUTE_MS, min: 15 * MINUTE_MS, max: 30 * MINUTE_MS };
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

/**
 * The delay until an authority that was away is asked again, in milliseconds: that says nothing of the names, and ends by itself.
 * @param count how often in a row it was away, this time among them.
 */
export function awayDelay(count: number, random: number): number {
  return count === 1 ? AWAY_MS.first * (1 + SPREAD * random) : AWAY_MS.min + (AWAY_MS.max - AWAY_MS.min) * random;
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

/**
 * After so long, and so many tries, without a certificate a job waits for a person: names that never come right use up the limits of the
 * authority. In that time there are some 33 tries, or 900 looks at records; fewer mean that the clock was wrong, or the gateway off.
 */
const GIVE_UP = { ms: 30 * DAY_MS, attempts: 20, lookups: 100 };

/** Whether a job is given up. @param tries failures, this one among them, or looks at records that are not right. */
export function isHopeless(sinceMs: number, tries: { attempts: number } | { lookups: number }): boolean {
  if (sinceMs <= GIVE_UP.ms) return false;
  return 'attempts' in tries ? tries.attempts >= GIVE_UP.attempts : tries.lookups >= GIVE_UP.lookups;
}
