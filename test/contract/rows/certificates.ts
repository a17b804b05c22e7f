// Certificates of every sort, right and wrong, for a test to upload.

import 'reflect-metadata';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const newKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

export const notBefore = new Date('2024-01-01T00:00:00Z');
export const notAfter = new Date('2044-01-01T00:00:00Z');

async function certificate(name: string, extensions: Extension[]): Promise<string> {
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name,
    notBefore,
    notAfter,
    signingAlgorithm: algorithm,
    keys: await newKeys(),
    extensions,
  });
  return made.toString('pem');
}

/** The certificate of an authority. */
export const authorityPem = (name = 'CN=Devices of the test') =>
  certificate(name, [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
  ]);

/** A certificate that says it is none of an authority, and one that does not say. */
export const leafPem = () => certificate('CN=leaf', [new BasicConstraintsExtension(false, undefined, true)]);
export const plainPem = () => certificate('CN=plain', []);

export async function privateKeyPem(): Promise<string> {
  const { privateKey } = await newKeys();
  return PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY');
}

export async function requestPem(): Promise<string> {
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: 'CN=request',
    keys: await newKeys(),
    signingAlgorithm: algorithm,
  });
  return made.toString('pem');
}

export interface Pair {
  certificate_pem: string;
  private_key_pem: string;
}

/** A certificate with its keys, which can issue others. */
export interface Issued extends Pair {
  certificate: X509Certificate;
  keys: CryptoKeyPair;
}

interface Wanted {
  /** What it is for, as `app.example.com` or `192.0.2.7`. */
  names?: string[];
  subject?: string;
  /** Itself, when left out. */
  issuer?: Issued;
  /** Whether it may issue others. */
  issues?: boolean;
  until?: Date;
  algorithm?: typeof algorithm | { name: string; modulusLength: number; publicExponent: Uint8Array; hash: string };
}

/** A certificate of a server, or of who issues such, with its private key. */
export async function issue({
  names = [],
  subject = '',
  issuer,
  issues = false,
  until,
  algorithm: kind = algorithm,
}: Wanted = {}) {
  const keys = (await crypto.subtle.generateKey(kind, true, ['sign', 'verify'])) as CryptoKeyPair;
  const made = await X509CertificateGenerator.create({
    serialNumber: '0a1b2c',
    subject,
    issuer: issuer?.certificate.subject ?? subject,
    notBefore,
    notAfter: until ?? notAfter,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: issuer ? algorithm : kind,
    extensions: [
      new KeyUsagesExtension(issues ? KeyUsageFlags.keyCertSign : KeyUsageFlags.digitalSignature, true),
      ...(issues ? [new BasicConstraintsExtension(true, undefined, true)] : []),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      ...(names.length > 0
        ? [
            new SubjectAlternativeNameExtension(
              names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
            ),
          ]
        : []),
    ],
  });
  const key = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  const issued: Issued = {
    certificate: made,
    keys,
    certificate_pem: `${made.toString('pem')}\n`,
    private_key_pem: `${key}\n`,
  };
  return issued;
}

/** What of it is sent. */
export const sent = ({ certificate_pem, private_key_pem }: Pair): Pair => ({ certificate_pem, private_key_pem });
