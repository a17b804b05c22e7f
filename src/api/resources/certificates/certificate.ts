// What certificates (X.509, RFC 5280) say of themselves, and which of them are an authority's.

import { X509Certificate as NodeCertificate } from 'node:crypto';
import type { Name, X509Certificate } from '@peculiar/x509';
import { x509 } from '../../../runtime/x509.ts';
import { ApiError, type ErrorName, type ErrorParameters } from '../../errors/errors.ts';
import { checkBytes, isStorable } from '../../text-limits.ts';
import { bytesOf, hasHeaders, pemBlocks } from './pem.ts';

const PEM_MAX_BYTES = 16 * 1024;

/** The bits of the extension KeyUsage, from the first on (RFC 5280, section 4.2.1.3). */
const keyUsages = [
  'digital_signature',
  'content_commitment',
  'key_encipherment',
  'data_encipherment',
  'key_agreement',
  'cert_sign',
  'crl_sign',
  'encipher_only',
  'decipher_only',
];

/** RFC 5280, section 4.2.1.12. */
const extendedKeyUsages: Record<string, string> = {
  '2.5.29.37.0': 'any',
  '1.3.6.1.5.5.7.3.1': 'server_auth',
  '1.3.6.1.5.5.7.3.2': 'client_auth',
  '1.3.6.1.5.5.7.3.3': 'code_signing',
  '1.3.6.1.5.5.7.3.4': 'email_protection',
  '1.3.6.1.5.5.7.3.8': 'time_stamping',
  '1.3.6.1.5.5.7.3.9': 'ocsp_signing',
};

/** What a database row keeps of a certificate, beside whose it is. */
export interface Validity {
  notBefore: Date;
  notAfter: Date;
  /** What its key may be used for; empty when the certificate does not say. */
  keyUsages: string[];
  /** Object identifiers that have no name here stand as they are. */
  extendedKeyUsages: string[];
}

export interface AuthorityDetails extends Validity {
  subjectCommonName: string;
}

export function validityOf(parsed: X509Certificate): Validity {
  const { ExtendedKeyUsageExtension, KeyUsagesExtension } = x509();
  const usages = parsed.getExtension(KeyUsagesExtension)?.usages ?? 0;
  const extended = parsed.getExtension(ExtendedKeyUsageExtension)?.usages ?? [];
  return {
    notBefore: parsed.notBefore,
    notAfter: parsed.notAfter,
    keyUsages: keyUsages.filter((_, bit) => usages & (1 << bit)),
    extendedKeyUsages: extended.map(String).map((id) => extendedKeyUsages[id] ?? id),
  };
}

/** Whether the database can hold what a certificate says: it may hold texts and times that no database does. */
export function canBeKept({ notBefore, notAfter }: Validity, texts: string[]): boolean {
  const isTime = (time: Date) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999;
  return texts.every(isStorable) && isTime(notBefore) && isTime(notAfter);
}

/** What a name (RFC 5280, section 4.1.2.4) has of a kind, as `CN`: the last that it has, "" when it has none. */
export function namePartOf(name: Name, kind: string): string {
  return name.getField(kind).at(-1) ?? '';
}

/**
 * Whether the certificate is in force does not matter.
 * @throws {ApiError} unless the text holds exactly one certificate, and that of an authority.
 */
export function readAuthority(pem: string): AuthorityDetails {
  const bytes = decode(pem);
  try {
    const { BasicConstraintsExtension, X509Certificate } = x509();
    const parsed = new X509Certificate(bytes);
    const isAuthority = parsed.getExtension(BasicConstraintsExtension)?.ca === true;
    const authority = { subjectCommonName: namePartOf(parsed.subjectName, 'CN'), ...validityOf(parsed) };
    if (!canBeKept(authority, [authority.subjectCommonName])) throw refused('pemUnreadable');
    if (!isAuthority) throw refused('notACertificateAuthority');
    return authority;
  } catch (error) {
    throw error instanceof ApiError ? error : refused('pemUnreadable');
  }
}

/** @returns the certificate's bytes. Text around the block is no part of it and is let through. */
function decode(pem: string): Uint8Array<ArrayBuffer> {
  if (!pem.includes('-----BEGIN')) throw refused('pemMissing');
  checkBytes('caPem', pem, PEM_MAX_BYTES, 'pemTooLarge');
  const blocks = pemBlocks(pem);
  const [block] = blocks ?? [];
  if (!blocks || !block) throw refused('pemUnreadable');
  const stranger = blocks.find(({ type }) => type !== 'CERTIFICATE');
  if (stranger) throw refused('pemWrongType', { type: stranger.type });
  if (blocks.length > 1) throw refused('pemCount', { actual: blocks.length });
  if (hasHeaders(block)) throw refused('pemHeaders');
  const bytes = bytesOf(block);
  if (!bytes || !isReadable(pem, bytes)) throw refused('pemUnreadable');
  return new Uint8Array(bytes);
}

/** Whether the TLS listeners, which are given the text, read exactly this certificate in it. */
function isReadable(pem: string, bytes: Buffer): boolean {
  try {
    return new NodeCertificate(pem).raw.equals(bytes);
  } catch {
    return false;
  }
}

function refused(error: ErrorName, parameters: ErrorParameters = {}): ApiError {
  return new ApiError(error, { member: 'caPem', ...parameters });
}
