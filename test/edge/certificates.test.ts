import 'reflect-metadata';
import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type PeerCertificate, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Authority, openAuthority } from '../../src/edge/tls/authority.ts';
import { type Certificates, openCertificates } from '../../src/edge/tls/certificates.ts';

let dir: string;
let events: EventEmitter;
const opened: Certificates[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'certificates-'));
  events = new EventEmitter();
});
afterEach(async () => {
  for (const certificates of opened.splice(0)) certificates.close();
  await rm(dir, { recursive: true });
});

interface Line {
  text: string;
  fields: Record<string, unknown>;
}

/** A gateway's certificates; what they log is told as events. */
async function certificates(tlsDir?: string): Promise<Certificates> {
  const log = (fields: Record<string, unknown>, text: string) => events.emit('line', { fields, text } satisfies Line);
  const made = await openCertificates({
    dataDir: join(dir, 'data'),
    tlsDir,
    baseDomain: 'tunnel.localhost',
    log: { info: log, warn: log } as never,
    lookMs: 5,
  });
  opened.push(made);
  return made;
}

const authority = (): Promise<Authority> => openAuthority(join(dir, 'data'));

/** What a client that trusts the authority is shown for a name. @throws when it does not accept it. */
async function shown(secureContext: SecureContext | undefined, name: string, ca: string): Promise<PeerCertificate> {
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

describe('the development authority', () => {
  test('is made once: ca.pem for all to read, ca.key for nobody else, and nothing else is left', async () => {
    const { caFile } = await certificates();
    expect(caFile).toBe(join(dir, 'data/ca.pem'));
    expect((await readdir(join(dir, 'data'))).sort()).toEqual(['ca.key', 'ca.pem']);
    expect((await stat(caFile)).mode & 0o777).toBe(0o644);
    expect((await stat(join(dir, 'data/ca.key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(dir, 'data/ca.key'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    const certificate = new X509Certificate(await readFile(caFile));
    expect(certificate.ca).toBe(true);
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 3640 * 86_400_000);

    const before = await readFile(caFile, 'utf8');
    await certificates();
    expect(await readFile(caFile, 'utf8')).toBe(before);
  });

  test('processes that start at the same time agree on one', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, authority));
    const ca = new X509Certificate(await readFile(join(dir, 'data/ca.pem')));
    for (const { cert } of await Promise.all(made.map((each) => each.issue(['a.example']))))
      expect(new X509Certificate(cert).verify(ca.publicKey)).toBe(true);
  });

  test('a start that was cut short between the key and the certificate is completed', async () => {
    await authority();
    const key = await readFile(join(dir, 'data/ca.key'), 'utf8');
    await rm(join(dir, 'data/ca.pem'));
    await authority();
    expect(await readFile(join(dir, 'data/ca.key'), 'utf8')).toBe(key);
    const ca = new X509Certificate(await readFile(join(dir, 'data/ca.pem')));
    expect(ca.checkPrivateKey(createPrivateKey(key))).toBe(true);
  });

  test.each([
    ['a key without its certificate’s', async () => rm(join(dir, 'data/ca.key')), /ca\.key is not; restore it/],
    [
      'a certificate of another key',
      async () => {
        await rename(join(dir, 'data/ca.pem'), join(dir, 'other.pem'));
        await rm(join(dir, 'data/ca.key'));
        await authority();
        await rename(join(dir, 'other.pem'), join(dir, 'data/ca.pem'));
      },
      /does not belong to/,
    ],
    ['no key at all', async () => writeFile(join(dir, 'data/ca.key'), 'nothing'), /must hold an ECDSA key/],
    ['no certificate at all', async () => writeFile(join(dir, 'data/ca.pem'), 'nothing'), /must hold a certificate/],
  ])('%s is an error that says what to do', async (_, spoil, message) => {
    await authority();
    await spoil();
    await expect(authority()).rejects.toThrow(message);
  });

  test('a certificate for names and addresses is accepted under each of them', async () => {
    const made = await certificates();
    const { key, cert } = await made.agentListener(['localhost', '127.0.0.1', '::1', '*.tunnel.localhost']);
    const leaf = new X509Certificate(cert);
    expect(leaf.checkIP('127.0.0.1')).toBeDefined();
    expect(leaf.checkIP('::1')).toBeDefined();
    expect(leaf.ca).toBe(false);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(Date.parse(leaf.validTo) - Date.now()).toBeLessThanOrEqual(90 * 86_400_000);
    const server = createServer({ key, cert }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ca = await readFile(made.caFile, 'utf8');
    for (const options of [{ servername: 'localhost' }, { servername: 'x.tunnel.localhost' }, {}]) {
      const client = connect({ host: '127.0.0.1', port, ca, ...options });
      await once(client, 'secureConnect');
      client.destroy();
    }
    server.close();
  });
});

describe('which certificate a name gets', () => {
  test('names directly under the base domain share one', async () => {
    const made = await certificates();
    const one = await made.secureContext('app.tunnel.localhost');
    expect(await made.secureContext('other.tunnel.localhost')).toBe(one);
    expect(await made.secureContext('tunnel.localhost')).toBe(one);
    const { subjectaltname } = await shown(one, 'app.tunnel.localhost', made.caFile);
    expect(subjectaltname).toBe('DNS:tunnel.localhost, DNS:*.tunnel.localhost');
  });

  test('any other name has one only while something serves it', async () => {
    const made = await certificates();
    expect(await made.secureContext('app.example.com')).toBeUndefined();
    expect(await made.secureContext('a.b.tunnel.localhost')).toBeUndefined();
    const context = await made.secureContext('app.example.com', 'app.example.com');
    expect((await shown(context, 'app.example.com', made.caFile)).subjectaltname).toBe('DNS:app.example.com');
  });

  test('names under a served wildcard share its certificate; deeper ones, which it does not cover, have their own', async () => {
    const made = await certificates();
    const one = await made.secureContext('a.example.com', '*.example.com');
    expect(await made.secureContext('b.example.com', '*.example.com')).toBe(one);
    expect((await shown(one, 'a.example.com', made.caFile)).subjectaltname).toBe('DNS:*.example.com');
    const deep = await made.secureContext('a.b.example.com', '*.example.com');
    expect((await shown(deep, 'a.b.example.com', made.caFile)).subjectaltname).toBe('DNS:a.b.example.com');
  });

  test('who asks for a name at the same time gets the same certificate', async () => {
    const made = await certificates();
    const all = await Promise.all(Array.from({ length: 50 }, () => made.secureContext('a.example', 'a.example')));
    expect(new Set(all).size).toBe(1);
  });
});

describe('the directory of the operator', () => {
  /** Writes a pair for names there; by default with the key that it was issued for. */
  async function put(file: string, names: string[], by: Authority, { key }: { key?: string } = {}): Promise<void> {
    const pair = await by.issue(names);
    await writeFile(join(dir, 'tls', `${file}.key`), key ?? pair.key);
    await writeFile(join(dir, 'tls', `${file}.crt`), pair.cert);
  }

  let operator: Authority;
  beforeEach(async () => {
    operator = await openAuthority(join(dir, 'operator'));
    await mkdir(join(dir, 'tls'));
  });
  const read = async (): Promise<Line> => {
    for (;;) {
      const [line] = (await once(events, 'line')) as [Line];
      if (line.text === 'certificates read') return line;
    }
  };

  test('its certificates come before those of the authority, an exact name before a wildcard', async () => {
    await put('wildcard', ['*.example.com'], operator);
    await put('exact', ['app.example.com', 'example.com'], operator);
    const made = await certificates(join(dir, 'tls'));
    const names = async (name: string) =>
      (await shown(await made.secureContext(name), name, join(dir, 'operator/ca.pem'))).subjectaltname;
    expect(await names('app.example.com')).toBe('DNS:app.example.com, DNS:example.com');
    expect(await names('example.com')).toBe('DNS:app.example.com, DNS:example.com');
    expect(await names('other.example.com')).toBe('DNS:*.example.com');
    expect(await made.secureContext('a.other.example.com')).toBeUndefined();
  });

  test('what cannot be used is left out, and the log says why', async () => {
    const lines: Line[] = [];
    events.on('line', (line) => lines.push(line));
    await put('good', ['good.example.com'], operator);
    await put('mismatch', ['mismatch.example.com'], operator, {
      key: await readFile(join(dir, 'operator/ca.key'), 'utf8'),
    });
    await writeFile(join(dir, 'tls/garbage.crt'), 'garbage');
    await writeFile(join(dir, 'tls/garbage.key'), 'garbage');
    const ended = await endedPair('ended.example.com');
    await writeFile(join(dir, 'tls/ended.crt'), ended.cert);
    await writeFile(join(dir, 'tls/ended.key'), ended.key);
    await put('lonely', ['lonely.example.com'], operator);
    await rm(join(dir, 'tls/lonely.key'));
    const made = await certificates(join(dir, 'tls'));
    expect(await made.secureContext('good.example.com')).toBeDefined();
    expect(await made.secureContext('mismatch.example.com')).toBeUndefined();
    expect(await made.secureContext('lonely.example.com')).toBeUndefined();
    expect(await made.secureContext('ended.example.com')).toBeUndefined();
    const leftOut = lines.filter(({ text }) => text === 'a certificate is left out');
    expect(leftOut.map(({ fields }) => String(fields.file).replace(/.*\//, ''))).toEqual([
      'ended.crt',
      'garbage.crt',
      'lonely.crt',
      'mismatch.crt',
    ]);
    expect(leftOut[0]?.fields.err).toMatch(/^it ended on /);
    expect(leftOut[3]?.fields.err).toBe('the key is not that of the certificate');
  });

  test('a file that comes, changes or goes is seen', async () => {
    const made = await certificates(join(dir, 'tls'));
    expect(await made.secureContext('app.example.com')).toBeUndefined();

    let again = read();
    await put('app', ['app.example.com'], operator);
    while ((await again).fields.certificates !== 1) again = read();
    const first = await made.secureContext('app.example.com');
    expect(first).toBeDefined();

    const issued = await operator.issue(['app.example.com', 'new.example.com']);
    again = read();
    await writeFile(join(dir, 'tls/app.crt'), issued.cert);
    await again;
    while (!(await made.secureContext('new.example.com'))) await read();
    expect(await made.secureContext('app.example.com')).not.toBe(first);

    again = read();
    await rm(join(dir, 'tls/app.crt'));
    while ((await again).fields.certificates !== 0) again = read();
    expect(await made.secureContext('app.example.com')).toBeUndefined();
  });

  test('a directory that is not there is an error of the start', async () => {
    await expect(certificates(join(dir, 'nowhere'))).rejects.toThrow('ENOENT');
  });
});

/** A certificate that was valid yesterday. */
async function endedPair(name: string): Promise<{ cert: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=ended',
    notBefore: new Date(Date.now() - 2 * 86_400_000),
    notAfter: new Date(Date.now() - 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: certificate.toString('pem'), key };
}
