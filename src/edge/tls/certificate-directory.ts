// Certificates that the operator put into a directory: for which names they are, read again when files change.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { unknownIssuer } from '../../runtime/unknown-issuer.ts';
import type { Pair } from './authority.ts';
import { type Expiries, expiriesOf } from './certificate-expiry.ts';

/** How often the directory is looked at, in milliseconds. */
const LOOK_MS = 10_000;
/** The purposes that visitors accept (RFC 5280, section 4.2.1.12): serverAuth, and any. */
const SERVER_PURPOSES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

export interface CertificateDirectory {
  /** The certificate for a name: one of that very name before a wildcard, then the one that lasts longest. */
  find(name: string): Pair | undefined;
  /** Of those that are shown for a name: one that another of the same names outlasts is not. */
  expiries(): Expiries;
  /** How many files cannot be used as they are now. */
  unusable(): number;
  close(): void;
}

export interface DirectoryOptions {
  log: Logger;
  /** How often the directory is looked at, in milliseconds. */
  lookMs?: number | undefined;
  /** The wall clock, in milliseconds. */
  time(): number;
}

/**
 * Reads every `*.crt` (a chain in PEM, the leaf first) with its `*.key`. A pair that cannot be used is logged and counted: what was read of
 * its file before stays, as long as the file is there. One that is not valid yet is kept until it is, beside the one before.
 * @throws when the directory cannot be read at the start; later that is logged, and what was read stays.
 */
export async function openDirectory(
  dir: string,
  { log, lookMs = LOOK_MS, time }: DirectoryOptions,
): Promise<CertificateDirectory> {
  let files: ReadFile[] = [];
  let pairs: NamedPair[] = [];
  let seen: string | undefined;
  const look = async () => {
    const state = await fingerprint(dir);
    if (state === seen) return;
    files = await readFiles(dir, files, { log, time });
    pairs = files.flatMap(({ pair, before }) => [pair ?? [], before ?? []].flat());
    pairs.sort((a, b) => b.notAfter - a.notAfter);
    seen = state;
    log.info({ dir, certificates: files.filter(({ pair }) => pair).length }, 'certificates loaded');
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
      const now = time();
      const wildcard = `*${name.slice(name.indexOf('.'))}`;
      const inForce = pairs.filter((pair) => pair.notBefore <= now && pair.notAfter > now);
      return inForce.find((pair) => pair.names.has(name)) ?? inForce.find((pair) => pair.names.has(wildcard));
    },
    unusable: () => files.filter(({ isUsable }) => !isUsable).length,
    expiries() {
      const outlasted = new Set<string>();
      const shown = pairs.filter(({ names }) => {
        const isShown = [...names].some((name) => !outlasted.has(name));
        for (const name of names) outlasted.add(name);
        return isShown;
      });
      const expiries = shown.map(({ file, notAfter }) => ({ source: 'directory' as const, id: file, notAfter }));
      return expiriesOf(expiries, time());
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
  /** When it begins, in milliseconds since 1970. */
  notBefore: number;
}

/** A file, and the last of it that could be used. */
interface ReadFile {
  file: string;
  pair: NamedPair | undefined;
  /** The one before it, where this one is not valid yet. */
  before: NamedPair | undefined;
  /** Whether it can be used as it is now. */
  isUsable: boolean;
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

async function readFiles(
  dir: string,
  known: readonly ReadFile[],
  { log, time }: Pick<DirectoryOptions, 'log' | 'time'>,
): Promise<ReadFile[]> {
  const files: ReadFile[] = [];
  for (const file of await certificateFiles(dir)) {
    const last = known.find((one) => one.file === file);
    try {
      const pair = { file, ...(await readPair(join(dir, file), join(dir, keyOf(file)), time())) };
      const isValid = pair.notBefore <= time();
      if (!isValid)
        log.warn(
          { file: join(dir, file), from: new Date(pair.notBefore).toISOString() },
          'a certificate is not valid yet',
        );
      const issuer = unknownIssuer(pair.cert);
      if (issuer !== undefined)
        log.warn(
          { file: join(dir, file), issuer: issuer.replaceAll('\n', ', ') },
          'a certificate has come without its issuer, which visitors may not know',
        );
      files.push({ file, pair, before: isValid ? undefined : inForceOf(last, time()), isUsable: true });
    } catch (error) {
      const reason = { file: join(dir, file), err: (error as Error).message };
      log.warn(reason, last?.pair ? 'a certificate cannot be used; the one before stays' : 'a certificate is left out');
      files.push({ file, pair: last?.pair, before: last?.before, isUsable: false });
    }
  }
  return files;
}

/** What visitors are shown of a file. */
const inForceOf = (last: ReadFile | undefined, now: number) =>
  last?.pair && last.pair.notBefore <= now ? last.pair : last?.before;

async function readPair(certFile: string, keyFile: string, now: number): Promise<Omit<NamedPair, 'file'>> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('the key is not that of the certificate');
  createSecureContext({ cert, key }); // Refuses what TLS would: keys that are too weak, chains that cannot be read.
  const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  if (notAfter <= now) throw new Error(`it ended on ${leaf.validTo}`);
  if (leaf.keyUsage && !leaf.keyUsage.some((purpose) => SERVER_PURPOSES.includes(purpose)))
    throw new Error('it is not for servers (extended key usage)');
  // Names that need quoting, which no host can have, stand in quotes.
  const names = (leaf.subjectAltName ?? '').split(', ').flatMap((entry) => /^DNS:([^"]+)$/.exec(entry)?.[1] ?? []);
  if (names.length === 0) throw new Error('it has no DNS names (subjectAltName)');
  return { cert, key, notBefore, notAfter, names: new Set(names.map((name) => name.toLowerCase())) };
}
