// Agent ingresses: agents connect by a domain of an account, and are shown its certificate.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { beforeAll, expect, test } from 'vitest';
import { issue } from '../contract/rows/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

/** A request of a client of the original. */
const call = (method: string, path: string, body?: object) => account.call(method, path, body, { dialect: 'extended' });

/** Connects as an agent that trusts this authority. @returns the fingerprint of what it is shown, or why it leaves. */
async function shownTo(servername: string, ca: string | Buffer = gateway.ca): Promise<string> {
  const [host, port] = gateway.agent.split(':');
  const socket: TLSSocket = connect({ host, port: Number(port), servername, ca });
  try {
    await once(socket, 'secureConnect');
    return new X509Certificate(socket.getPeerCertificate().raw).fingerprint256;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  } finally {
    socket.destroy();
  }
}
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const FINGERPRINT = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/;

test('agents connect by its domain, which is reserved along with it, until it is deleted', async () => {
  const domain = 'connect.ingress-live.example.com';
  expect(await shownTo(domain)).toBe(OTHER_NAME);
  const made = await call('POST', '/agent_ingresses', { domain: 'Connect.ingress-live.example.com', description: 'd' });
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({
    ...{ id: expect.stringMatching(/^agin_/), domain: 'Connect.ingress-live.example.com', description: 'd' },
    ...{ ns_targets: [], region_domains: ['Connect.ingress-live.example.com'], metadata: '' },
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
  });
  const { id } = made.body;
  expect(await shownTo(domain)).toMatch(FINGERPRINT);
  expect(await shownTo(domain.toUpperCase())).toMatch(FINGERPRINT);
  expect(await shownTo(`other.${domain}`)).toBe(OTHER_NAME);
  const { reserved_domains: reserved } = (await call('GET', '/reserved_domains')).body;
  const [row] = reserved.filter((one: { domain: string }) => one.domain.toLowerCase() === domain);
  expect(await call('DELETE', `/reserved_domains/${row.id}`)).toMatchObject({ status: 409 });
  const again = await call('POST', '/agent_ingresses', { domain });
  expect(again).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_90720$/) } });
  expect((await call('DELETE', `/agent_ingresses/${id}`)).status).toBe(204);
  expect(await shownTo(domain)).toBe(OTHER_NAME);
  expect((await call('POST', '/agent_ingresses', { domain })).status).toBe(201);
});

test('they are shown the certificate of the domain', async () => {
  const domain = 'uploaded.ingress-live.example.com';
  const { certificate_pem, private_key_pem } = await issue({ names: [domain] });
  const { id: certificate_id } = (await call('POST', '/tls_certificates', { certificate_pem, private_key_pem })).body;
  const { id } = (await call('POST', '/reserved_domains', { domain, certificate_id })).body;
  const made = await call('POST', '/agent_ingresses', { domain });
  expect(made.body, made.text).toMatchObject({ certificate_management_policy: null });
  const { fingerprint256 } = new X509Certificate(certificate_pem);
  expect(await shownTo(domain, certificate_pem)).toBe(fingerprint256);
  // A policy in its place: it is one of the development authority until another was obtained.
  const policy = { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' } };
  const changed = await call('PATCH', `/agent_ingresses/${made.body.id}`, policy);
  expect(changed.body, changed.text).toMatchObject(policy);
  expect((await call('GET', `/reserved_domains/${id}`)).body).toMatchObject({ ...policy, certificate: null });
  await eventually(async () => expect(await shownTo(domain)).toMatch(FINGERPRINT));
});

test('a domain of another account is none of its own', async () => {
  const other = await gateway.newAccount();
  const domain = 'theirs.ingress-live.example.org';
  expect((await other.call('POST', '/reserved_domains', { domain })).status).toBe(201);
  expect(await call('POST', '/agent_ingresses', { domain })).toMatchObject({
    status: 409,
    body: { error_code: expect.stringMatching(/_414$/) },
  });
  expect(
    (await call('GET', '/agent_ingresses')).body.ingresses.map((it: { domain: string }) => it.domain),
  ).not.toContain(domain);
});
