// What somebody changes while a certificate is being obtained: nothing is installed afterwards, and nothing crashes.

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Gate, startGate } from '../../support/acme/gate.ts';
import { newIssuer } from '../../support/issuer.ts';
import { type CertificateLab, type Domain, startCertificateLab } from '../lab.ts';

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());

let count = 0;

async function call(method: string, path: string, body?: object): Promise<{ id: string }> {
  const { status, body: answer, text } = await lab.gateway.call(method, path, body);
  expect(status, text).toBeLessThan(300);
  return answer;
}

/** Holds the authority while it validates. */
async function hold(): Promise<Gate> {
  const ports = lab.authority.targets.httpPorts;
  const gate = await startGate(ports[0] as number);
  const before = ports.splice(0, ports.length, gate.port);
  onTestFinished(() => {
    ports.splice(0, ports.length, ...before);
    gate.close();
  });
  return gate;
}

/** A domain whose certificate is processed by the authority: the next answer brings it. */
async function finalizing(): Promise<Domain> {
  lab.authority.faults.stuckOrders = true;
  const domain = await lab.begin(`app.changes-${++count}.com`);
  await expect.poll(() => lab.authority.orders.at(-1)?.certificate).toBeDefined();
  await lab.reach(domain.id, 'FINALIZING');
  return domain;
}

async function uploaded(name: string): Promise<string> {
  const { cert, key } = await (await newIssuer('CN=Uploaded')).issue({ dns: [name], purpose: 'server' });
  return (await call('POST', '/tls_certificates', { certificate_pem: cert, private_key_pem: key })).id;
}

const shown = async ({ id }: Domain) => (await lab.gateway.call('GET', `/reserved_domains/${id}`)).body;
const certificates = async () =>
  (await lab.gateway.app.prisma.tlsCertificate.findMany()).map(({ dnsNames }) => dnsNames.join());

/** Steps that were under way are over: another domain has gone through all of them. */
async function settled(): Promise<void> {
  lab.authority.faults.stuckOrders = false;
  lab.advance(1000);
  await lab.reach((await lab.begin(`app.other-${++count}.com`)).id, 'ISSUED');
}

const changes: { what: string; make(domain: Domain): Promise<unknown> }[] = [
  {
    what: 'its policy is deleted',
    make: ({ id }) => call('DELETE', `/reserved_domains/${id}/certificate_management_policy`),
  },
  {
    what: 'a certificate is uploaded for it',
    make: async ({ id, domain }) =>
      call('PATCH', `/reserved_domains/${id}`, { certificate_id: await uploaded(domain) }),
  },
  { what: 'it is given up', make: ({ id }) => call('DELETE', `/reserved_domains/${id}`) },
];

describe('a domain gets no certificate any more when', () => {
  test.each(changes)('$what while the authority issues', async ({ make }) => {
    const domain = await finalizing();
    await make(domain);
    const before = (await certificates()).filter((names) => names === domain.domain).length;
    await settled();
    expect((await certificates()).filter((names) => names === domain.domain)).toHaveLength(before);
    expect(lab.gateway.fatal).toEqual([]);
    expect(await lab.gateway.app.prisma.acmeChallenge.count()).toBe(0);
  });

  test.each(changes)('$what while the authority looks', async ({ make }) => {
    const gate = await hold();
    const looked = gate.next();
    const domain = await lab.begin(`app.changes-${++count}.com`);
    await looked;
    await make(domain);
    gate.open();
    await settled();
    expect(await lab.gateway.app.prisma.managedCertificate.count({ where: { domainId: domain.id } })).toBe(0);
    expect(await lab.gateway.app.prisma.acmeChallenge.count()).toBe(0);
  });
});

describe('a domain', () => {
  test('whose kind of key changes while the authority issues gets a certificate with the new one', async () => {
    const domain = await finalizing();
    await call('PATCH', `/reserved_domains/${domain.id}`, {
      certificate_management_policy: { private_key_type: 'rsa' },
    });
    lab.authority.faults.stuckOrders = false;
    await lab.reach(domain.id, 'ISSUED');
    const { certificate } = await shown(domain);
    const { body } = await lab.gateway.call('GET', `/tls_certificates/${certificate.id}`);
    expect(body.private_key_type).toBe('rsa');
    expect((await certificates()).filter((names) => names === domain.domain)).toHaveLength(1);
  });

  test('that was given up and reserved anew is a new domain', async () => {
    const old = await finalizing();
    await call('DELETE', `/reserved_domains/${old.id}`);
    const domain = await lab.begin(old.domain);
    lab.authority.faults.stuckOrders = false;
    await lab.reach(domain.id, 'ISSUED');
    expect(lab.authority.countOrders(domain.domain)).toBe(2);
  });

  test.each([
    { what: 'gets another one', end: async (wild: Domain) => changes[1]?.make(wild) },
    { what: 'is given up', end: async (wild: Domain) => changes[2]?.make(wild) },
  ])('that shows the certificate of a wildcard keeps it when the wildcard $what', async ({ end }) => {
    const zone = `shared-${++count}.com`;
    const wild = await lab.begin(`*.${zone}`);
    await lab.reach(wild.id, 'ISSUED');
    const { certificate } = await shown(wild);
    const below = await call('POST', '/reserved_domains', { domain: `a.${zone}`, certificate_id: certificate.id });
    await end(wild);
    expect((await shown(below as Domain)).certificate.id).toBe(certificate.id);
    await call('DELETE', `/reserved_domains/${below.id}`);
    await call('DELETE', `/tls_certificates/${certificate.id}`);
  });

  test('whose policy is deleted keeps its certificate, which nobody renews', async () => {
    const domain = await lab.begin(`app.kept-${++count}.com`);
    const { renewsAt } = await lab.reach(domain.id, 'ISSUED');
    await call('DELETE', `/reserved_domains/${domain.id}/certificate_management_policy`);
    lab.advance(Date.parse(renewsAt ?? '') - lab.now() + 86_400_000);
    await settled();
    expect((await shown(domain)).certificate).toMatchObject({ id: expect.any(String) });
    expect(lab.authority.countOrders(domain.domain)).toBe(1);
  });
});
