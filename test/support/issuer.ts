// Authorities and the certificates that they issue, right and wrong, for visitors and for names.

import 'reflect-metadata'; // What the next import is built with asks for it.
import { randomBytes } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const DAY = 86_400_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Days from now. */
export const inDays = (days: number) => new Date(Date.now() + days * DAY);

export interface Wanted {
  /** As in `CN=device 7, O=Example`. */
  subject?: string;
  dns?: string[];
  email?: string[];
  /** What it may be used for; null: it does not say. `client` when left out. */
  purpose?: 'client' | 'server' | null;
  /** In hexadecimal digits. */
  serialNumber?: string;
  notBefore?: Date;
  notAfter?: Date;
  /** Bits of an RSA key; left out: the key is on P-256. */
  rsa?: number;
}

/** A certificate and its key, in PEM. */
export interface Identity {
  cert: string;
  key: string;
}

export interface Issuer extends Identity {
  issue(wanted?: Wanted): Promise<Identity>;
  /** An authority below this one. @param isOne false: its certificate says that it is none. */
  below(subject: string, more?: Pick<Wanted, 'notBefore' | 'notAfter'> & { isOne?: boolean }): Promise<Issuer>;
}

interface Made {
  issuer: string;
  keys: CryptoKeyPair;
}

/** An authority of its own. */
export async function newIssuer(subject: string): Promise<Issuer> {
  const keys = await newKeys();
  return issuerOf(subject, keys, await certificate({ subject }, keys, { issuer: subject, keys }, true));
}

/** With those that lead to its authority, as it is sent. */
export function withChain(identity: Identity, ...chain: Identity[]): Identity {
  return { ...identity, cert: [identity, ...chain].map(({ cert }) => cert).join('\n') };
}

async function issuerOf(subject: string, keys: CryptoKeyPair, cert: string): Promise<Issuer> {
  const by = { issuer: subject, keys };
  const issue = async (wanted: Wanted, isAuthority: boolean | undefined) => {
    const own = await newKeys(wanted.rsa);
    return { own, cert: await certificate(wanted, own, by, isAuthority) };
  };
  return {
    cert,
    key: await keyPem(keys),
    async issue(wanted = {}) {
      const made = await issue(wanted, false);
      return { cert: made.cert, key: await keyPem(made.own) };
    },
    async below(subject, { isOne = true, ...more } = {}) {
      const made = await issue({ subject, ...more }, isOne);
      return issuerOf(subject, made.own, made.cert);
    },
  };
}

async function certificate(wanted: Wanted, keys: CryptoKeyPair, by: Made, isAuthority = false): Promise<string> {
  const { subject = 'CN=a visitor', dns = [], email = [], purpose = 'client' } = wanted;
  const { serialNumber = `4${randomBytes(8).toString('hex').slice(1)}`, notBefore, notAfter } = wanted;
  const names = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...email.map((value) => ({ type: 'email' as const, value })),
  ];
  const { clientAuth, serverAuth } = ExtendedKeyUsage;
  const usage = isAuthority ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  const made = await X509CertificateGenerator.create({
    serialNumber,
    subject,
    issuer: by.issuer,
    notBefore: notBefore ?? inDays(-30),
    notAfter: notAfter ?? inDays(365),
    publicKey: keys.publicKey,
    signingKey: by.keys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(isAuthority, undefined, true),
      new KeyUsagesExtension(usage, true),
      ...(isAuthority || !purpose
        ? []
        : [new ExtendedKeyUsageExtension([purpose === 'client' ? clientAuth : serverAuth])]),
      ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return `${made.toString('pem')}\n`;
}

const newKeys = (rsa?: number) =>
  crypto.subtle.generateKey(
    rsa
      ? {
          name: 'RSASSA-PKCS1-v1_5',
          modulusLength: rsa,
          publicExponent: new Uint8Array([1, 0, 1]),
          hash: 'SHA-256',
        }
      : algorithm,
    true,
    ['sign', 'verify'],
  );

async function keyPem({ privateKey }: CryptoKeyPair): Promise<string> {
  return `${PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`;
}
