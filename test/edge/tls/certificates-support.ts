// Certificates of a gateway, in a directory of the test's own.

import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type PeerCertificate, type SecureContext } from 'node:tls';
import { afterEach, beforeEach } from 'vitest';
import { type CertificateOptions, type Certificates, openCertificates } from '../../../src/edge/tls/certificates.ts';

export let dir: string;
/** Lines of the log, as `line`. */
export let events: EventEmitter;
const opened: Certificates[] = [];

/** Makes `dir` and `events` anew for each test of the file. */
export function useDirectory(): void {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'certificates-'));
    events = new EventEmitter();
  });
  afterEach(async () => {
    for (const made of opened.splice(0)) made.close();
    await rm(dir, { recursive: true });
  });
}

export interface Line {
  text: string;
  fields: Record<string, unknown>;
}

/** A gateway's certificates; what they log is told as events. */
export async function certificates(tlsDir?: string, more: Partial<CertificateOptions> = {}): Promise<Certificates> {
  const log = (fields: Record<string, unknown>, text: string) => events.emit('line', { fields, text } satisfies Line);
  const made = await openCertificates({
    dataDir: join(dir, 'data'),
    tlsDir,
    baseDomain: 'tunnel.localhost',
    log: { info: log, warn: log } as never,
    lookMs: 5,
    ...more,
  });
  opened.push(made);
  return made;
}

/** What a client that trusts the authority is shown for a name. @throws when it does not accept it. */
export async function shown(
  secureContext: SecureContext | undefined,
  name: string,
  ca: string,
): Promise<PeerCertificate> {
  if (!secureContext) throw new Error('refused');
  const server = createServer({ SNICallback: (_, callback) => callback(null, secureContext) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: name,
    ca: await readFile(ca, 'utf8'),
  });
  try {
    await once(client, 'secureConnect');
    return client.getPeerCertificate();
  } finally {
    client.destroy();
    server.close();
  }
}
