// Starts Pebble, the test server of Let's Encrypt, as Debian packages it (`apt-get install pebble`).

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../../../src/net/free-port.ts';
import { eventually } from '../eventually.ts';
import { newLoopbackIdentity } from './loopback-identity.ts';

const HOST = '127.0.0.1';
const OUTPUT_MAX = 100_000;

/** Why tests with Pebble are skipped; undefined when it is installed. */
export const pebbleIsMissing = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'pebble')))
  ? undefined
  : 'Pebble is not there (apt-get install pebble).';

export interface PebbleOptions {
  /** Where it validates http-01 and tls-alpn-01: ports at the addresses that its DNS server has for the names. */
  httpPort: number;
  tlsPort: number;
  /** Address and port; that of the system when left out. */
  dnsServer?: string;
  /** More of its variables, such as `PEBBLE_WFE_NONCEREJECT`. */
  env?: Record<string, string>;
  /** Versions from 2.7 on know profiles; older ones ignore them. */
  profiles?: Record<string, { description: string; validityPeriod: number }>;
  /** Accounts need one of these external accounts: the HMAC keys by their ids, in base64url. */
  eab?: Record<string, string>;
}

export interface Pebble {
  directoryUrl: string;
  /** The authority of its own TLS certificate, in PEM. */
  caPem: string;
  /** The root of the certificates that it issues, in PEM; with `PEBBLE_ALTERNATE_ROOTS`, number 1 and so on are of other chains. */
  root(number?: number): Promise<string>;
  stop(): Promise<void>;
}

/** It validates without waiting, refuses no nonces and reuses no authorizations, unless `env` says otherwise. */
export async function startPebble({
  httpPort,
  tlsPort,
  dnsServer,
  env,
  profiles,
  eab,
}: PebbleOptions): Promise<Pebble> {
  const [port, managementPort] = [await freePort(HOST), await freePort(HOST)];
  const directoryUrl = `https://${HOST}:${port}/dir`;
  const identity = await newLoopbackIdentity();
  const folder = mkdtempSync(join(tmpdir(), 'pebble-'));
  writeFileSync(join(folder, 'cert.pem'), identity.cert);
  writeFileSync(join(folder, 'key.pem'), identity.key, { mode: 0o600 });
  const settings = {
    listenAddress: `${HOST}:${port}`,
    managementListenAddress: `${HOST}:${managementPort}`,
    certificate: 'cert.pem',
    privateKey: 'key.pem',
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: eab !== undefined,
    externalAccountMACKeys: eab,
    profiles,
  };
  writeFileSync(join(folder, 'pebble.json'), JSON.stringify({ pebble: settings }));
  const child = spawn('pebble', ['-config', 'pebble.json', ...(dnsServer ? ['-dnsserver', dnsServer] : [])], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: '0',
      PEBBLE_AUTHZREUSE: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL'); // It has nothing to bring to an end.
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, directoryUrl, identity.ca);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    directoryUrl,
    caPem: identity.ca,
    root: (number = 0) => fetchText(`https://${HOST}:${managementPort}/roots/${number}`, identity.ca),
    stop,
  };
}

/** Waits until it answers: it says that it listens before it does. @throws what it said when it ends. */
async function listening(child: ChildProcess, directoryUrl: string, ca: string): Promise<void> {
  let output = '';
  const read = (chunk: Buffer) => {
    if (output.length < OUTPUT_MAX) output += chunk.toString();
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  const ended = new Promise<never>((_, reject) => {
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`Pebble ended: ${output}`)));
  });
  ended.catch(() => {}); // It also ends when it is stopped.
  await Promise.race([ended, eventually(() => fetchText(directoryUrl, ca))]);
}

async function fetchText(url: string, ca: string): Promise<string> {
  const [response] = await once(get(url, { ca, agent: false }), 'response');
  return text(response);
}
