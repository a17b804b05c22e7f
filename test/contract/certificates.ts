// Certificates of every sort, right and wrong, for a test to upload.

import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
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
