// How long a foreign answer can put a certificate off, and how far ahead a time may lie that was written by a clock which was wrong: what
// lies further ahead than any wait of its kind counts as due.

import { AWAY_MS, RETRIES_MS, SPREAD } from './backoff.ts';
import type { CertificateJob } from './job.ts';
import { latestRenewal } from './renewal-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TOO_MANY_REQUESTS = 429;
/** The longest waits that an authority is granted (RFC 8555, section 6.6, leaves that to the client); milliseconds. */
const WAIT_MAX_MS = {
  /** Let's Encrypt's longest window is seven days. */
  rateLimited: 7 * DAY_MS,
  /** It is overloaded or away, or something in between answers in its place: a portal, a page of a proxy. */
  other: 6 * HOUR_MS,
};
/** What is put off is put off by up to this more, so that not all is tried at the same moment. */
const SLACK_MS = 2 * MINUTE_MS;
/** How often a certificate that nears its end is tried until then, and how often at most. */
const URGENT = { tries: 8, minMs: HOUR_MS };

/** The longest wait of any kind. */
export const LONGEST_WAIT_MS = WAIT_MAX_MS.rateLimited + SLACK_MS;

/** The longest waits of jobs by their state, and of failed ones by their tries; milliseconds. */
export const LONGEST = {
  blocked: LONGEST_WAIT_MS,
  records: HOUR_MS * (1 + SPREAD) + SLACK_MS,
  /** Between two looks at the window of a renewal, and until a certificate is valid that is not yet. */
  step: DAY_MS + SLACK_MS,
  failed: RETRIES_MS.map((ms) => Math.max(ms * (1 + SPREAD), AWAY_MS.max) + SLACK_MS),
  failedOften: DAY_MS * (1 + SPREAD) + SLACK_MS,
  /** How far ahead the clock of another node may be: a lease that it took ends so much later than one that is taken here at that moment. */
  clocks: SLACK_MS,
} as const;

/** What is kept of a wait that an authority asks for, in milliseconds. @param status of its answer; undefined: none that could be used. */
export function grantedWait(ms: number, status?: number): number {
  return Math.min(ms, status === TOO_MANY_REQUESTS ? WAIT_MAX_MS.rateLimited : WAIT_MAX_MS.other);
}

/** Whether a time that was asked for is to be waited for. Times are in milliseconds since 1970. */
export function isBlocked(until: number | null | undefined, now: number): until is number {
  return typeof until === 'number' && until > now && until <= now + LONGEST_WAIT_MS;
}

/** Whether a certificate in force has so little of its life left that nobody's wish holds up its renewal. */
export function isUrgent({ certificate }: Pick<CertificateJob, 'certificate'>, now: number): boolean {
  return certificate !== null && latestRenewal(certificate) <= now && certificate.notAfter > now;
}

/**
 * The latest next try of a job whose certificate is in force, in milliseconds since 1970: the moment when a tenth of its life is left,
 * so that no wait of whatever kind leads past it; after that, an eighth of what is left, at least an hour. Infinity without one.
 */
export function latestTry({ certificate }: Pick<CertificateJob, 'certificate'>, now: number): number {
  if (certificate === null || certificate.notAfter <= now) return Number.POSITIVE_INFINITY;
  const mark = latestRenewal(certificate);
  return now < mark ? mark : now + Math.max((certificate.notAfter - now) / URGENT.tries, URGENT.minMs);
}
