// The development authority: made on the first start, and trusted by whoever is given its certificate.

import { createPrivateKey, X509Certificate as NodeCertificate, randomBytes, webcrypto } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { X509Certificate } from '@peculiar/x509';
import { createFileAtomically } from '../../create-file-atomically.ts';
import { x509 } from '../../runtime/x509.ts';

const DAY = 86_400_000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 90;
/** Clocks of devices are often behind. */
const BACKDATED_DAYS = 1;
const KEYS = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** The files of the authority cannot be used; the text says what to do. */
export class AuthorityError extends Error {}

/** A certificate with its key, in PEM. */
export interface Pair {
  cert: string;
  key: string;
  /** When it ends, in milliseconds since 1970. */
  notAfter: number;
}

export interface Authority {
  /** Where its certificate is, in PEM, for those who are to trust it. */
  file: string;
  /** When it ends, in milliseconds since 1970. */
  notAfter: number;
  /** Issues a certificate for names and IP addresses, valid for 90 days. */
  issue(hosts: string[]): Promise<Pair>;
}

/**
 * Reads `ca.pem` and `ca.key` (mode 0600) in the data directory, or makes them.
 * @throws {AuthorityError} when they are not what they should be.
 */
export async function openAuthority(dataDir: string): Promise<Authority> {
  const files = { cert: join(dataDir, 'ca.pem'), key: join(dataDir, 'ca.key') };
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if ((await readIfThere(files.key)) === null) {
    if ((await readIfThere(files.cert)) !== null)
      throw new AuthorityError(`${files.cert} is there and ${files.key} is not; restore it, or delete both`);
    await createFileAtomically(files.key, 0o600, await newKey());
  }
  // Whoever was first made the key that counts, here and below; the certificate follows from it.
  const key = await importKey(files);
  if ((await readIfThere(files.cert)) === null) await createFileAtomically(files.cert, 0o644, await newAuthority(key));
  const certificate = await readAuthority(files);

  // One key for all certificates of this process: they are as safe together as apart, and it saves making one for each.
  const leaf = await webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']);
  const leafPem = pem(await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey));
  return {
    file: files.cert,
    notAfter: certificate.notAfter.getTime(),
    issue: async (hosts) => {
      const issued = await issue(hosts, leaf.publicKey, certificate, key);
      return { cert: issued.toString('pem'), key: leafPem, notAfter: issued.notAfter.getTime() };
    },
  };
}

interface Files {
  cert: string;
  key: string;
}

async function issue(
  hosts: string[],
  publicKey: CryptoKey,
  authority: X509Certificate,
  key: CryptoKeyPair,
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
  return X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: [{ CN: [(hosts[0] ?? '').slice(0, 64)] }],
    issuer: authority.subject,
    notBefore: new Date(Math.max(now - BACKDATED_DAYS * DAY, authority.notBefore.getTime())),
    notAfter: new Date(Math.min(now + LEAF_DAYS * DAY, authority.notAfter.getTime())),
    signingAlgorithm: KEYS,
    publicKey,
    signingKey: key.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host })),
      ),
      await AuthorityKeyIdentifierExtension.create(key.publicKey),
    ],
  });
}

async function newAuthority(key: CryptoKeyPair): Promise<string> {
  const now = Date.now();
  const {
    BasicConstraintsExtension,
    KeyUsageFlags: flag,
    KeyUsagesExtension,
    SubjectKeyIdentifierExtension,
    X509CertificateGenerator,
  } = x509();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [`Tunnel Gateway development CA ${randomBytes(4).toString('hex')}`] }],
    notBefore: new Date(now - BACKDATED_DAYS * DAY),
    notAfter: new Date(now + AUTHORITY_DAYS * DAY),
    signingAlgorithm: KEYS,
    keys: key,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(flag.keyCertSign | flag.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(key.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Positive and not longer than RFC 5280, section 4.1.2.2, allows. */
function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

async function newKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']);
  return pem(await webcrypto.subtle.exportKey('pkcs8', privateKey));
}

function pem(pkcs8: ArrayBuffer): string {
  return createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
}

async function importKey(files: Files): Promise<CryptoKeyPair> {
  try {
    const secret = createPrivateKey(await readFile(files.key, 'utf8'));
    const { subtle } = webcrypto;
    const { d, ...open } = secret.export({ format: 'jwk' });
    return {
      privateKey: await subtle.importKey('jwk', { ...open, d }, KEYS, false, ['sign']),
      publicKey: await subtle.importKey('jwk', open, KEYS, true, ['verify']),
    };
  } catch {
    throw new AuthorityError(
      `${files.key} must hold an ECDSA key on P-256, in PEM; restore it, or delete it with ${files.cert}`,
    );
  }
}

async function readAuthority(files: Files): Promise<X509Certificate> {
  const text = await readFile(files.cert, 'utf8');
  const remedy = `restore it, or delete it with ${files.key}: a new one is made then, which all agents must be given`;
  try {
    const certificate = new NodeCertificate(text);
    if (!certificate.ca || !certificate.checkPrivateKey(createPrivateKey(await readFile(files.key, 'utf8'))))
      throw new AuthorityError(`${files.cert} does not belong to ${files.key}; ${remedy}`);
    if (Date.parse(certificate.validTo) < Date.now())
      throw new AuthorityError(`${files.cert} ended on ${certificate.validTo}; ${remedy}`);
    return new (x509().X509Certificate)(text);
  } catch (error) {
    if (error instanceof AuthorityError) throw error;
    throw new AuthorityError(`${files.cert} must hold a certificate in PEM; ${remedy}`);
  }
}

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}
