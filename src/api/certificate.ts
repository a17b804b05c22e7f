// Reads the certificate of an authority out of PEM (RFC 7468).

import 'reflect-metadata'; // What the next import is built with asks for it.
import { X509Certificate as NodeCertificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { ApiError, type ErrorName, type Parameters } from './errors.ts';
import { checkBytes } from './texts.ts';

const PEM_MAX_BYTES = 16 * 1024;
const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,64})-----(.*?)-----END \1-----/gs;

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

export interface Authority {
  subjectCommonName: string;
  notBefore: Date;
  notAfter: Date;
  /** What its key may be used for; empty when the certificate does not say. */
  keyUsages: string[];
  /** Object identifiers that have no name here stand as they are. */
  extendedKeyUsages: string[];
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
    const usages = parsed.getExtension(x509.KeyUsagesExtension)?.usages ?? 0;
    const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [];
    const authority = {
      subjectCommonName: parsed.subjectName.getField('CN').at(-1) ?? '',
      notBefore: parsed.notBefore,
      notAfter: parsed.notAfter,
      keyUsages: keyUsages.flatMap(([bit, name]) => (usages & bit ? name : [])),
      extendedKeyUsages: extended.map(String).map((id) => extendedKeyUsages[id] ?? id),
    };
    if (!isStorable(authority)) throw refused('pemUnreadable');
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
  const blocks = [...pem.matchAll(BLOCK)];
  if (blocks.length === 0 || blocks.length < pem.split('-----BEGIN').length - 1) throw refused('pemUnreadable');
  const stranger = blocks.find(([, type]) => type !== 'CERTIFICATE');
  if (stranger) throw refused('pemWrongType', { type: stranger[1] ?? '' });
  if (blocks.length > 1) throw refused('pemCount', { actual: blocks.length });

  const content = blocks[0]?.[2] ?? '';
  if (content.includes(':')) throw refused('pemHeaders');
  const base64 = content.replace(/\s/g, '');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64 || !isReadable(pem, bytes)) throw refused('pemUnreadable');
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

/** A certificate may hold texts and times that no database does. */
function isStorable({ subjectCommonName, notBefore, notAfter }: Authority): boolean {
  const isTime = (time: Date) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999;
  return !subjectCommonName.includes('\0') && subjectCommonName.isWellFormed() && isTime(notBefore) && isTime(notAfter);
}

function refused(error: ErrorName, parameters: Parameters = {}): ApiError {
  return new ApiError(error, { member: 'caPem', ...parameters });
}
