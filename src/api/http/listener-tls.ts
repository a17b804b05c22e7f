// The certificate of the API listener: two files of the operator's, read again when they change.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { type Expiries, expiriesOf } from '../../edge/tls/certificate-expiry.ts';
import type { ApiSettings } from '../settings.ts';

/** How often the files are looked at, in milliseconds. */
const CHECK_INTERVAL_MS = 10_000;

/** What the listener speaks TLS with, in PEM. */
export interface TlsPair {
  cert: string;
  key: string;
}

interface DatedTlsPair extends TlsPair {
  /** When it ends, in milliseconds since 1970. */
  notAfter: number;
}

export interface ListenerTls {
  /** The pair as it was read last. */
  readonly pair: TlsPair;
  /** From now on, is told every further pair. */
  onChange(onPair: (pair: TlsPair) => void): void;
  expiries(): Expiries;
  close(): void;
}

/** Where a certificate and its key are. */
export type TlsFiles = Exclude<ApiSettings['apiTls'], 'obtained' | undefined>;

/** The files cannot be used; the text says which, and why. */
export class ListenerTlsError extends Error {}

/**
 * Reads the certificate (a chain, the leaf first) and its key.
 * @param checkIntervalMs how often the files are looked at.
 * @throws {ListenerTlsError} when they cannot be used at the start; later that is logged, and the pair before stays.
 */
export async function openListenerTls(
  files: TlsFiles,
  log: Logger,
  checkIntervalMs = CHECK_INTERVAL_MS,
): Promise<ListenerTls> {
  let onPair: ((pair: TlsPair) => void) | undefined;
  let lastFingerprint = await fingerprint(files);
  let pair = await readPair(files);
  const reloadIfChanged = async () => {
    const state = await fingerprint(files);
    if (state === lastFingerprint) return;
    lastFingerprint = state;
    pair = await readPair(files);
    onPair?.(pair);
    log.info({ file: files.certFile }, 'certificate of the API reloaded');
  };
  const checkFiles = async () => {
    await reloadIfChanged().catch((error: Error) =>
      log.warn({ err: error.message }, 'certificate of the API could not be reloaded: the previous one stays'),
    );
    if (!isClosed) timer = setTimeout(checkFiles, checkIntervalMs).unref();
  };
  let isClosed = false;
  let timer = setTimeout(checkFiles, checkIntervalMs).unref();
  return {
    get pair() {
      return pair;
    },
    onChange(listener) {
      onPair = listener;
    },
    expiries: () => expiriesOf([{ source: 'api', id: 'API_TLS_CERT', notAfter: pair.notAfter }], Date.now()),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Changes when one of the files comes, goes, or is written. */
async function fingerprint({ certFile, keyFile }: TlsFiles): Promise<string> {
  const states = await Promise.all(
    [certFile, keyFile].map((file) =>
      stat(file).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
        () => 'missing',
      ),
    ),
  );
  return states.join('\n');
}

async function readPair({ certFile, keyFile }: TlsFiles): Promise<DatedTlsPair> {
  const cert = await readFor('API_TLS_CERT', certFile);
  const key = await readFor('API_TLS_KEY', keyFile);
  const refuse = (text: string) => new ListenerTlsError(text);
  const leaf = orUndefined(() => new X509Certificate(cert));
  if (!leaf) throw refuse(`API_TLS_CERT: ${certFile} is not a certificate in PEM`);
  const privateKey = orUndefined(() => createPrivateKey(key));
  if (!privateKey) throw refuse(`API_TLS_KEY: ${keyFile} is not a private key in PEM, without a passphrase`);
  if (!leaf.checkPrivateKey(privateKey))
    throw refuse(`API_TLS_KEY: ${keyFile} is not the key of the certificate in ${certFile}`);
  // Refuses what TLS would: keys that are too weak, chains that cannot be read.
  if (!orUndefined(() => createSecureContext({ cert, key })))
    throw refuse(`API_TLS_CERT: TLS cannot be spoken with the chain in ${certFile}`);
  return { cert, key, notAfter: Date.parse(leaf.validTo) };
}

async function readFor(name: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'is not there' : `cannot be read (${error.code})`;
    throw new ListenerTlsError(`${name}: ${file} ${reason}`);
  });
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
