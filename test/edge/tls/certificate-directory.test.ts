import 'reflect-metadata';
import { KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Authority, openAuthority } from '../../../src/edge/tls/authority.ts';
import type { Certificates } from '../../../src/edge/tls/certificates.ts';
import { type Identity, type Issuer, newIssuer, type Wanted } from '../../support/issuer.ts';
import { certificates, dir, events, type Line, shown, useDirectory } from './certificates-support.ts';

useDirectory();

describe('the directory of the operator', () => {
  /** Writes a pair there, or one for names; by default with the key that it was issued for. */
  async function put(file: string, pair: Identity): Promise<void>;
  async function put(file: string, names: string[], by: Authority, more?: { key?: string }): Promise<void>;
  async function put(file: string, what: string[] | Identity, by?: Authority, { key }: { key?: string } = {}) {
    const pair = Array.isArray(what) ? await (by as Authority).issue(what) : what;
    await writeFile(join(dir, 'tls', `${file}.key`), key ?? pair.key);
    await writeFile(join(dir, 'tls', `${file}.crt`), pair.cert);
  }

  let client: Issuer;
  let server: Issuer;
  beforeAll(async () => {
    [client, server] = await Promise.all([newIssuer('CN=for clients'), newIssuer('CN=for servers')]);
  });
  let operator: Authority;
  beforeEach(async () => {
    operator = await openAuthority(join(dir, 'operator'));
    await mkdir(join(dir, 'tls'));
  });
  const read = () =>
    new Promise<Line>((resolve) => {
      const listener = (line: Line) => {
        if (line.text !== 'certificates loaded') return;
        events.off('line', listener);
        resolve(line);
      };
      events.on('line', listener);
    });

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

  test('one that comes without its issuer is shown, and the log names whom visitors may miss', async () => {
    const lines: Line[] = [];
    events.on('line', (line) => lines.push(line));
    const middle = await server.below('CN=in between');
    const whole = await middle.issue({ purpose: 'server', dns: ['whole.example.com'] });
    const leaf = await middle.issue({ purpose: 'server', dns: ['leaf.example.com'] });
    await put('whole', { ...whole, cert: whole.cert + server.cert });
    await put('leaf', { ...leaf, cert: leaf.cert.replace(/(-----END CERTIFICATE-----)[\s\S]*/, '$1\n') });
    const made = await certificates(join(dir, 'tls'));
    expect(await made.secureContext('leaf.example.com')).toBeDefined();
    const warned = lines.filter(({ text }) => /without its issuer/.test(text));
    expect(warned.map(({ fields }) => fields)).toEqual([{ file: join(dir, 'tls/leaf.crt'), issuer: 'CN=in between' }]);
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

  /** Waits for the directory to be read with so many files that cannot be used. */
  const readWith = (made: Certificates, unusable: number) => expect.poll(() => made.unusableFiles()).toBe(unusable);
  const at = (file: string) => join(dir, 'tls', file);
  test.each<[string, () => Promise<void>]>([
    ['half a file', async () => writeFile(at('app.crt'), (await readFile(at('app.crt'), 'utf8')).slice(0, 300))],
    ['an empty file', () => writeFile(at('app.crt'), '')],
    ['an empty key', () => writeFile(at('app.key'), '')],
    ['the key of another', async () => writeFile(at('app.key'), await readFile(join(dir, 'operator/ca.key'), 'utf8'))],
    ['no key', () => rm(at('app.key'))],
    ['one that has ended', async () => put('app', await endedPair('app.example.com'))],
    ['one for clients', async () => put('app', await client.issue({ dns: ['app.example.com'] }))],
  ])('a certificate is shown until there is a better one: %s', async (_, spoil) => {
    await put('app', ['app.example.com'], operator);
    const good = [await readFile(at('app.crt')), await readFile(at('app.key'))] as const;
    const made = await certificates(join(dir, 'tls'));
    expect(made.unusableFiles()).toBe(0);
    const serial = async () =>
      (await shown(await made.secureContext('app.example.com'), 'app.example.com', join(dir, 'operator/ca.pem')))
        .serialNumber;
    const before = await serial();
    await spoil();
    await readWith(made, 1);
    expect(await serial()).toBe(before);
    await writeFile(at('app.key'), good[1]);
    await writeFile(at('app.crt'), good[0]);
    await readWith(made, 0);
    await rm(at('app.crt'));
    await expect.poll(() => made.secureContext('app.example.com')).toBeUndefined();
    expect(made.unusableFiles()).toBe(0);
  });

  test('a certificate that is not valid yet is shown once it is, and the one before until then', async () => {
    let now = Date.now();
    await put('app', await server.issue({ dns: ['app.example.com'], purpose: 'server', serialNumber: '41' }));
    const made = await certificates(join(dir, 'tls'), { time: () => now });
    const [notBefore, notAfter] = [new Date(now + 86_400_000), new Date(now + 900 * 86_400_000)];
    const next: Wanted = { dns: ['app.example.com'], purpose: 'server', serialNumber: '42', notBefore, notAfter };
    const seen = new Promise((resolve) => {
      events.on('line', ({ text }: Line) => text === 'a certificate is not valid yet' && resolve(text));
    });
    await put('app', await server.issue(next));
    await seen;
    await readWith(made, 0);
    const identity = async () => new X509Certificate((await made.identity('app.example.com'))?.cert ?? '').serialNumber;
    expect(await identity()).toBe('41');
    now += 2 * 86_400_000;
    expect(await identity()).toBe('42');
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
