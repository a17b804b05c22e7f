// Certificate chains as ACME servers send them (RFC 8555, section 7.4.2; RFC 8555, section 9.1).

import { X509Certificate } from 'node:crypto';
import type { AcmeHttpResponse } from './http-exchange.ts';
import { AcmeUnreachable } from './problem.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @returns the chain in PEM, the certificate of the names first. @throws {AcmeUnreachable} when it is none. */
export function parseChain({ url, body }: AcmeHttpResponse): string {
  const certificates = body.match(PEM) ?? [];
  try {
    if (certificates.length > 0) return certificates.map((pem) => new X509Certificate(pem).toString()).join('');
  } catch {
    // Said below.
  }
  throw new AcmeUnreachable(
    `The ACME server at ${new URL(url).host} did not answer with a chain of certificates in PEM.`,
  );
}

/** Whether the last certificate of a chain names this issuer, by its common name. */
export function isIssuedBy(chainPem: string, issuer: string): boolean {
  const last = chainPem.match(PEM)?.at(-1);
  return last !== undefined && new X509Certificate(last).issuer.split('\n').includes(`CN=${issuer}`);
}

/** The URLs of the other chains for the same certificate, from the header field Link (RFC 8288). */
export function alternatesOf({ url, headers }: AcmeHttpResponse): string[] {
  const links = [headers.link ?? []].flat().join(', ');
  return Array.from(links.matchAll(/<([^>]*)>([^<]*)/g)).flatMap(([, target = '', parameters = '']) => {
    const isAlternate = /;\s*rel\s*=\s*"?([^",;]*\s)?alternate(?=[\s",;]|$)/i.test(parameters);
    const alternate = isAlternate && URL.parse(target, url);
    return alternate ? [alternate.href] : [];
  });
}
