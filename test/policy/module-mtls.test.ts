import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { mtlsHeaders } from '../../src/edge/modules/mtls-headers.ts';
import { exchangeOf } from './exchange-support.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

async function identity(name: string, alternatives: x509.JsonGeneralNames, ca: boolean) {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '0aff',
      name,
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 60_000),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.BasicConstraintsExtension(ca), new x509.SubjectAlternativeNameExtension(alternatives)],
    },
    webcrypto as never,
  );
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n` };
}

/** The gateway's side of a handshake in which a visitor shows a certificate. */
async function shaken(visitor: { cert: string; key: string }, isTrusted: boolean, look: (tls: TLSSocket) => void) {
  const own = await identity('CN=localhost', [{ type: 'dns', value: 'localhost' }], true);
  const server = createServer({
    ...own,
    ca: isTrusted ? visitor.cert : own.cert,
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const client = connect({
    ...visitor,
    port: (server.address() as AddressInfo).port,
    ca: own.cert,
    servername: 'localhost',
  });
  client.on('error', () => {});
  const [tls] = await accepted;
  look(tls);
  client.destroy();
  tls.destroy();
  server.close();
}

/** What upstream is told. */
function told(tls: TLSSocket | undefined, sent: Record<string, string> = {}) {
  const exchange = exchangeOf({ tls, fields: sent });
  mtlsHeaders().onRequest?.(exchange);
  return Object.fromEntries(exchange.request.fields.list);
}

test('upstream is told of the certificate that was verified', async () => {
  const visitor = await identity(
    'CN=device 7, O=Example',
    [
      { type: 'dns', value: 'a.example' },
      { type: 'email', value: 'me@example.com' },
      { type: 'dns', value: 'b.example' },
      { type: 'ip', value: '192.0.2.1' },
    ],
    true,
  );
  await shaken(visitor, true, (tls) => {
    expect(told(tls)).toEqual({
      'Gateway-Mtls-Subject-Cn': 'device 7',
      'Gateway-Mtls-Subject-Alt-Name-Dns': 'a.example,b.example',
      'Gateway-Mtls-Subject-Alt-Name-Email-Addresses': 'me@example.com',
      'Gateway-Mtls-Serial-Number': '0aff',
    });
  });
});

test('a name that pretends to be two, or to end its line, is told as one', async () => {
  const visitor = await identity(
    'CN=ü%\\, x',
    [
      { type: 'dns', value: 'a.example, DNS:admin.example' },
      { type: 'email', value: 'x\r\nX-Admin: 1' },
    ],
    true,
  );
  await shaken(visitor, true, (tls) => {
    expect(told(tls)).toMatchObject({
      'Gateway-Mtls-Subject-Cn': '%C3%BC%25%2C x',
      'Gateway-Mtls-Subject-Alt-Name-Dns': 'a.example%2C DNS:admin.example',
      'Gateway-Mtls-Subject-Alt-Name-Email-Addresses': 'x%0D%0AX-Admin: 1',
    });
  });
});

test('of a certificate that was not verified, nothing is told', async () => {
  const visitor = await identity('CN=stranger', [], true);
  await shaken(visitor, false, (tls) => {
    expect(tls.getPeerX509Certificate()?.subject).toContain('stranger');
    expect(told(tls)).toEqual({});
  });
});

test('what the visitor says under these names never goes on, in any case of letters', () => {
  const sent = { 'gateway-mtls-subject-cn': 'admin', 'GATEWAY-MTLS-Anything': 'x', 'X-Other': 'stays' };
  expect(told(undefined, sent)).toEqual({ 'X-Other': 'stays' });
});
