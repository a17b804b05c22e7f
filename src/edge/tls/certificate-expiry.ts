// When certificates end, of as many as can be told one by one.

/** So many are told of one by one: those that end first. */
export const REPORTED_MAX = 20;
/** A certificate that ends so soon should have been replaced; milliseconds. */
export const SOON_MS = 30 * 86_400_000;

/** When a certificate ends. */
export interface Expiry {
  /** Whose it is: made by the gateway itself, read from files, uploaded through the API, or obtained from an authority. */
  source: 'authority' | 'listener' | 'api' | 'directory' | 'upload' | 'managed';
  id: string;
  /** Milliseconds since 1970. */
  notAfter: number;
}

export interface Expiries {
  /** Those in force that end first, at most 20; where they are fewer, also those that have ended. */
  first: readonly Expiry[];
  /** How many of all end within 30 days, and how many have ended. */
  expiring: number;
  expired: number;
}

/** @param certificates all of them, in any order. @param now the wall clock, in milliseconds. */
export function expiriesOf(certificates: readonly Expiry[], now: number): Expiries {
  const hasEnded = ({ notAfter }: Expiry) => notAfter <= now;
  const byEnd = certificates.toSorted((a, b) => Number(hasEnded(a)) - Number(hasEnded(b)) || a.notAfter - b.notAfter);
  const expired = byEnd.filter(hasEnded).length;
  const expiring = byEnd.filter(({ notAfter }) => notAfter <= now + SOON_MS).length - expired;
  return { first: byEnd.slice(0, REPORTED_MAX), expiring, expired };
}
