// Who is let in by mutual TLS: everywhere the same.

import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Identity, type Issuer, inDays, newIssuer, withChain } from '../../support/issuer.ts';
import { startTlsLab, type TlsLab } from '../tls-lab.ts';

const NAMES = {
  https: 'https.mtls.tunnel.localhost',
  tls: 'tls.mtls.tunnel.localhost',
  agentHttps: 'agent-https.mtls.tunnel.localhost',
  agentTls: 'agent-tls.mtls.tunnel.localhost',
};

let lab: TlsLab;
let root: Issuer;
let other: Issuer;
let stranger: Issuer;
/** An authority that vouches for itself here: the one above it is not trusted. */
let partial: Issuer;
let middle: Issuer;

beforeAll(async () => {
  lab = await startTlsLab();
  root = await newIssuer('CN=Devices');
  other = await newIssuer('CN=Other devices');
  // Of the same name as the right one.
  stranger = await newIssuer('CN=Devices');
  middle = await root.below('CN=Devices in the middle');
  partial = await (await newIssuer('CN=Far above')).below('CN=Devices below');
  const trusted = [root, other, partial];
  const mutualTls = { certificate_authority_ids: await lab.authorities(...trusted) };
  await (await lab.edge('https', NAMES.https)).set('mutual_tls', mutualTls);
  await (await lab.edge('tls', NAMES.tls)).set('mutual_tls', mutualTls);
  const bundle = Buffer.from(trusted.map(({ cert }) => cert).join(''));
  const { session, upstream } = lab;
  await session.httpEndpoint().domain(NAMES.agentHttps).mutualTlsca(bundle).listenAndForward(upstream.url);
  await session.tlsEndpoint().domain(NAMES.agentTls).mutualTlsca(bundle).listenAndForward(`tcp://${upstream.address}`);
});
afterAll(() => lab?.close());

const letIn: [what: string, () => Promise<Identity>][] = [
  ['a certificate for clients', () => root.issue()],
  ['a certificate that does not say what it is for', () => root.issue({ purpose: null })],
  ['a certificate with an RSA key of 2048 bits', () => root.issue({ rsa: 2048 })],
  ['a certificate of the second authority', () => other.issue()],
  ['a certificate of an authority whose own issuer is not trusted', () => partial.issue()],
  [
    'a certificate with the intermediate one that leads to the authority',
    async () => withChain(await middle.issue(), middle),
  ],
];
const turnedAway: [what: string, () => Promise<Identity | undefined>][] = [
  ['no certificate', async () => undefined],
  ['a certificate of another authority of the same name', () => stranger.issue()],
  ['a certificate that it has signed itself', () => newIssuer('CN=a visitor')],
  ['a certificate that has expired', () => root.issue({ notAfter: inDays(-1) })],
  ['a certificate that is not valid yet', () => root.issue({ notBefore: inDays(1) })],
  [
    'a certificate with an RSA key of 1024 bits',
    // OpenSSL 3.5 itself does not load such a key at its usual level.
    async () => ({ ...(await root.issue({ rsa: 1024 })), ciphers: 'DEFAULT@SECLEVEL=0' }),
  ],
  ['a certificate for servers only', () => root.issue({ purpose: 'server' })],
  ['a certificate without the intermediate one that leads to the authority', () => middle.issue()],
  [
    'a certificate with an intermediate one that has expired',
    async () => {
      const late = await root.below('CN=Late', { notAfter: inDays(-1) });
      return withChain(await late.issue(), late);
    },
  ],
  [
    'a certificate that a mere visitor has issued',
    async () => {
      const visitor = await root.below('CN=a visitor', { isOne: false });
      return withChain(await visitor.issue(), visitor);
    },
  ],
];

describe.each([
  ['an HTTPS edge', () => NAMES.https, 'come'],
  ['an HTTPS edge over HTTP/2', () => NAMES.https, 'comeByHttp2'],
  ['a TLS edge', () => NAMES.tls, 'come'],
  ['an agent’s tunnel for HTTPS', () => NAMES.agentHttps, 'come'],
  ['an agent’s tunnel for HTTPS over HTTP/2', () => NAMES.agentHttps, 'comeByHttp2'],
  ['an agent’s tunnel for TLS', () => NAMES.agentTls, 'come'],
] as const)('at %s with mutual TLS', (_, name, way) => {
  test.each(letIn)('a visitor with %s is let in', async (_, made) => {
    const identity = await made();
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
      expect(await lab[way](name(), { ...identity, maxVersion })).toMatchObject({ status: 200 });
  });

  test.each(turnedAway)('a visitor with %s fails in the handshake, and upstream hears nothing', async (_, made) => {
    const identity = await made();
    const { asked, connections } = lab.upstream;
    const nothing = { status: undefined, seen: undefined };
    expect(await lab[way](name(), { ...identity, maxVersion: 'TLSv1.2' })).toMatchObject({
      ...nothing,
      isSecure: false,
    });
    // With TLS 1.3 visitors are done before their certificates are looked at (RFC 8446, section 4.4.2.4): cut, or told.
    expect(await lab[way](name(), { ...identity, minVersion: 'TLSv1.3' })).toMatchObject(nothing);
    expect(lab.upstream).toMatchObject({ asked, connections });
  });
  test.each([
    // OpenSSL 3.5 has another name for it.
    ['TLSv1.2', /^ERR_SSL_SSL(V3|\/TLS)_ALERT_HANDSHAKE_FAILURE$/],
    ['TLSv1.3', /^ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED$/],
  ] as const)('a visitor with no certificate is told so (%s)', async (version, code) => {
    const versions = { minVersion: version, maxVersion: version };
    const told = lab.connect(name(), versions).then((socket) => once(socket, 'end'));
    await expect(told).rejects.toMatchObject({ code: expect.stringMatching(code) });
  });
});
