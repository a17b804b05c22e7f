// When the authority wants a certificate to be renewed (ARI, RFC 9773).

import { X509Certificate as NodeCertificate } from 'node:crypto';
import { x509 } from '../../runtime/x509.ts';
import type { AcmeHttpResponse } from './http-exchange.ts';
import { objectIn, objectOf, Reader } from './json-response.ts';
import { AcmeUnreachable } from './problem.ts';
import { retryAfterMs } from './retry-after.ts';

/** When to renew a certificate: at a random time within the window. One in the past says that it is revoked, or will be. */
export interface RenewalInformation {
  /** In milliseconds since 1970. */
  start: number;
  /** Not before `start`, but may be the same. */
  end: number;
  /** A page that says why. */
  explanationUrl?: string;
  /** When to ask again, from a minute to a day (RFC 9773, section 4.3.2), in milliseconds from now on. */
  retryAfterMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export function parseRenewalInformation(response: AcmeHttpResponse): RenewalInformation {
  const members = objectOf(response);
  const window = new Reader(response, objectIn(members.suggestedWindow), 'renewal information');
  window.string('start');
  window.string('end');
  const start = window.time('start') as number;
  const end = window.time('end') as number;
  if (end < start) throw new AcmeUnreachable('The ACME server suggests to renew in a time that ends before it begins.');
  return {
    start,
    end,
    explanationUrl: new Reader(response, members, 'renewal information').optional('explanationURL'),
    retryAfterMs: Math.min(Math.max(retryAfterMs(response.headers) ?? 6 * HOUR_MS, MINUTE_MS), 24 * HOUR_MS),
  };
}

/**
 * The id of a certificate (RFC 9773, section 4.1), by which also an order says what it replaces.
 * @throws when the certificate does not name the key of its issuer.
 */
export function ariCertificateId(leafPem: string): string {
  const { AuthorityKeyIdentifierExtension, X509Certificate } = x509();
  const certificate = new X509Certificate(new NodeCertificate(leafPem).raw);
  const keyId = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  if (!keyId) throw new Error('The certificate does not name the key of its issuer (authority key identifier).');
  return [keyId, derInteger(certificate.serialNumber)]
    .map((hex) => Buffer.from(hex, 'hex').toString('base64url'))
    .join('.');
}

/** The content octets of a positive number in DER: a first bit of 1 would make it negative. */
function derInteger(hex: string): string {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const minimal = even.replace(/^(00)+(?=..)/, '');
  return Number.parseInt(minimal.slice(0, 2), 16) > 0x7f ? `00${minimal}` : minimal;
}
