// What expressions can say of a visitor's TLS, and of the certificates of both sides, after a real handshake.

import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateView } from '../../../src/policy/cel/variables/certificate.ts';
import { connectionOf, exchangeOf, NOON } from '../exchange-support.ts';
import { plainly } from './support.ts';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const P384 = { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
/** Short, as no handshake sees it. */
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 1024,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};
const DEVICE =
  'C=DE, ST=Hesse, L=Kassel, 2.5.4.9=Street 1, 2.5.4.17=34117, O="Example, Inc.", OU=Field, OU=Lab, CN=device-7';
const NAMES = [
  { type: 'dns', value: 'device.example.com' },
  { type: 'email', value: 'device@example.com' },
  { type: 'ip', value: '192.0.2.7' },
  { type: 'url', value: 'spiffe://example.com/device' },
] as const;

/** The gateway's end of connections: with a certificate from the visitor, and without one. */
const ends: Record<'shown' | 'unshown', TLSSocket> = {} as never;
const opened: { destroy(): void }[] = [];
const server = createServer({ requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] });

beforeAll(async () => {
  const [gateway, device] = await Promise.all([
    pair('CN=app.example.com', P384, []),
    pair(DEVICE, ECDSA, [new x509.SubjectAlternativeNameExtension([...NAMES])]),
  ]);
  server.setSecureContext({ ...gateway });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.shown = await visit({ ...device, servername: 'app.example.com', ALPNProtocols: ['h2'] });
  ends.unshown = await visit({ maxVersion: 'TLSv1.2' });
});

afterAll(() => {
  for (const socket of opened) socket.destroy();
  server.close();
});

async function visit(options: object): Promise<TLSSocket> {
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  const [end] = (await once(server, 'secureConnection')) as [TLSSocket];
  opened.push(client, end);
  return end;
}

async function pair(name: string, algorithm: typeof ECDSA | typeof RSA, extensions: x509.Extension[]) {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '0AFE01',
    name,
    notBefore: new Date(NOON),
    notAfter: new Date(NOON + 3_600_000),
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(false, undefined, true), ...extensions],
  });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { cert: certificate.toString('pem'), key };
}

const ask = (expression: string, end: keyof typeof ends = 'shown') =>
  plainly(expression, { exchange: exchangeOf({ tls: ends[end], serverName: 'app.example.com' }) });

const SUBJECT = 'CN=device-7,OU=Lab,OU=Field,O=Example\\, Inc.,postalCode=34117,street=Street 1,L=Kassel,ST=Hesse,C=DE';

describe("a visitor's TLS", () => {
  const table: [expression: string, expected: unknown][] = [
    ['conn.tls.version', '1.3'],
    ['conn.tls.cipher_suite.startsWith("TLS_")', true],
    ['conn.tls.sni', 'app.example.com'],
    ['conn.tls.negotiated_alpn', 'h2'],
    ['conn.tls.session_resumed', false],
    ['conn.tls.client.subject', SUBJECT],
    ['conn.tls.client.subject.common_name', 'device-7'],
    ['conn.tls.client.subject.country', ['DE']],
    ['conn.tls.client.subject.organization', ['Example, Inc.']],
    ['conn.tls.client.subject.organizational_unit', ['Field', 'Lab']],
    ['conn.tls.client.subject.locality', ['Kassel']],
    ['conn.tls.client.subject.province', ['Hesse']],
    ['conn.tls.client.subject.postal_code', ['34117']],
    ['conn.tls.client.subject.street_address', ['Street 1']],
    ['conn.tls.client.issuer', SUBJECT],
    ['conn.tls.client.issuer.common_name', 'device-7'],
    ['conn.tls.client.san.contains("DNS:device.example.com, email:device@example.com")', true],
    ['conn.tls.client.san.dns_names', ['device.example.com']],
    ['conn.tls.client.san.email_addresses', ['device@example.com']],
    ['conn.tls.client.san.ip_addresses', ['192.0.2.7']],
    ['conn.tls.client.san.uris', ['spiffe://example.com/device']],
    ['conn.tls.client.serial_number', '0afe01'],
    ['conn.tls.client.signature_algorithm', 'ECDSA-SHA256'],
    ['conn.tls.client.validity.not_before', '2026-11-21T12:00:00.000Z'],
    ['conn.tls.client.validity.not_after > timestamp(time.now)', true],
    ['conn.tls.client.extensions.map(e, e.id)', ['2.5.29.19', '2.5.29.17']],
    ['conn.tls.client.extensions.filter(e, e.critical).size()', 1n],
    ['size(conn.tls.client.extensions[0].value) > 0', true],
    ['conn.tls.client.pem.startsWith("-----BEGIN CERTIFICATE-----")', true],
    ['conn.tls.server.subject', 'CN=app.example.com'],
    ['conn.tls.server.signature_algorithm', 'ECDSA-SHA384'],
    ['conn.tls.server.san.dns_names', []],
    // As policies of 2024 call them.
    ['req.ClientTLS.CertCN', 'device-7'],
    ['req.ClientTLS.Version', '1.3'],
    ['req.ClientTLS.SNI', 'app.example.com'],
    ['conn.TLS.CertCN', 'device-7'],
    ['conn.TLS.CipherSuite == conn.tls.cipher_suite', true],
  ];

  test.each(table)('%s is %o', (expression, expected) => {
    expect(ask(expression)).toEqual(expected);
  });

  test('without a certificate of the visitor, all that would be in it is empty', () => {
    expect(ask('conn.tls.version', 'unshown')).toBe('1.2');
    expect(ask('conn.tls.client.subject + conn.tls.client.pem + conn.tls.client.serial_number', 'unshown')).toBe('');
    expect(ask('conn.tls.client.san.dns_names', 'unshown')).toEqual([]);
    expect(ask('conn.tls.client.validity.not_after > timestamp(time.now)', 'unshown')).toBe(false);
    expect(ask('conn.tls.server.subject.common_name', 'unshown')).toBe('app.example.com');
  });

  test('is told with the algorithm that signed a certificate, RSA too', async () => {
    const { cert } = await pair('CN=old', RSA, []);
    expect(new CertificateView(new X509Certificate(cert)).signatureAlgorithm).toBe('SHA256-RSA');
  });

  test('is seen by rules of on_tcp_connect once it is spoken', async () => {
    const connection = connectionOf({ terminates: ends.shown });
    const name = () => plainly('conn.tls.client.subject.common_name', { connection }, { phase: 'on_tcp_connect' });
    expect(name()).toBe('');
    await connection.terminateTls?.({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' });
    expect(name()).toBe('device-7');
  });
});
