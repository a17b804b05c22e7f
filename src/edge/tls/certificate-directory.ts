// Certificates that the operator put into a directory: for which names they are, read again when files change.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Pair } from './authority.ts';
import { type Expiries, expiriesOf } from './certificate-expiry.ts';

/** How often the directory is looked at, in milliseconds. */
const LOOK_MS = 10_000;

export interface CertificateDirectory {
  /** The certificate for a name: one of that very name before a wildcard, then the one that lasts longest. */
  find(name: string): Pair | undefined;
  /** Of those that are shown for a name: one that another of the same names outlasts is not. */
  expiries(): Expiries;
  close(): void;
}

/**
 * Reads every `*.crt` (a chain in PEM, the leaf first) with its `*.key`. A pair that cannot be used is logged and left out.
 * @throws when the directory cannot be read at the start; later that is logged, and what was read stays.
 */
export async function openDirectory(dir: string, log: Logger, lookMs = LOOK_MS): Promise<CertificateDirectory> {
  let pairs: NamedPair[] = [];
  let seen: string | undefined;
  const look = async () => {
    const state = await fingerprint(dir);
    if (state === seen) return;
    pairs = await readPairs(dir, log);
    seen = state;
    log.info({ dir, certificates: pairs.length }, 'certificates loaded');
  };
  const lookAgain = async () => {
    await look().catch((error: Error) => log.warn({ dir, err: error.message }, 'certificates could not be reloaded'));
    if (!isClosed) timer = setTimeout(lookAgain, lookMs).unref();
  };
  await look();
  let isClosed = false;
  let timer = setTimeout(lookAgain, lookMs).unref();
  return {
    find(name) {
      const now = Date.now();
      const wildcard = `*${name.slice(name.indexOf('.'))}`;
      const inForce = pairs.filter((pair) => pair.notAfter > now);
      return inForce.find((pair) => pair.names.has(name)) ?? inForce.find((pair) => pair.names.has(wildcard));
    },
    expiries() {
      const outlasted = new Set<string>();
      const shown = pairs.filter(({ names }) => {
        const isShown = [...names].some((name) => !outlasted.has(name));
        for (const name of names) outlasted.add(name);
        return isShown;
      });
      const expiries = shown.map(({ file, notAfter }) => ({ source: 'directory' as const, id: file, notAfter }));
      return expiriesOf(expiries, Date.now());
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

interface NamedPair extends Pair {
  /** Its name in the directory. */
  file: string;
  names: Set<string>;
}

const certificateFiles = async (dir: string) => (await readdir(dir)).filter((file) => file.endsWith('.crt')).sort();
const keyOf = (file: string) => file.replace(/crt$/, 'key');

/** Changes when a file comes, goes, or is written. */
async function fingerprint(dir: string): Promise<string> {
  const files = (await certificateFiles(dir)).flatMap((file) => [file, keyOf(file)]);
  const states = await Promise.all(
    files.map((file) =>
      stat(join(dir, file)).then(
        ({ mtimeMs, size, ino }) => `${file} ${mtimeMs} ${size} ${ino}`,
        () => `${file} missing`,
      ),
    ),
  );
  return states.join('\n');
}

async function readPairs(dir: string, log: Logger): Promise<NamedPair[]> {
  const pairs: NamedPair[] = [];
  for (const file of await certificateFiles(dir)) {
    try {
      pairs.push({ file, ...(await readPair(join(dir, file), join(dir, keyOf(file)))) });
    } catch (error) {
      log.warn({ file: join(dir, file), err: (error as Error).message }, 'a certificate is left out');
    }
  }
  return pairs.sort((a, b) => b.notAfter - a.notAfter);
}

async function readPair(certFile: string, keyFile: string): Promise<Omit<NamedPair, 'file'>> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('the key is not that of the certificate');
  createSecureContext({ cert, key }); // Refuses what TLS would: keys that are too weak, chains that cannot be read.
  const notAfter = Date.parse(leaf.validTo);
  if (notAfter <= Date.now()) throw new Error(`it ended on ${leaf.validTo}`);
  // Names that need quoting, which no host can have, stand in quotes.
  const names = (leaf.subjectAltName ?? '').split(', ').flatMap((entry) => /^DNS:([^"]+)$/.exec(entry)?.[1] ?? []);
  if (names.length === 0) throw new Error('it has no DNS names (subjectAltName)');
  return { cert, key, notAfter, names: new Set(names.map((name) => name.toLowerCase())) };
}
