// What certificates (X.509, RFC 5280) say of themselves, and which of them are an authority's.

import 'reflect-metadata'; // What the next import is built with asks for it.
import { X509Certificate as NodeCertificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { ApiError, type ErrorName, type Parameters } from '../../errors.ts';
import { checkBytes, isStorable } from '../../texts.ts';
import { bytesOf, hasHeaders, pemBlocks } from './pem.ts';

const PEM_MAX_BYTES = 16 * 1024;

const { KeyUsageFlags: flag, ExtendedKeyUsage: purpose } = x509;

/** In the order of RFC 5280, section 4.2.1.3. */
const keyUsages: [flag: number, name: string][] = [
  [flag.digitalSignature, 'digital_signature'],
  [flag.nonRepudiation, 'content_commitment'],
  [flag.keyEncipherment, 'key_encipherment'],
  [flag.dataEncipherment, 'data_encipherment'],
  [flag.keyAgreement, 'key_agreement'],
  [flag.keyCertSign, 'cert_sign'],
  [flag.cRLSign, 'crl_sign'],
  [flag.encipherOnly, 'encipher_only'],
  [flag.decipherOnly, 'decipher_only'],
];

/** RFC 5280, section 4.2.1.12. */
const extendedKeyUsages: Record<string, string> = {
  '2.5.29.37.0': 'any',
  [purpose.serverAuth]: 'server_auth',
  [purpose.clientAuth]: 'client_auth',
  [purpose.codeSigning]: 'code_signing',
  [purpose.emailProtection]: 'email_protection',
  [purpose.timeStamping]: 'time_stamping',
  [purpose.ocspSigning]: 'ocsp_signing',
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

export interface Authority extends Validity {
  subjectCommonName: string;
}

export function validityOf(parsed: x509.X509Certificate): Validity {
  const usages = parsed.getExtension(x509.KeyUsagesExtension)?.usages ?? 0;
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [];
  return {
    notBefore: parsed.notBefore,
    notAfter: parsed.notAfter,
    keyUsages: keyUsages.flatMap(([bit, name]) => (usages & bit ? name : [])),
    extendedKeyUsages: extended.map(String).map((id) => extendedKeyUsages[id] ?? id),
  };
}

/** Whether the database can hold what a certificate says: it may hold texts and times that no database does. */
export function canBeKept({ notBefore, notAfter }: Validity, texts: string[]): boolean {
  const isTime = (time: Date) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999;
  return texts.every(isStorable) && isTime(notBefore) && isTime(notAfter);
}

/** What a name (RFC 5280, section 4.1.2.4) has of a kind, as `CN`: the last that it has, "" when it has none. */
export function partOf(name: x509.Name, kind: string): string {
  return name.getField(kind).at(-1) ?? '';
}

/**
 * Whether the certificate is in force does not matter.
 * @throws {ApiError} unless the text holds exactly one certificate, and that of an authority.
 */
export function readAuthority(pem: string): Authority {
  const bytes = decode(pem);
  try {
    const parsed = new x509.X509Certificate(bytes);
    const isAuthority = parsed.getExtension(x509.BasicConstraintsExtension)?.ca === true;
    const authority = { subjectCommonName: partOf(parsed.subjectName, 'CN'), ...validityOf(parsed) };
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

function refused(error: ErrorName, parameters: Parameters = {}): ApiError {
  return new ApiError(error, { member: 'caPem', ...parameters });
}
