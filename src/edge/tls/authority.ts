// The development authority: made on the first start, and trusted by whoever is given its certificate.

import { createPrivateKey, X509Certificate as NodeCertificate, randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { X509Certificate } from '@peculiar/x509';
import { createFileAtomically } from '../../create-file-atomically.ts';
import { exportKey, importKey, issueAuthority, issueLeaf, newKeyPair } from '../../runtime/issue-certificates.ts';
import { x509 } from '../../runtime/x509.ts';

const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 90;

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
    await createFileAtomically(files.key, 0o600, await exportKey(await newKeyPair()));
  }
  // Whoever was first made the key that counts, here and below; the certificate follows from it.
  const key = await readKey(files);
  if ((await readIfThere(files.cert)) === null) {
    const name = `Tunnel Gateway development CA ${randomBytes(4).toString('hex')}`;
    await createFileAtomically(files.cert, 0o644, await issueAuthority(key, name, AUTHORITY_DAYS));
  }
  const certificate = await readAuthority(files);

  // One key for all certificates of this process: they are as safe together as apart, and it saves making one for each.
  const leaf = await newKeyPair();
  const leafPem = await exportKey(leaf);
  return {
    file: files.cert,
    notAfter: certificate.notAfter.getTime(),
    issue: async (hosts) => {
      const issued = await issueLeaf(certificate, key, {
        commonName: hosts[0] ?? '',
        names: hosts.map((host) => ({ type: isIP(host) ? 'ip' : 'dns', value: host })),
        usages: ['server'],
        publicKey: leaf.publicKey,
        days: LEAF_DAYS,
      });
      return { cert: issued.toString('pem'), key: leafPem, notAfter: issued.notAfter.getTime() };
    },
  };
}

interface Files {
  cert: string;
  key: string;
}

async function readKey(files: Files): Promise<CryptoKeyPair> {
  try {
    return await importKey(await readFile(files.key, 'utf8'));
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
