// What upstream is told of a visitor's certificate: the truth, and nothing that the visitor has made up. The same of who has signed in.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FOREIGN_NAMESPACE } from '../../../src/tunnel/control/compatibility.ts';
import { type Identity, newIssuer } from '../../support/issuer.ts';
import { type Come, startTlsLab, type TlsLab } from '../tls-lab.ts';

const NAMES = {
  edge: 'edge.told.tunnel.localhost',
  openEdge: 'open-edge.told.tunnel.localhost',
  tunnel: 'tunnel.told.tunnel.localhost',
  openTunnel: 'open-tunnel.told.tunnel.localhost',
};
const FORGED = {
  'gateway-mtls-subject-cn': 'root',
  'Gateway-Mtls-Serial-Number': '00',
  'GATEWAY-MTLS-Anything': 'else',
  'Gateway-Auth-User-Email': 'root@example.com',
  gateway_auth_user_id: 'appu_root',
  [`${FOREIGN_NAMESPACE}-Auth-User-Email`]: 'root@example.com',
};

const IDENTITY = new RegExp(`^(?:gateway|${FOREIGN_NAMESPACE})[-_](?:auth|mtls)`);

let lab: TlsLab;
let full: Identity;
let bare: Identity;

beforeAll(async () => {
  lab = await startTlsLab();
  const issuer = await newIssuer('CN=Told');
  full = await issuer.issue({
    subject: 'CN="device 7, née 6", O=Example',
    dns: ['device7.example.com', 'alias.example.com'],
    email: ['device7@example.com'],
    serialNumber: '4aBc01',
  });
  bare = await issuer.issue({ subject: 'O=Example', serialNumber: '4d' });
  const { session, upstream } = lab;
  const bundle = Buffer.from(issuer.cert);
  await session.httpEndpoint().domain(NAMES.tunnel).mutualTlsca(bundle).listenAndForward(upstream.url);
  await session.httpEndpoint().domain(NAMES.openTunnel).listenAndForward(upstream.url);
  await lab.edge('https', NAMES.openEdge);
  const edge = await lab.edge('https', NAMES.edge);
  await edge.set('mutual_tls', { certificate_authority_ids: await lab.authorities(issuer) });
});
afterAll(() => lab?.close());

const ways: Record<string, (name: string, identity?: Identity) => Promise<Come>> = {
  'HTTP/1.1': (name, identity) =>
    lab.come(
      name,
      identity,
      Object.entries(FORGED).map(([field, value]) => `${field}: ${value}`),
    ),
  'HTTP/2': (name, identity) =>
    lab.comeByHttp2(
      name,
      identity,
      Object.fromEntries(Object.entries(FORGED).map(([field, value]) => [field.toLowerCase(), value])),
    ),
};

describe.each(Object.entries(ways))('over %s', (_, come) => {
  const told = async (name: string, identity?: Identity) => {
    const { seen } = await come(name, identity);
    expect(seen).toBeDefined();
    return Object.fromEntries(Object.entries(seen ?? {}).filter(([field]) => IDENTITY.test(field)));
  };

  test.each(['edge', 'tunnel'] as const)('upstream of the %s is told what the certificate says', async (which) => {
    expect(await told(NAMES[which], full)).toEqual({
      'gateway-mtls-subject-cn': 'device 7%2C n%C3%A9e 6',
      'gateway-mtls-subject-alt-name-dns': 'device7.example.com,alias.example.com',
      'gateway-mtls-subject-alt-name-email-addresses': 'device7@example.com',
      'gateway-mtls-serial-number': '4abc01',
    });
  });

  test.each(['edge', 'tunnel'] as const)('upstream of the %s is told nothing that it does not say', async (which) => {
    expect(await told(NAMES[which], bare)).toEqual({ 'gateway-mtls-serial-number': '4d' });
  });

  test.each(['openEdge', 'openTunnel'] as const)(
    'without mutual TLS (%s) upstream is told nothing, whatever the visitor says',
    async (which) => {
      expect(await told(NAMES[which])).toEqual({});
      expect(await told(NAMES[which], full)).toEqual({});
    },
  );
});
