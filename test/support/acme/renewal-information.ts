// When the authority wants certificates to be renewed (RFC 9773), as Boulder decides it.

import type { EndpointAnswer, EndpointState } from './endpoints.ts';
import { AcmeRefused } from './faults.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** @param id as RFC 9773, section 4.1, makes it. */
export function renewalInformation({ certificates, faults, now, base }: EndpointState, id: string): EndpointAnswer {
  const certificate = certificates.find((one) => one.id === id);
  if (!certificate) throw new AcmeRefused(404, 'malformed', 'Certificate not found');
  const { notBefore, notAfter, isRevoked } = certificate;
  const { explanationURL, ...window } =
    faults.renewalWindow ?? (isRevoked ? revoked(now(), base) : ordinary(notBefore, notAfter));
  const time = (at: number) => new Date(at).toISOString();
  return {
    headers: { 'retry-after': String((6 * HOUR_MS) / 1000) },
    body: { suggestedWindow: { start: time(window.start), end: time(window.end) }, explanationURL },
  };
}

interface Window {
  start: number;
  end: number;
  explanationURL?: string;
}

/** Around the time when a third of the lifetime is left, or a half when it is less than ten days. */
function ordinary(notBefore: number, notAfter: number): Window {
  const lifetime = notAfter - notBefore;
  const ideal = notAfter - lifetime / (lifetime < 10 * DAY_MS ? 2 : 3);
  return { start: ideal - lifetime / 50, end: ideal + lifetime / 50 };
}

const revoked = (now: number, base: string): Window => ({
  start: now - HOUR_MS,
  end: now - HOUR_MS / 2,
  explanationURL: `${base}/revoked`,
});
