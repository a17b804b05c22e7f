// Certificates of the gateway's own names: what visitors below the base domain, agents and users of the API are shown.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway/gateway.ts';
import { freePort } from '../../src/net/free-port.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { freePorts, migrations, newPlace } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';
import { type CertificateLab, startCertificateLab } from './lab.ts';

/** Longer than a gateway takes until it would ask. */
const HELD_MS = 2500;

let lab: CertificateLab;
beforeAll(async () => {
  lab = await startCertificateLab({
    env: { ACME_OWN_NAMES: 'true', DNS_SERVE_BASE_DOMAIN: 'true', AGENT_HOSTS: 'gw.agents.test,127.0.0.1' },
    zone: { 'tunnel.test': ['127.0.0.1'], 'gw.agents.test': ['127.0.0.1'] },
  });
});
afterAll(() => lab?.stop());

/** Speaks TLS, trusting the authority alone. @returns the names in the certificate. */
async function shown(address: string, servername: string): Promise<string | undefined> {
  const port = Number(address.split(':').at(-1));
  const socket = connect({ host: '127.0.0.1', port, servername, ca: lab.authority.rootPem });
  await once(socket, 'secureConnect');
  const { subjectaltname } = socket.getPeerCertificate();
  socket.destroy();
  return subjectaltname?.split(', ').sort().join(', ');
}

test('the base domain has one certificate for all below it, and another host of agents one of its own', async () => {
  const query = '{ gatewayCertificates { names state message } }';
  await expect
    .poll(async () => (await lab.gateway.graphql(query)).body.data.gatewayCertificates, { timeout: 30_000 })
    .toEqual(
      expect.arrayContaining([
        { names: ['tunnel.test', '*.tunnel.test'], state: 'ISSUED', message: '' },
        { names: ['gw.agents.test'], state: 'ISSUED', message: '' },
      ]),
    );
  // The listeners follow a moment later.
  await expect
    .poll(() => shown(lab.gateway.https, 'any.tunnel.test').catch(() => undefined))
    .toBe('DNS:*.tunnel.test, DNS:tunnel.test');
  await expect(shown(lab.gateway.agent, 'gw.agents.test')).resolves.toBe('DNS:gw.agents.test');
  await expect(shown(lab.gateway.agent, 'tunnel.test')).resolves.toBe('DNS:*.tunnel.test, DNS:tunnel.test');
  expect(lab.authority.orders).toHaveLength(2);
  const { body } = await lab.gateway.graphql('{ gatewayInfo { agentAddress needsCa } }');
  expect(body.data.gatewayInfo).toMatchObject({
    agentAddress: expect.stringMatching(/^gw\.agents\.test:/),
    needsCa: false,
  });
});

test('certificates of the gateway are no account’s: only its admins see them, and no list has them', async () => {
  const stranger = await lab.gateway.newAccount({ role: 'MEMBER' });
  expect((await stranger.graphql('{ gatewayCertificates { names } }')).body.errors[0].extensions.code).toBe(
    'FORBIDDEN',
  );
  expect((await lab.gateway.call('GET', '/tls_certificates')).body.tls_certificates).toEqual([]);
});

test('the API shows one of the development authority, and the certificate of its host from the moment it is there', async () => {
  const place = await newPlace();
  const log = pino({ level: 'silent' });
  const httpPort = await freePort('127.0.0.1');
  const env = {
    ...{ ...lab.variables, ...freePorts, ...place.env, DNS_PORT: '', AGENT_HOSTS: '' },
    ...{ HTTP_PORT: String(httpPort), ACME_HTTP_PORT: String(httpPort) },
    ...{ ACME_API_TLS: 'true', PUBLIC_API_URL: 'https://api.agents.test' },
  };
  // Until its records are there, it shows what it can.
  const gateway = await startGateway(readConfig(env, root), { log, migrations, onFatal: () => {} });
  try {
    await expect(shown(gateway.addresses.api, 'api.agents.test')).rejects.toThrow();
    lab.authority.targets.httpPorts.splice(0, 1, httpPort);
    lab.dns.zone['api.agents.test'] = ['127.0.0.1'];
    await gateway.app.prisma.managedCertificate.updateMany({ data: { nextAt: new Date() } });
    await gateway.app.changes.publishHints([{ kind: 'domainCertificate', action: 'UPDATED', id: '', accountId: '' }]);
    await expect
      .poll(() => shown(gateway.addresses.api, 'api.agents.test').catch(() => undefined))
      .toBe('DNS:api.agents.test');
  } finally {
    await gateway.close();
    await place.remove();
  }
});

test('their records are looked up once the gateway’s own name server answers, and not before', async () => {
  const [httpPort, dnsPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const resolver = await startDnsServer({ 'tunnel.test': ['127.0.0.1'] });
  // A process that is being replaced has the port for a while.
  const before = createServer().listen(dnsPort, '127.0.0.1');
  await once(before, 'listening');
  const starting = startTestGateway({
    ...{ ...lab.variables, AGENT_HOSTS: '', ACME_DIRECTORY_URL: 'http://127.0.0.1:1' },
    ...{ HTTP_PORT: `${httpPort}`, DNS_PORT: `${dnsPort}`, DNS_SERVERS: resolver.address },
  });
  const isAsked = () => expect(resolver.questions).toContain('A tunnel.test');
  await expect(eventually(isAsked, { timeout: HELD_MS })).rejects.toThrow();
  before.close();
  const gateway = await starting;
  await eventually(isAsked).finally(() => gateway.close());
  await resolver.close();
});
