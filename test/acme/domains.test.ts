// Certificates of reserved domains, from the record in the DNS to the browser.

import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { endLeases } from '../../src/store/certificates/managed-certificates.ts';
import { newId } from '../../src/store/ids.ts';
import { noFaults } from '../support/acme/faults.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { hasWorkers } from '../support/gateway/place.ts';
import { isLong } from '../support/shortened.ts';
import { type CertificateLab, startCertificateLab } from './lab.ts';

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab();
});
afterAll(() => lab?.stop());

/** What workers have no part in, for the run that is about them: they answer challenges by HTTP and TLS, and serve the certificate. */
const isOfControl = hasWorkers && !isLong;

const nameOf = (label: string) => `${label}.example.com`;

describe('a domain', () => {
  test('waits for its record, says which, and gets a certificate once it is there', async () => {
    const domain = await lab.reserve(nameOf('app'));
    const waiting = await lab.reach(domain.id, 'WAITING_DNS');
    await expect.poll(async () => (await lab.provisioning(domain.id)).errorCode).toBe('ERR_GATEWAY_26015');
    const { message, records, nextAt } = await lab.provisioning(domain.id);
    expect(waiting.notAfter).toBeNull();
    expect(message).toContain('app.example.com has no such record yet');
    expect(records).toMatchObject([
      { name: 'app.example.com', type: 'CNAME', expected: domain.cname_target, state: 'MISSING' },
    ]);
    expect(Date.parse(nextAt ?? '')).toBeGreaterThan(Date.now());

    lab.point(domain);
    await retry(domain.id);
    const { renewsAt, notAfter, orders } = await lab.reach(domain.id, 'ISSUED');
    expect(orders).toEqual([{ outcome: 'ISSUED', errorCode: null, message: '' }]);
    expect(Date.parse(renewsAt ?? '')).toBeLessThan(Date.parse(notAfter ?? ''));
    const socket = await eventually(() => lab.visit('app.example.com'));
    expect(socket.authorized).toBe(true);
    socket.destroy();

    const { body } = await lab.gateway.call('GET', `/reserved_domains/${domain.id}`);
    expect(body).toMatchObject({
      certificate: { id: expect.stringMatching(/^cert_/) },
      certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
      // REST has times to the second.
      certificate_management_status: { renews_at: renewsAt?.replace(/\.\d+Z$/, 'Z'), provisioning_job: null },
    });
    const { body: certificate } = await lab.gateway.call('GET', `/tls_certificates/${body.certificate.id}`);
    expect(certificate).toMatchObject({
      issued_at: expect.any(String),
      subject_alternative_names: { dns_names: ['app.example.com'] },
    });
  });

  test.skipIf(isOfControl)('that is a wildcard gets one by its challenge record, at our own name server', async () => {
    const domain = await lab.reserve('*.wild.example.com', {
      certificate_management_policy: { private_key_type: 'rsa' },
    });
    lab.point(domain);
    await retry(domain.id);
    await lab.reach(domain.id, 'ISSUED');
    const socket = await eventually(() => lab.visit('any.wild.example.com'));
    expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:*.wild.example.com');
    socket.destroy();
  });

  test('without port 80 gets one over TLS, on the second try', async () => {
    const ports = lab.authority.targets.httpPorts.splice(0);
    const domain = await lab.reserve(nameOf('tls'));
    lab.point(domain);
    await retry(domain.id);
    const failed = await lab.reach(domain.id, 'FAILED_RETRYING');
    expect(failed).toMatchObject({
      errorCode: 'ERR_GATEWAY_26024',
      attempts: 1,
      message: expect.stringContaining('refused'),
    });
    // Another try is due in a minute: it is brought forward, as attempts go on from there.
    await lab.gateway.app.prisma.managedCertificate.updateMany({
      where: { domainId: domain.id },
      data: { nextAt: new Date() },
    });
    await wake();
    await lab.reach(domain.id, 'ISSUED');
    lab.authority.targets.httpPorts.push(...ports);
  });

  test.skipIf(isOfControl)('that is not led to is never ordered for', async () => {
    const domain = await lab.reserve(nameOf('never'));
    await expect.poll(async () => (await lab.provisioning(domain.id)).errorCode).toBe('ERR_GATEWAY_26015');
    await expect(lab.visit('never.example.com')).rejects.toThrow();
    expect(lab.authority.countOrders('never.example.com')).toBe(0);
  });
});

test('a further name of agents gets one, which agents are shown that trust the authority alone', async () => {
  const { call, graphql, agent: listener } = lab.gateway;
  const authtoken = (await call('POST', '/credentials', {})).body.token;
  const domain = nameOf('agents');
  const made = await call('POST', '/agent_ingresses', { domain });
  expect(made.body, made.text).toMatchObject({
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
    certificate_management_status: { renews_at: null, provisioning_job: { msg: expect.any(String) } },
  });
  const ofIngress = 'query ($id: ID!) { agentIngress(id: $id) { reservedDomain { id } } }';
  const { id } = (await graphql(ofIngress, { id: made.body.id })).body.data.agentIngress.reservedDomain;
  const connectAgent = async () => {
    const agent = await rawAgent({ agent: listener, ca: lab.authority.rootPem }, { servername: domain });
    return (await agent.auth(authtoken)).Error;
  };
  // As long as there is none, they are shown one of the development authority.
  await expect(connectAgent()).rejects.toThrow(/certificate/);

  lab.point((await call('GET', `/reserved_domains/${id}`)).body);
  await retry(id);
  const { renewsAt } = await lab.reach(id, 'ISSUED');
  expect(await eventually(connectAgent)).toBe('');
  expect((await call('GET', `/agent_ingresses/${made.body.id}`)).body).toMatchObject({
    certificate_management_status: { renews_at: renewsAt?.replace(/\.\d+Z$/, 'Z'), provisioning_job: null },
  });
  // Deleted, it leaves the domain its certificate, for visitors, and agents are shown none for it.
  expect((await call('DELETE', `/agent_ingresses/${made.body.id}`)).status).toBe(204);
  await expect(connectAgent()).rejects.toThrow(/certificate/);
  (await lab.visit(domain)).destroy();
});

// A process that is killed, at any step, is a matter of test/acme/crash.test.ts, in `npm run soak -- long`: this is what it leaves.
test.skipIf(isOfControl)(
  'what the authority has answered and nobody has stored, as by a crash, leaves its order to who goes on',
  async () => {
    const domain = await lab.reserve(nameOf('left-in-finalizing'));
    lab.point(domain);
    await lab.firstLook(domain.id);
    const states: string[] = [];
    lab.authority.faults.onRequest = (resource, moment) => {
      if (resource !== 'finalize' || moment !== 'answered' || states.length > 0) return undefined;
      // Another process takes the job, as after the end of the lease of one that died.
      const lost = { leaseNumber: { increment: 1 }, leaseUntil: null };
      return lab.gateway.app.prisma.managedCertificate
        .updateManyAndReturn({ where: { names: { has: domain.domain } }, data: lost })
        .then((rows) => states.push(...rows.map(({ state }) => state)));
    };
    onTestFinished(() => {
      lab.authority.faults.onRequest = undefined;
    });
    await retry(domain.id);
    expect(await lab.reach(domain.id, 'ISSUED')).toMatchObject({ attempts: 0 });
    expect(states).toEqual(['FINALIZING']);
    expect(lab.authority.countOrders(domain.domain)).toBe(1);
  },
);

describe.skipIf(isOfControl)('an authority', () => {
  afterEach(() => {
    Object.assign(lab.authority.faults, noFaults(), { retryAfter: '0' });
  });
  const begin = (label: string) => lab.begin(`app.${label}.com`);

  test('that wants nothing for three thousand years is waited for for six hours, unless an admin ends that', async () => {
    lab.authority.faults.refuse.newOrder = { status: 503, retryAfter: '99999999999' };
    const { id } = await begin('retry-after');
    const { blockedUntil } = await lab.reach(id, 'FAILED_RETRYING');
    expect(Date.parse(blockedUntil ?? '') - lab.now()).toBeLessThanOrEqual(6 * 3_600_000);
    lab.authority.faults.refuse = {};
    const { body } = await lab.gateway.graphql('mutation { endCertificateWaits { certificates } }');
    expect(body).toEqual({ data: { endCertificateWaits: { certificates: 1 } } });
    await lab.reach(id, 'ISSUED');
    const entry = await lab.gateway.app.prisma.auditEntry.findFirst({ where: { action: 'CERTIFICATE_WAITS_ENDED' } });
    expect(entry).not.toBeNull();
  });

  const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
  const inMs = (time: string | null) => Date.parse(time ?? '') - lab.now();

  test('that is away is asked again within half an hour each time, and no failure of the name is counted', async () => {
    lab.authority.faults.refuse.newOrder = { status: 502 };
    const { id } = await begin('away');
    let { nextAt } = await lab.reach(id, 'FAILED_RETRYING');
    // After the third failure of a name, the next try would be a day later.
    for (let tries = 0; tries < 3; tries++) {
      const before = nextAt;
      lab.advance(inMs(before) + 1);
      await expect.poll(async () => (await lab.reach(id, 'FAILED_RETRYING')).nextAt).not.toBe(before);
      const again = await lab.provisioning(id);
      expect(again).toMatchObject({ attempts: 0, errorCode: 'ERR_GATEWAY_26032' });
      ({ nextAt } = again);
      expect(inMs(nextAt)).toBeLessThan(31 * MINUTE_MS);
    }
    lab.authority.faults.refuse = {};
    lab.advance(31 * MINUTE_MS);
    await lab.reach(id, 'ISSUED');
  });

  test('that refuses while the clock is ahead ends no job by that, and is asked again once the clock is right', async () => {
    lab.authority.faults.refuse.newOrder = { status: 403, type: 'unauthorized', detail: 'no' };
    const { id } = await begin('ahead');
    await lab.reach(id, 'FAILED_RETRYING');
    lab.advance(40 * DAY_MS);
    await expect.poll(async () => (await lab.provisioning(id)).attempts).toBe(2);
    expect((await lab.provisioning(id)).state).toBe('FAILED_RETRYING');
    lab.authority.faults.refuse = {};
    lab.advance(-40 * DAY_MS);
    await lab.reach(id, 'ISSUED');
  });

  test('that has deactivated the account gets another one, and no domain fails', async () => {
    lab.authority.deactivateAccounts();
    const { id } = await begin('deactivated');
    expect(await lab.reach(id, 'ISSUED', 'FAILED_RETRYING', 'PAUSED')).toMatchObject({ state: 'ISSUED', attempts: 0 });
  });

  test('that sends a token which is none is told of', async () => {
    lab.authority.faults.token = '../etc/passwd';
    const { message } = await lab.reach((await begin('token')).id, 'FAILED_RETRYING');
    expect(message).toMatch(
      /^The certificate authority sent a challenge for app\.token\.com whose token is not base64url/,
    );
  });

  test('whose clock is another one is told of with what failed', async () => {
    lab.authority.faults.clockAhead = -3 * 3_600_000;
    lab.authority.faults.wrongCertificates = 'expired';
    const { message } = await lab.reach((await begin('clock')).id, 'FAILED_RETRYING');
    expect(message).toMatch(/The clock of this gateway is 180 minutes ahead of that of the certificate authority\.$/);
  });
});

// Where there are workers their nodes are alive, too.
test.skipIf(hasWorkers)('a job that a process left behind is gone on with at the next start', async () => {
  const { prisma } = lab.gateway.app;
  const { id } = await prisma.managedCertificate.create({
    data: { id: newId('mcert'), accountId: '', names: ['left.example.com'], privateKeyType: 'ecdsa', nextAt: null },
  });
  const leaseUntil = new Date(Date.now() + 120_000);
  await prisma.managedCertificate.update({ where: { id }, data: { leaseUntil } });
  const lease = () => prisma.managedCertificate.findUnique({ where: { id } });
  const { id: own } = await prisma.node.findFirstOrThrow();
  const other = await prisma.node.create({ data: { id: newId('node'), leaseUntil } });
  await endLeases(prisma, own); // The other may be working on it.
  expect(await lease()).toMatchObject({ leaseUntil, leaseNumber: 0 });
  await prisma.node.update({ where: { id: other.id }, data: { leaseUntil: new Date() } });
  await endLeases(prisma, own);
  expect(await lease()).toMatchObject({ leaseUntil: null, leaseNumber: 1 });
  await prisma.node.delete({ where: { id: other.id } });
});

async function retry(id: string): Promise<void> {
  const { body } = await lab.gateway.graphql(
    'mutation ($id: ID!) { retryCertificate(id: $id) { reservedDomain { id } } }',
    { id },
  );
  expect(body.errors).toBeUndefined();
}

/** Has the gateway look for what is due: another domain does. */
async function wake(): Promise<void> {
  await lab.reserve(nameOf(`wake-${Date.now()}`));
}
