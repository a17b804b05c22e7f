// The authority behind an ACME server: an intermediate that two roots have signed, and the certificates that it issues.

import 'reflect-metadata'; // What the next import is built with asks for it.
import { createPublicKey, X509Certificate as NodeCertificate, randomBytes } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { DAY_MS, newKeyPair } from '../../../src/runtime/issue-certificates.ts';
import { type AcmeFaults, AcmeRefused } from './faults.ts';

const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
/** Authorities are valid for any clock that a test may have. */
const authorityTimes = { notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') };

export interface TestAuthority {
  /** The roots of the first chain and of the alternate one, in PEM. */
  roots: [string, string];
  /** @param wrong what is not as it was ordered. */
  issue(
    csr: Pkcs10CertificateRequest,
    names: string[],
    days: number,
    now: number,
    wrong?: AcmeFaults['wrongCertificates'],
  ): Promise<IssuedChains>;
}

export interface IssuedChains {
  /** The certificate alone, in PEM. */
  leaf: string;
  /** The chain that is sent by default, and the alternate one. */
  chains: [string, string];
  notBefore: number;
  notAfter: number;
}

/** The common names of the issuers that chains end with. */
export const ROOT_NAMES = ['Test Root A', 'Test Root B'] as const;
const INTERMEDIATE = 'CN=Test Intermediate';

export async function newTestAuthority(): Promise<TestAuthority> {
  const keys = await newKeyPair();
  const roots = await Promise.all(
    ROOT_NAMES.map(async (name) => {
      const rootKeys = await newKeyPair();
      const root = { name: `CN=${name}`, keys: rootKeys };
      return { root: await authority(root, root), intermediate: await authority({ name: INTERMEDIATE, keys }, root) };
    }),
  );
  const [first, second] = roots as [(typeof roots)[0], (typeof roots)[0]];
  return {
    roots: [first.root, second.root],
    async issue(csr, ordered, days, now, wrong) {
      const later = { expired: -(days + 1) * DAY_MS, soon: HOUR_MS, future: 2 * DAY_MS };
      const begin = now + (wrong && wrong in later ? later[wrong as keyof typeof later] : -HOUR_MS);
      const notBefore = Math.floor(begin / 1000) * 1000;
      const names = wrong === 'names' ? ordered.map((name) => `other-${name}`) : ordered;
      const publicKey = wrong === 'key' ? (await newKeyPair()).publicKey : csr.publicKey;
      const notAfter = notBefore + days * DAY_MS - 1000; // Both ends are seconds of the lifetime (RFC 5280, section 4.1.2.5).
      const made = await X509CertificateGenerator.create({
        serialNumber: newSerial(),
        issuer: INTERMEDIATE,
        notBefore: new Date(notBefore),
        notAfter: new Date(notAfter),
        publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm,
        extensions: [
          new BasicConstraintsExtension(false, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
          new SubjectAlternativeNameExtension(
            names.map((value) => ({ type: 'dns' as const, value })),
            true, // Critical without a subject (RFC 5280, section 4.2.1.6).
          ),
          await AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      const leaf = `${made.toString('pem')}\n`;
      return { leaf, chains: [leaf + first.intermediate, leaf + second.intermediate], notBefore, notAfter };
    },
  };
}

interface Named {
  name: string;
  keys: CryptoKeyPair;
}

async function authority(subject: Named, issuer: Named): Promise<string> {
  const made = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: subject.name,
    issuer: issuer.name,
    ...authorityTimes,
    publicKey: subject.keys.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(subject.keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
    ],
  });
  return `${made.toString('pem')}\n`;
}

/**
 * Reads a certificate request. @throws {AcmeRefused} unless it is signed, for exactly these names, and has a key that public
 * authorities accept, which is not that of the account.
 */
export async function readCsr(der: Buffer, names: readonly string[], accountKey: object) {
  const refuse = (detail: string) => new AcmeRefused(400, 'badCSR', detail);
  let csr: Pkcs10CertificateRequest;
  try {
    csr = new Pkcs10CertificateRequest(Uint8Array.from(der));
  } catch {
    throw refuse('The CSR cannot be parsed.');
  }
  if (!(await csr.verify())) throw refuse('The signature of the CSR is wrong.');
  const extension = csr.getExtension(SUBJECT_ALTERNATIVE_NAME) as SubjectAlternativeNameExtension | null;
  const asked = (extension?.names.items ?? []).map(({ value }) => value);
  if (asked.toSorted().join() !== names.toSorted().join())
    throw refuse(`The CSR is for ${asked.join(', ')}, the order for ${names.join(', ')}.`);
  const commonNames = csr.subjectName.getField('CN');
  if (commonNames.some((name) => name.length > 64 || !asked.includes(name)))
    throw refuse('The common name of the CSR is too long, or none of its names.');
  const key = createPublicKey({ key: Buffer.from(csr.publicKey.rawData), format: 'der', type: 'spki' });
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (![2048, 3072, 4096].includes(modulusLength) && !['prime256v1', 'secp384r1'].includes(namedCurve))
    throw refuse('The key of the CSR must be RSA with 2048, 3072 or 4096 bits, or ECDSA on P-256 or P-384.');
  if (key.equals(createPublicKey({ key: accountKey as never, format: 'jwk' })))
    throw refuse('The key of the CSR is that of the account.');
  return csr;
}

/** Before the key identifier of the extension authorityKeyIdentifier, in DER. */
const KEY_ID_PREFIX = Buffer.from('0603551d23041830168014', 'hex');

/** The id of a certificate of this authority (RFC 9773, section 4.1), read from its bytes and not by the code of the client. */
export function certificateIdOf(leafPem: string): string {
  const { raw, serialNumber } = new NodeCertificate(leafPem);
  const at = raw.indexOf(KEY_ID_PREFIX) + KEY_ID_PREFIX.length;
  const keyId = raw.subarray(at, at + 20);
  return `${keyId.toString('base64url')}.${Buffer.from(serialNumber, 'hex').toString('base64url')}`;
}

/** Positive in DER, with a first bit of 0. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
