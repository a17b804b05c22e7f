// Certificates, networks, and certificates for domains that are wrong.

import { newId } from '../../../src/store/ids.ts';
import { newIssuer } from '../../support/issuer.ts';
import { authorityPem, issue, type Pair, privateKeyPem, requestPem, sent } from '../rows/certificates.ts';
import type { World } from '../world.ts';
import { type HostileCase, wrong } from './case.ts';

type Make = (world: World) => Pair | Promise<Pair>;

/** An upload that is wrong in its certificate, or in its key. */
const upload = (title: string, number: number, blamed: keyof Pair, make: Make): HostileCase =>
  wrong('createCertificate', blamed, undefined, number, { title: `createCertificate: ${title}`, body: make });
const inChain = (title: string, number: number, make: (world: World) => string | Promise<string>) =>
  upload(title, number, 'certificate_pem', async (world) => ({
    ...world.server,
    certificate_pem: await make(world),
  }));
const inKey = (title: string, number: number, make: (world: World) => string | Promise<string>) =>
  upload(title, number, 'private_key_pem', async (world) => ({
    ...world.server,
    private_key_pem: await make(world),
  }));

const block = (type: string, content: string) => `-----BEGIN ${type}-----\n${content}\n-----END ${type}-----\n`;
const rsa = (modulusLength: number) => ({
  ...{ name: 'RSASSA-PKCS1-v1_5', modulusLength, hash: 'SHA-256' },
  publicExponent: new Uint8Array([1, 0, 1]),
});

const certificates = [
  inChain('nothing for a certificate', 1922, () => ''),
  inChain('no PEM for a certificate', 1922, () => 'MIIB'),
  inChain('a key for a certificate', 1925, ({ server }) => server.private_key_pem),
  inChain('a certificate and its key in one', 1925, ({ server }) => server.certificate_pem + server.private_key_pem),
  inChain('a certificate request', 1911, requestPem),
  inChain('headers in a certificate', 1910, ({ server }) =>
    server.certificate_pem.replace('-----\n', '-----\nA: b\n\n'),
  ),
  inChain('half a certificate', 1900, ({ server }) => server.certificate_pem.slice(0, -30)),
  inChain('garbage in a certificate', 1900, () => block('CERTIFICATE', 'AAAA')),
  inChain('no base64 in a certificate', 1900, () => block('CERTIFICATE', '\u00e9')),
  inChain('a certificate of more than 32 KiB', 1921, ({ server }) => '#'.repeat(32 * 1024) + server.certificate_pem),
  inChain(
    'another’s certificate behind it',
    1926,
    async ({ server }) => server.certificate_pem + (await authorityPem()),
  ),
  inChain('U+0000 in a certificate', 215, ({ server }) => `\0${server.certificate_pem}`),
  inKey('another’s key', 1923, privateKeyPem),
  upload('an expired certificate', 90034, 'certificate_pem', async () =>
    sent(await issue({ until: new Date('2025-01-01T00:00:00Z') })),
  ),
  upload('a certificate for clients alone', 90095, 'certificate_pem', async () => {
    const { cert, key } = await (await newIssuer('CN=an authority')).issue({ purpose: 'client' });
    return { certificate_pem: cert, private_key_pem: key };
  }),
  upload('the chain upside down', 1926, 'certificate_pem', async () => {
    const issuer = await issue({ subject: 'CN=above', issues: true });
    const leaf = await issue({ subject: 'CN=leaf', issuer });
    return { ...sent(leaf), certificate_pem: issuer.certificate_pem + leaf.certificate_pem };
  }),
  inKey('nothing for a key', 1901, () => ''),
  inKey('a certificate for a key', 1924, ({ server }) => server.certificate_pem),
  inKey('a key that is encrypted', 1902, () => block('ENCRYPTED PRIVATE KEY', 'AAAA')),
  inKey('a key encrypted in the old way', 1902, () => block('RSA PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\n\nAAAA')),
  inKey('garbage in a key', 1903, () => block('PRIVATE KEY', 'AAAA')),
  inKey('half a key', 1903, ({ server }) => server.private_key_pem.slice(0, -30)),
  inKey('a public key', 1903, () => block('PUBLIC KEY', 'AAAA')),
  inKey('two keys', 1903, async ({ server }) => server.private_key_pem + (await privateKeyPem())),
  inKey('a key of more than 16 KiB', 1921, ({ server }) => '#'.repeat(16 * 1024) + server.private_key_pem),
  upload('an RSA key of 1024 bits', 90036, 'private_key_pem', async () => sent(await issue({ algorithm: rsa(1024) }))),
];

const cidr = (text: string, number: number): HostileCase[] =>
  (['createIpPolicyRule', 'updateIpPolicyRule'] as const).map((name) => wrong(name, 'cidr', text, number));
const rule = (member: string, value: unknown, number: number, only?: 'rest' | 'graphql') =>
  wrong('createIpPolicyRule', member, value, number, { only });

const networks = [
  ...cidr('', 1405),
  ...cidr('x', 1406),
  ...cidr('10.0.0.0/', 1406),
  ...cidr('10.0.0.0/33', 1406),
  ...cidr('10.0.0.0/-1', 1406),
  ...cidr('10.0.0.0/8/8', 1406),
  ...cidr('10.0.0/8', 1406),
  ...cidr('010.0.0.0/8', 1406),
  ...cidr(' 10.0.0.0/8', 1406),
  ...cidr('2001:db8::/129', 1406),
  ...cidr('fe80::1%eth0/64', 1406),
  ...cidr('example.com/24', 1406),
  ...cidr('10.0.0.7', 1413),
  ...cidr('2001:db8::7', 1413),
  ...cidr('10.0.0.7/8', 1409),
  ...cidr('10.0.0.7/0', 1409),
  ...cidr('2001:db8::7/64', 1409),
  ...[newId('ipp'), newId('cr'), 'x', 'ipp_'].map((id) => rule('ip_policy_id', id, 1414)),
  rule('ip_policy_id', '', 1405),
  ...['', 'ALLOW', 'permit'].map((action) => rule('action', action, 1422, 'rest')),
  ...['', 'permit'].map((action) => rule('action', action, 215, 'graphql')),
  wrong('createIpPolicyRule', 'cidr', '192.0.2.0/24', 1408, { status: 409, blamed: '' }),
  wrong('createIpPolicyRule', 'cidr', '::ffff:192.0.2.0/120', 1408, { status: 409, blamed: '' }),
  wrong('updateIpPolicyRule', 'action', 'deny', 214),
  ...['', 'API', 'visitors'].map((type) => wrong('createIpRestriction', 'type', type, 1803, { only: 'rest' })),
  ...['', 'visitors'].map((type) => wrong('createIpRestriction', 'type', type, 215, { only: 'graphql' })),
  wrong('createIpRestriction', 'type', 'agent', 1802, { status: 409, blamed: '' }),
  wrong('createIpRestriction', 'ip_policy_ids', [], 1804),
  wrong('updateIpRestriction', 'type', 'api', 214),
  ...(['createIpRestriction', 'updateIpRestriction'] as const).flatMap((name) => [
    wrong(name, 'ip_policy_ids', Array(11).fill(newId('ipp')), 1800),
    wrong(name, 'ip_policy_ids', [newId('ipp')], 1801, { blamed: 'ip_policy_ids[0]' }),
    wrong(name, 'ip_policy_ids', ({ ids }: World) => [ids.ipPolicy, ids.ipPolicy], 90056, {
      blamed: 'ip_policy_ids[1]',
    }),
  ]),
  wrong('updateIpPolicyRule', 'ip_policy_id', newId('ipp'), 214),
];

const certificateOf = ({ ids }: World) => ids.certificate;
/** A domain to reserve with the world's certificate. */
const domain = (text: string, number: number, more: object = {}, blamed = 'certificate_id') =>
  wrong('createDomain', blamed, undefined, number, {
    title: `createDomain: ${text} with a certificate ${Object.keys(more)}`,
    body: (world) => ({ domain: text, certificate_id: certificateOf(world), ...more }),
  });

const domains = [
  ...[newId('cert'), newId('cr'), 'x', 'cert_'].flatMap((id) => [
    wrong('createDomain', 'certificate_id', id, 90045),
    wrong('updateDomain', 'certificate_id', id, 90045),
  ]),
  domain('a.b.world.example.com', 90046),
  domain('*.b.world.example.com', 90046),
  domain('world.example.com', 90046),
  domain('other.example.com', 90046),
  domain('*.shop.example.com', 90046),
  domain('shop.tunnel.localhost', 440),
  domain('shop.example.com', 434, { certificate_management_policy: {} }),
  domain('shop.tunnel.localhost', 439, { certificate_management_policy: {} }, 'certificate_management_policy'),
  wrong('updateDomain', 'certificate_id', certificateOf, 434, {
    title: 'updateDomain: a certificate and a policy',
    body: (world) => ({ certificate_id: certificateOf(world), certificate_management_policy: {} }),
  }),
];

export const wrongListed = [...certificates, ...networks, ...domains];
