// How a policy says that TLS is to be spoken with visitors.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import type { Proto } from '../../../src/tunnel/endpoints/endpoint.ts';
import { authorityPem, issue, leafPem, plainPem, privateKeyPem } from '../../contract/rows/certificates.ts';
import { connectionOf, ENDPOINT, environmentOf } from '../exchange-support.ts';

let identity: { server_certificate: string; server_private_key: string };
let authority: string;
/** The gateway's end of a visitor's TLS, and the visitor's. */
let terminates: TLSSocket;
let visitor: TLSSocket;

beforeAll(async () => {
  const { certificate_pem: cert, private_key_pem: key } = await issue({ subject: 'CN=device 7' });
  identity = { server_certificate: cert, server_private_key: key };
  authority = await authorityPem();
  const server = createServer({ cert, key, ALPNProtocols: ['h2'], requestCert: true, rejectUnauthorized: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  visitor = connect({ port, host: '127.0.0.1', cert, key, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  [terminates] = await once(server, 'secureConnection');
  server.close();
});

afterAll(() => {
  visitor.destroy();
  terminates.destroy();
});

const environment = environmentOf();

function policy(config: object, { proto = 'tls', more = [] }: { proto?: Proto; more?: object[] } = {}) {
  const actions = [{ type: 'terminate-tls', config }, ...more];
  return compilePolicyDocument({ on_tcp_connect: [{ actions }] }, { ...ENDPOINT, proto }, environment).connection;
}

/** The terms that TLS is spoken with. */
async function termsOf(config: object) {
  const connection = connectionOf({ terminates });
  expect(await policy(config)?.onConnection(connection)).toBeUndefined();
  return connection.terms;
}

function told(config: object) {
  try {
    policy(config);
    return [];
  } catch (error) {
    return (error as { problems: { path: string; number: number; message: string }[] }).problems.map(
      ({ path, number, message }) => `${number} ${path.replace('on_tcp_connect[0].actions[0].config.', '')} ${message}`,
    );
  }
}

test('without settings, it is TLS 1.2 and 1.3 with the certificate that the name has, and visitors need none', async () => {
  expect(await termsOf({})).toEqual({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' });
});

test('the policy says which versions, which certificate, and who issues visitors’ certificates', async () => {
  expect(await termsOf({ min_version: '1.3', max_version: '1.3', ...identity })).toEqual({
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    identity: { cert: identity.server_certificate, key: identity.server_private_key },
  });
  expect(await termsOf({ mutual_tls_certificate_authorities: [authority] })).toMatchObject({
    clientAuthorities: [authority],
    clientVerification: 'require-and-verify',
  });
  expect(await termsOf({ mutual_tls_verification_strategy: 'request' })).toMatchObject({
    clientAuthorities: [],
    clientVerification: 'request',
  });
});

test('what was agreed on is known to what follows it', async () => {
  const seen = '${actions.terminate_tls.version} ${actions.terminate_tls.negotiated_alpn} ${conn.tls.version}';
  const metadata = { seen, said: '${actions.terminate_tls}' };
  const module = policy({}, { proto: 'https', more: [{ type: 'log', config: { metadata } }] });
  expect(await module?.onConnection(connectionOf({ serverName: 'app.example.com', terminates }))).toBeUndefined();
  const [{ said, ...note }] = environment.notes as [{ said: object; seen: string }];
  expect(note).toEqual({ seen: '1.3 h2 1.3' });
  expect(said).toMatchObject({
    cipher_suite: expect.stringMatching(/^TLS_/),
    sni: 'app.example.com',
    session_resumed: false,
    client: { subject: 'CN=device 7', serial_number: '0a1b2c', pem: expect.stringMatching(/^-----BEGIN CERTIFICATE/) },
  });
});

test('a connection whose handshake fails, or that has no TLS to end, is closed', async () => {
  const failing = { ...connectionOf(), terminateTls: async () => false };
  expect(await policy({})?.onConnection(failing)).toMatchObject({
    kind: 'close',
    reason: expect.stringMatching(/^rule on_tcp_connect\[0\], action terminate-tls: the TLS handshake failed$/),
  });
  expect(await policy({})?.onConnection(connectionOf())).toMatchObject({ kind: 'close' });
  const twice = policy({}, { more: [{ type: 'terminate-tls' }] });
  expect(await twice?.onConnection(connectionOf({ terminates }))).toMatchObject({ kind: 'close' });
});

test('settings that TLS could not be spoken with are refused when they are uploaded', async () => {
  const key = await privateKeyPem();
  const { server_certificate: cert } = identity;
  const [leaf, plain] = [await leafPem(), await plainPem()];
  const authorities = (...list: string[]) => ({ mutual_tls_certificate_authorities: list });
  for (const [config, ...problems] of [
    [{ min_version: '1.1' }, /^2222 min_version must be one of "1.2", "1.3"$/],
    [{ min_version: 1.2 }, /^2222 min_version/],
    [{ min_version: '1.3', max_version: '1.2' }, /^2215 min_version must not be above max_version$/],
    [{ server_certificate: cert }, /^2240 server_private_key is missing/],
    [{ server_private_key: key }, /^2240 server_certificate is missing/],
    [{ server_certificate: cert, server_private_key: key }, /^2204 server_private_key must be the key of server_cert/],
    [{ server_certificate: key, server_private_key: cert }, /^2204 server_certificate/, /^2204 server_private_key/],
    [{ ...identity, server_private_key: '${vars.key}' }, /^2224 server_private_key must not be computed/],
    [authorities('ca_2abc'), /^2204 mutual_tls_certificate_authorities\[0\] must be the certificate itself/],
    [authorities(authority, leaf), /authorities\[1\] must be the certificate of an authority/],
    [authorities(plain), /authorities\[0\] must be the certificate of an authority/],
    [authorities(authority + authority), /authorities\[0\] must be one certificate/],
    [authorities(), /^2223 mutual_tls_certificate_authorities/],
    [authorities('x'), /authorities\[0\] must be a certificate in PEM/],
    [{ mutual_tls_verification_strategy: 'require-and-verify' }, /^2234 mutual_tls_certificate_authorities is missing/],
    [{ mutual_tls_verification_strategy: 'none' }, /^2222 mutual_tls_verification_strategy/],
  ] as [object, ...RegExp[]][])
    expect([config, told(config)]).toEqual([config, problems.map((problem) => expect.stringMatching(problem))]);
});

test('endpoints without TLS cannot end any', () => {
  for (const proto of ['tcp', 'http'] as const)
    expect(() => policy({}, { proto })).toThrow(/terminate-tls is for endpoints/);
});
