import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type Authority, openAuthority } from '../../../src/edge/tls/authority.ts';
import { certificates, dir, shown, useDirectory } from './certificates-support.ts';

useDirectory();

const authority = (): Promise<Authority> => openAuthority(join(dir, 'data'));

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
