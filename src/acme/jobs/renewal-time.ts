// When a certificate is renewed: at a moment in the window that the authority gives (ARI, RFC 9773), else when a third of its life is
// left (half, where it lives less than ten days), and in any case some time before its end.

import type { RenewalInfo } from './job.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SHORT_LIFE_MS = 10 * DAY_MS;
/** The part of its life that a certificate has left when it is renewed whatever the authority says. */
const EMERGENCY = 1 / 10;
/** Renewals without a window are spread over this part of the life. */
const SPREAD = 1 / 30;
/** How often the authority is asked for its window, unless it says otherwise. */
const CHECK_MS = { min: HOUR_MS, usual: 6 * HOUR_MS, max: DAY_MS };

export interface CertificateLife {
  notBefore: number;
  notAfter: number;
}

/** The renewal without a word of the authority. @param random from 0 to 1. Times are in milliseconds since 1970. */
export function usualRenewal({ notBefore, notAfter }: CertificateLife, random: number): number {
  const life = notAfter - notBefore;
  const left = life < SHORT_LIFE_MS ? 1 / 2 : 1 / 3;
  return Math.round(notAfter - life * left - life * SPREAD * random);
}

/** No certificate in force gets older than this. */
export function latestRenewal({ notBefore, notAfter }: CertificateLife): number {
  return notAfter - (notAfter - notBefore) * EMERGENCY;
}

/** The moment in a window: chosen once, and again only when the window changes. */
export function chooseInWindow(
  window: { start: number; end: number },
  known: Pick<RenewalInfo, 'start' | 'end' | 'chosen'> | null,
  random: number,
): number {
  const isSame = known?.start === window.start && known.end === window.end;
  if (isSame && known.chosen !== undefined) return known.chosen;
  return Math.round(window.start + Math.max(0, window.end - window.start) * random);
}

/** When the authority is asked for the window again. @param retryAfterMs what it said. */
export function nextCheck(now: number, retryAfterMs: number | undefined): number {
  return now + Math.min(Math.max(retryAfterMs ?? CHECK_MS.usual, CHECK_MS.min), CHECK_MS.max);
}
