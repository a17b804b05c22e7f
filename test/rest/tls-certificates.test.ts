import { createPrivateKey, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPrivateKey } from '../../src/store/keys/private-keys.ts';
import { type Issued, issue, sent } from '../contract/rows/certificates.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let pair: Issued;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  pair = await issue({ names: ['*.certificates.example.com', 'certificates.example.com'] });
});

const upload = async (body: object) => {
  const answer = await account.call('POST', '/tls_certificates', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const rowOf = (id: string) => gateway.app.prisma.tlsCertificate.findUniqueOrThrow({ where: { id } });

test('the private key is sealed for its row, and neither answered nor logged', async () => {
  const { id, ...shown } = await upload(sent(pair));
  const row = await rowOf(id);
  expect(openPrivateKey(gateway.app.keys, row)).toBe(pair.private_key_pem);
  expect(() => openPrivateKey(gateway.app.keys, { ...row, id: 'cert_x' })).toThrow();
  expect(() => openPrivateKey(gateway.app.keys, { ...row, accountId: 'ac_x' })).toThrow();

  const secret = pair.private_key_pem.split('\n')[1] ?? '';
  expect(secret.length).toBeGreaterThan(40);
  const read = await account.graphql('query ($id: ID!) { tlsCertificate(id: $id) { certificatePem } }', { id });
  expect(read.body.data.tlsCertificate.certificatePem).toBe(pair.certificate_pem);
  for (const text of [JSON.stringify(row), JSON.stringify(shown), ...gateway.logs]) expect(text).not.toContain(secret);
});

test('a chain is kept in its order, and shown with what stands around it', async () => {
  const root = await issue({ subject: 'CN=root', issues: true });
  const middle = await issue({ subject: 'CN=middle', issuer: root, issues: true });
  const leaf = await issue({ subject: 'CN=leaf', issuer: middle, names: ['Chain.Example.com'] });
  const chain = [leaf, middle, root].map(({ certificate_pem }) => certificate_pem);
  const written = `# ours\n${chain.join('# by\n')}`;
  const { certificate_pem, ...shown } = await upload({ ...sent(leaf), certificate_pem: written });
  expect(certificate_pem).toBe(written);
  expect(shown).toMatchObject({
    subject_common_name: 'leaf',
    subject_organization: '',
    issuer_common_name: 'middle',
    subject_alternative_names: { dns_names: ['chain.example.com'], ips: [] },
  });
});

test('a certificate without its issuer is kept, and says which one visitors may miss', async () => {
  const root = await issue({ subject: 'CN=missing root, O=Example', issues: true });
  const middle = await issue({ subject: 'CN=missing middle', issuer: root, issues: true });
  const leaf = await issue({ subject: 'CN=leaf', issuer: middle });
  const ofPublicRoot = await issue({
    subject: 'CN=of a public root',
    issuer: await issue({ subject: 'C=US, O=Internet Security Research Group, CN=ISRG Root X1', issues: true }),
  });
  const missing = async (first: Issued, ...above: Issued[]) => {
    const certificate_pem = [first, ...above].map((one) => one.certificate_pem).join('');
    const { id } = await upload({ ...sent(first), certificate_pem });
    const query = 'query ($id: ID!) { tlsCertificate(id: $id) { missingIssuer } }';
    return (await account.graphql(query, { id })).body.data.tlsCertificate.missingIssuer;
  };
  expect(await missing(leaf)).toBe('CN=missing middle');
  expect(await missing(leaf, middle)).toBe('CN=missing root, O=Example');
  for (const complete of [[leaf, middle, root], [root], [ofPublicRoot]] as const)
    expect(await missing(...(complete as [Issued]))).toBeNull();
  await account.call('POST', '/certificate_authorities', { ca_pem: root.certificate_pem });
  expect(await missing(leaf, middle)).toBeNull();
  expect(await missing(leaf)).toBe('CN=missing middle');
});

const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};

test.each([
  ['RSA', 'rsa', rsa],
  ['ECDSA on P-384', 'ecdsa', { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-256' }],
  ['Ed25519', 'ed25519', { name: 'Ed25519', namedCurve: '', hash: '' }],
])('a key can be %s', async (_, type, algorithm) => {
  const { id, private_key_type } = await upload(sent(await issue({ algorithm })));
  expect(private_key_type).toBe(type);
  const row = await rowOf(id);
  const key = createPrivateKey(openPrivateKey(gateway.app.keys, row));
  expect(new X509Certificate(row.certificatePem).checkPrivateKey(key)).toBe(true);
});

test('a key can be as OpenSSL writes it: the parameters of its curve come first', async () => {
  const sec1 = createPrivateKey(pair.private_key_pem).export({ type: 'sec1', format: 'pem' });
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const { id } = await upload({ ...sent(pair), private_key_pem: parameters + sec1 });
  expect(openPrivateKey(gateway.app.keys, await rowOf(id))).toBe(pair.private_key_pem);
});

describe('the certificate of a reserved domain', () => {
  const automatic = { authority: 'letsencrypt', private_key_type: 'ecdsa' };
  let made = 0;
  const reserve = async (body: object = {}) => {
    const domain = `d${++made}.certificates.example.com`;
    const answer = await account.call('POST', '/reserved_domains', { domain, ...body });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.id as string;
  };
  const get = async (id: string) => {
    const {
      certificate,
      certificate_management_policy: policy,
      certificate_management_status: status,
    } = (await account.call('GET', `/reserved_domains/${id}`)).body;
    expect(status === null).toBe(policy === null);
    return { certificate: certificate?.id ?? null, policy };
  };
  const patch = (id: string, body: object) => account.call('PATCH', `/reserved_domains/${id}`, body);
  const drop = async (id: string, what: 'certificate' | 'certificate_management_policy') =>
    expect((await account.call('DELETE', `/reserved_domains/${id}/${what}`)).status).toBe(204);

  test('and its policy take turns, and both can be gone', async () => {
    const { id: certificate } = await upload(sent(pair));
    const id = await reserve({ certificate_id: certificate });
    expect(await get(id)).toEqual({ certificate, policy: null });
    await drop(id, 'certificate_management_policy');
    expect(await get(id)).toEqual({ certificate, policy: null });
    await drop(id, 'certificate');
    expect(await get(id)).toEqual({ certificate: null, policy: automatic });
    await drop(id, 'certificate');
    expect(await get(id)).toEqual({ certificate: null, policy: automatic });
    await drop(id, 'certificate_management_policy');
    expect(await get(id)).toEqual({ certificate: null, policy: null });
    await drop(id, 'certificate');
    expect((await patch(id, { certificate_id: '', description: 'x' })).status).toBe(200);
    expect(await get(id)).toEqual({ certificate: null, policy: null });
    await patch(id, { certificate_management_policy: { private_key_type: 'rsa' } });
    expect(await get(id)).toEqual({ certificate: null, policy: { ...automatic, private_key_type: 'rsa' } });
    await patch(id, { certificate_id: certificate });
    expect(await get(id)).toEqual({ certificate, policy: null });
    await patch(id, { metadata: 'x', certificate_id: null });
    expect(await get(id)).toEqual({ certificate, policy: null });
  });

  test('cannot be deleted while the domain names it', async () => {
    const { id: certificate } = await upload(sent(pair));
    const id = await reserve({ certificate_id: certificate });
    const remove = () => account.call('DELETE', `/tls_certificates/${certificate}`);
    expect(await remove()).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90022' } });
    await drop(id, 'certificate');
    expect((await remove()).status).toBe(204);
  });

  test('must not have expired when it is named', async () => {
    const { id: certificate } = await upload(sent(pair));
    const data = { notAfter: new Date('2025-01-01T00:00:00Z') };
    await gateway.app.prisma.tlsCertificate.update({ where: { id: certificate }, data });
    const refused = await patch(await reserve(), { certificate_id: certificate });
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90034' } });
    expect(refused.body.msg).toContain('certificate_id');
    expect(refused.body.msg).toContain('2025-01-01T00:00:00Z');
  });

  test('must be valid when it is named: what is shown until then stays', async () => {
    const [{ id: now }, { id: next }] = [await upload(sent(pair)), await upload(sent(pair))];
    const data = { notBefore: new Date(Date.now() + 86_400_000) };
    await gateway.app.prisma.tlsCertificate.update({ where: { id: next }, data });
    const id = await reserve({ certificate_id: now });
    const refused = await patch(id, { certificate_id: next });
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90094' } });
    expect(await get(id)).toEqual({ certificate: now, policy: null });
  });

  test('must cover the domain; the refusal says what it covers', async () => {
    const { id: certificate } = await upload(sent(pair));
    for (const domain of ['a.b.certificates.example.com', '*.b.certificates.example.com']) {
      const refused = await account.call('POST', '/reserved_domains', { domain, certificate_id: certificate });
      expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90046' } });
      expect(refused.body.msg).toContain('*.certificates.example.com, certificates.example.com');
      expect(refused.body.msg).toContain(domain);
    }
    const whole = { domain: 'certificates.example.com', certificate_id: certificate };
    const wildcard = { domain: '*.certificates.example.com', certificate_id: certificate };
    for (const body of [whole, wildcard])
      expect((await account.call('POST', '/reserved_domains', body)).status).toBe(201);
  });

  test('stays the gateway’s business below its own base domain', async () => {
    const { id: certificate } = await upload(sent(pair));
    const { id } = (await account.call('POST', '/reserved_domains', { domain: 'certified.tunnel.localhost' })).body;
    const refused = await patch(id, { certificate_id: certificate });
    expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_440' } });
    const managed = await patch(id, { certificate_management_policy: {} });
    expect(managed).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_439' } });
    await drop(id, 'certificate');
    await drop(id, 'certificate_management_policy');
    expect(await get(id)).toEqual({ certificate: null, policy: null });
  });
});
