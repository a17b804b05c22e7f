// Issues certificates (X.509, RFC 5280): those of an authority for itself, and those of an authority for others.

import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import type { X509Certificate } from '@peculiar/x509';
import { x509 } from './x509.ts';

export const DAY_MS = 86_400_000;
/** The clocks of devices are often behind. */
const BACKDATED_DAYS = 1;
const KEYS = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A name in a certificate: a host name, an IP address or a URI. */
export interface SubjectName {
  type: 'dns' | 'ip' | 'url';
  value: string;
}

export interface LeafRequest {
  /** The common name of the subject; at most 64 characters of it are used. */
  commonName: string;
  names: readonly SubjectName[];
  /** What the holder may be in a TLS connection. */
  usages: readonly ('server' | 'client')[];
  publicKey: CryptoKey;
  /** The lifetime, which ends with the authority at the latest. */
  days: number;
}

/** Makes a key pair on the curve P-256, whose private key can be exported. */
export function newKeyPair(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']);
}

/** The private key in PEM (PKCS #8). */
export async function exportKey({ privateKey }: CryptoKeyPair): Promise<string> {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
}

/** Reads what `exportKey` returned. @throws when it is no ECDSA key on P-256 in PEM. */
export async function importKey(pem: string): Promise<CryptoKeyPair> {
  const { d, ...open } = createPrivateKey(pem).export({ format: 'jwk' });
  const { subtle } = webcrypto;
  return {
    privateKey: await subtle.importKey('jwk', { ...open, d }, KEYS, false, ['sign']),
    publicKey: await subtle.importKey('jwk', open, KEYS, true, ['verify']),
  };
}

/** Issues the certificate of an authority, in PEM, which issues those of others but no authority below it. */
export async function issueAuthority(keys: CryptoKeyPair, commonName: string, days: number): Promise<string> {
  const now = Date.now();
  const {
    BasicConstraintsExtension,
    KeyUsageFlags: flag,
    KeyUsagesExtension,
    SubjectKeyIdentifierExtension,
    X509CertificateGenerator,
  } = x509();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [commonName] }],
    notBefore: new Date(now - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(now + days * DAY_MS),
    signingAlgorithm: KEYS,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(flag.keyCertSign | flag.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Issues a certificate. @param authority the certificate of the issuer. @param keys its key pair. */
export async function issueLeaf(
  authority: X509Certificate,
  keys: CryptoKeyPair,
  { commonName, names, usages, publicKey, days }: LeafRequest,
): Promise<X509Certificate> {
  const now = Date.now();
  const {
    AuthorityKeyIdentifierExtension,
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
    X509CertificateGenerator,
  } = x509();
  const purposes = { server: ExtendedKeyUsage.serverAuth, client: ExtendedKeyUsage.clientAuth };
  return X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [commonName.slice(0, 64)] }],
    issuer: authority.subject,
    notBefore: new Date(Math.max(now - BACKDATED_DAYS * DAY_MS, authority.notBefore.getTime())),
    notAfter: new Date(Math.min(now + days * DAY_MS, authority.notAfter.getTime())),
    signingAlgorithm: KEYS,
    publicKey,
    signingKey: keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension(usages.map((usage) => purposes[usage])),
      new SubjectAlternativeNameExtension([...names]),
      await AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
}

/** Positive, and not longer than RFC 5280, section 4.1.2.2, allows. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
