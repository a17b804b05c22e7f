// What is sent comes back as it was written, in both dialects: tools that compare their plan with the answer find no difference. It is
// compared, matched and found in its normal form. The requests of existing clients, test/clients/calls.test.ts, hold all other members.

import { beforeAll, expect, test } from 'vitest';
import type { Dialect } from '../../src/api/route.ts';
import { authorityPem, issue } from '../contract/rows/certificates.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  await make('/reserved_domains', { domain: '*.as-written.example.com' });
});

async function make(path: string, body: object, dialect: Dialect = 'documented') {
  const answer = await account.call('POST', path, body, { dialect });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Creates, reads, lists and changes, and expects the members of the bodies to come back. @returns what was made. */
async function comesBack(path: string, body: Record<string, unknown>, change: object = {}) {
  const dialect = path === '/endpoints' ? 'extended' : 'documented';
  const made = await make(path, body, dialect);
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => name in made));
  expect(made).toMatchObject(kept);
  const own = `${path}/${made.id}`;
  for (const asked of [dialect, 'extended'] as const)
    expect((await account.call('GET', own, undefined, { dialect: asked })).body).toMatchObject(kept);
  const listed: { id: string }[][] = Object.values((await account.call('GET', path, undefined, { dialect })).body);
  expect(listed.flat()).toContainEqual(expect.objectContaining({ id: made.id, ...kept }));
  // Twice: what was read is written back, as tools do whatever it is that they change.
  for (const sent of [change, change]) {
    const changed = await account.call('PATCH', own, { ...sent, metadata: 'changed' }, { dialect });
    expect(changed.body, changed.text).toMatchObject({ ...kept, ...sent, metadata: 'changed' });
  }
  return made;
}

test.each([
  ['2001:DB8:1:0::/48', '2001:db8:1::/48', '2001:0db8:0002::/48'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8', '11.0.0.0/8'],
])('networks: %s', async (cidr, normal, other) => {
  const { id: policy } = await make('/ip_policies', {});
  const rule = { ip_policy_id: policy, action: 'allow' };
  const { id } = await comesBack('/ip_policy_rules', { ...rule, cidr });
  const repeated = await account.call('POST', '/ip_policy_rules', { ...rule, cidr: normal });
  expect(repeated).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_1408' } });
  for (const text of [other, normal, cidr])
    expect((await account.call('PATCH', `/ip_policy_rules/${id}`, { cidr: text })).body.cidr).toBe(text);
});

test('certificates, with the line ends and the words around them', async () => {
  const inWindows = (pem: string) => pem.replaceAll('\n', '\r\n');
  await comesBack('/certificate_authorities', { ca_pem: inWindows(await authorityPem()) });
  const { certificate_pem, private_key_pem } = await issue({ names: ['pem.as-written.example.com'] });
  const words = `Issued for a test.\n${certificate_pem}\n\n`;
  for (const written of [inWindows(certificate_pem), words, certificate_pem]) {
    const { id } = await comesBack('/tls_certificates', { certificate_pem: written, private_key_pem });
    // What visitors are shown is read without.
    const row = await gateway.app.prisma.tlsCertificate.findUniqueOrThrow({ where: { id } });
    expect(row.certificatePem.trim()).toBe(certificate_pem.trim());
  }
});

test('a key that has lost its first line is no words around a certificate', async () => {
  const { certificate_pem, private_key_pem } = await issue({ names: ['maimed.as-written.example.com'] });
  const maimed = `${certificate_pem}${private_key_pem.slice(private_key_pem.indexOf('\n'))}`;
  const answer = await account.call('POST', '/tls_certificates', { certificate_pem: maimed, private_key_pem });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.text).toContain('certificate_pem');
});

test('names of domains, which are one name in any case', async () => {
  await comesBack('/reserved_domains', { domain: 'Shop.Names.example.com', region: 'US' });
  await comesBack('/reserved_domains', { domain: '*.Shop.Names.example.com' });
  const again = await account.call('POST', '/reserved_domains', { domain: 'shop.names.example.com' });
  expect(again).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_413' } });
});

test.each([
  [' a.blanks.example.com\n', 'a.blanks.example.com'],
  ['b.blanks.example.com.', 'b.blanks.example.com'],
  ['\t*.C.blanks.example.com. ', '*.C.blanks.example.com'],
])('a domain written as %j is reserved without blanks and the dot at its end', async (domain, shown) => {
  expect((await make('/reserved_domains', { domain })).domain).toBe(shown);
});

test.each(['..', 'a.blanks.example.com..', '.', ' ', 'a. blanks.example.com'])('but not %j', async (domain) => {
  expect((await account.call('POST', '/reserved_domains', { domain })).status).toBe(400);
});

test.each(['https', 'tls'])('hostports of %s edges, in their order', async (kind) => {
  const [b, a] = [`B-${kind}.As-Written.example.com:443`, `a-${kind}.as-written.example.com:443`];
  await comesBack(`/edges/${kind}`, { hostports: [b, a] }, { hostports: [a.toUpperCase(), b] });
  const taken = await account.call('POST', `/edges/${kind}`, { hostports: [b.toLowerCase()] });
  expect(taken).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_7122' } });
});

test('hostports of TCP edges', async () => {
  const { addr } = await make('/reserved_addrs', {});
  await comesBack('/edges/tcp', { hostports: [addr.toUpperCase()] });
});

test('addresses of static backends', async () => {
  await comesBack('/backends/static', { address: 'API.example.com:443' }, { address: '[2606:4700:0::1111]:0443' });
});

test.each(['/cloud_endpoints', '/endpoints'])('URLs of cloud endpoints, without a port of ours: %s', async (path) => {
  const host = `${path === '/endpoints' ? 'among' : 'alone'}.as-written.example.com`;
  const url = `https://${host}`;
  const { id, public_url, hostport } = await comesBack(path, { url }, { url: `https://${host.toUpperCase()}:443/` });
  const { dialect } = { dialect: 'extended' } as const;
  const shown = (await account.call('GET', `/endpoints/${id}`, undefined, { dialect })).body;
  // Where visitors reach it is told by other members.
  const { port } = new URL(`https://${gateway.https}`);
  expect(shown).toMatchObject({ public_url: `${url}:${port}`, host, port: Number(port), hostport: `${host}:443` });
  if (path === '/endpoints')
    expect({ public_url, hostport }).toEqual({ public_url: `${url}:${port}`, hostport: `${host}:443` });
  for (const asked of [url, `${url}:${port}`]) {
    const query = new URLSearchParams({ url: asked });
    const { body } = await account.call('GET', `/endpoints?${query}`, undefined, { dialect });
    expect(body.endpoints.map((it: { id: string }) => it.id)).toEqual([id]);
  }
});

test.each([
  ['HTTPS://Svc.As-Written.Internal:443', 'https://other.as-written.internal/'],
  ['http://svc.as-written.internal:8080/', 'http://svc.as-written.internal:80'],
  ['tls://SVC.as-written.internal:6443', 'TLS://svc.as-written.internal'],
  ['tcp://svc.as-written.internal:5432', 'tcp://svc.AS-written.internal:05433'],
  ['http://Plain.as-written.example.com:80', 'http://plain.as-written.example.com/'],
  ['TLS://tls.as-written.example.com:443', 'tls://TLS.as-written.example.com'],
  ['Bare.as-written.example.com', 'bare.as-written.example.com:80'],
  ['svc.as-written.internal:5433', 'SVC.as-written.internal'],
])('URLs of cloud endpoints of every scheme: %s, then %s', async (url, other) => {
  const { id } = await comesBack('/endpoints', { url }, { url: other });
  expect((await account.call('DELETE', `/cloud_endpoints/${id}`)).status).toBe(204);
});

test('URLs of cloud endpoints at reserved addresses', async () => {
  const { addr } = await make('/reserved_addrs', {});
  await comesBack('/endpoints', { url: `tcp://${addr}` }, { url: `TCP://${addr.toUpperCase()}` });
});

test('what an earlier version has changed meanwhile is shown as it is now', async () => {
  const { id: policy } = await make('/ip_policies', {});
  const { id } = await make('/ip_policy_rules', { ip_policy_id: policy, action: 'allow', cidr: '2001:DB8::/32' });
  await gateway.app.prisma.ipPolicyRule.update({ where: { id }, data: { cidr: '10.0.0.0/8' } });
  expect((await account.call('GET', `/ip_policy_rules/${id}`)).body.cidr).toBe('10.0.0.0/8');
});
