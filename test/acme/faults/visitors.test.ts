// What a tenant does itself below /.well-known/acme-challenge/ and with acme-tls/1, beside an authority that the gateway expects.

import { once } from 'node:events';
import { createServer as createHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Gate, startGate } from '../../support/acme/gate.ts';
import { newLoopbackIdentity } from '../../support/acme/loopback-identity.ts';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, openSdkSession, type SdkSession } from '../../support/agents/sdk.ts';
import { eventually } from '../../support/eventually.ts';
import { visit } from '../../support/visit.ts';
import { type CertificateLab, type Domain, startCertificateLab } from '../lab.ts';

const PATH = '/.well-known/acme-challenge/';
/** As long as tokens are, and expected by nobody. */
const OWN = `${PATH}tenants-own-token-0123456789`;

let lab: CertificateLab;
let session: SdkSession;
let upstream: Server;
let closeSession: () => Promise<void>;
let asked: string[] = [];
beforeAll(async () => {
  lab = await startCertificateLab();
  ({ session, close: closeSession } = await openSdkSession(lab.gateway, (await newCredential(lab.gateway)).authtoken));
  upstream = createHttp((request, response) => {
    asked.push(request.url ?? '');
    response.end('of the tenant');
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(async () => {
  await closeSession?.();
  upstream?.close();
  await lab?.stop();
});

let count = 0;

async function done(method: string, path: string, body: object): Promise<{ id: string }> {
  const { status, body: made, text } = await lab.gateway.call(method, path, body);
  expect(status, text).toBeLessThan(300);
  return made;
}

/** The account takes care of the certificate itself from now on. */
async function withoutPolicy({ id }: Domain): Promise<void> {
  expect((await lab.gateway.call('DELETE', `/reserved_domains/${id}/certificate_management_policy`)).status).toBe(204);
}

/** An edge with a name that leads to the gateway, before the tenant's server. */
async function served(
  kind: 'https' | 'tls',
  upstreamUrl: string,
): Promise<{ domain: Domain; edge: string; route: string }> {
  const labels = { app: `visitors-${++count}` };
  const builder = session.labeledListener();
  for (const [key, value] of Object.entries(labels)) builder.label(key, value);
  await builder.listenAndForward(upstreamUrl);
  const domain = await lab.reserve(`app.visitors-${count}.com`);
  const backend = { backend_id: (await done('POST', '/backends/tunnel_group', { labels })).id };
  const hostports = [`${domain.domain}:443`];
  const edge = await done('POST', `/edges/${kind}`, { hostports, ...(kind === 'tls' && { backend }) });
  if (kind === 'tls') return { domain, edge: `/edges/tls/${edge.id}`, route: '' };
  const rule = { match_type: 'path_prefix', match: '/', backend };
  const route = await done('POST', `/edges/https/${edge.id}/routes`, rule);
  return { domain, edge: `/edges/https/${edge.id}`, route: `/edges/https/${edge.id}/routes/${route.id}` };
}

/** Holds the authority at a port of the gateway while it looks. */
async function hold(ports: number[]): Promise<Gate> {
  const gate = await startGate(ports[0] as number);
  const before = ports.splice(0, ports.length, gate.port);
  onTestFinished(() => {
    ports.splice(0, ports.length, ...before);
    gate.close();
  });
  return gate;
}

/** Has an authority on its way to a domain, and held. @returns what it asks for. */
async function expectAuthority(domain: Domain): Promise<{ path: string; gate: Gate }> {
  const gate = await hold(lab.authority.targets.httpPorts);
  lab.point(domain);
  const head = gate.next();
  await lab.retry(domain.id);
  const path = (await head).split(' ')[1] ?? '';
  expect(path).toMatch(/^\/\.well-known\/acme-challenge\/[\w-]+$/);
  return { path, gate };
}

const answerTo = (path: string) => ({
  status: 200,
  body: expect.stringMatching(new RegExp(`^${path.slice(PATH.length)}\\.[\\w-]{43}$`)),
});
const overHttp = ({ domain }: Domain, path: string) => visit(`http://${domain}${path}`, lab.gateway.http);
const upstreamUrl = () => `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;

describe('over HTTP', () => {
  test('an authority that is expected is answered before the redirect and restrictions; others are not', async () => {
    const { domain, route } = await served('https', upstreamUrl());
    const nobody = await done('POST', '/ip_policies', {});
    await done('POST', '/ip_policy_rules', { ip_policy_id: nobody.id, cidr: '192.0.2.0/24', action: 'allow' });
    await done('PUT', `${route}/ip_restriction`, { ip_policy_ids: [nobody.id] });
    const { path, gate } = await expectAuthority(domain);
    asked = [];
    expect(await overHttp(domain, path)).toMatchObject(answerTo(path));
    // Another token, another path, another name: nobody is expected, and the service does not answer for a name whose certificate the
    // gateway obtains.
    expect((await overHttp(domain, OWN)).status).toBe(404);
    expect((await overHttp(domain, `${path}/more`)).status).toBe(404);
    expect((await overHttp({ ...domain, domain: 'nobody.example.com' }, path)).status).toBe(404);
    expect(asked).toEqual([]);
    gate.open();
    await lab.reach(domain.id, 'ISSUED');
    expect((await overHttp(domain, path)).status, 'nobody is expected any more').toBe(404);
    expect((await overHttp(domain, '/')).status).toBe(307);
    // Listeners hear of the certificate a moment after the API tells that it is issued.
    const ca = lab.authority.rootPem;
    const https = await eventually(() => visit(`https://${domain.domain}/`, lab.gateway.https, { ca }));
    expect(https.status, 'the restriction is there for all others').toBe(403);
  });

  test('an authority that is expected is answered before policies that let nobody in', async () => {
    const domain = await lab.reserve(`denied.visitors-${++count}.com`);
    const policy = JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny', config: { status_code: 401 } }] }] });
    const listener = await httpName(session, domain.domain).trafficPolicy(policy).listenAndForward(upstreamUrl());
    const { path, gate } = await expectAuthority(domain);
    expect(await overHttp(domain, path)).toMatchObject(answerTo(path));
    expect([(await overHttp(domain, OWN)).status, (await overHttp(domain, '/')).status]).toEqual([404, 401]);
    gate.open();
    await lab.reach(domain.id, 'ISSUED');
    await listener.close();
  });

  test('a tenant answers its own challenges once the gateway obtains no certificate, served over HTTP or redirected', async () => {
    const { domain } = await served('https', upstreamUrl());
    asked = [];
    const overHttps = () => visit(`https://${domain.domain}${OWN}`, lab.gateway.https, { ca: lab.gateway.ca });
    expect([(await overHttp(domain, OWN)).status, (await overHttps()).status, asked]).toEqual([404, 404, []]);
    await withoutPolicy(domain);
    const { status, headers } = await overHttp(domain, OWN);
    expect(status).toBe(307);
    expect(headers.location).toMatch(new RegExp(`${OWN}$`));
    expect((await overHttps()).body).toBe('of the tenant');

    const plain = await lab.reserve(`plain.visitors-${count}.com`);
    await withoutPolicy(plain);
    const listener = await httpName(session, plain.domain).listenAndForward(upstreamUrl());
    expect((await overHttp(plain, OWN)).body).toBe('of the tenant');
    expect(asked).toEqual([OWN, OWN]);
    await listener.close();
  });
});

describe('over TLS', () => {
  test('a pass-through edge has its own acme-tls/1, but not while the gateway obtains its certificate', async () => {
    const identity = await newLoopbackIdentity();
    const tenant = createTls({ ...identity, ALPNProtocols: ['acme-tls/1'] }, (socket) => socket.end());
    tenant.listen(0, '127.0.0.1');
    await once(tenant, 'listening');
    onTestFinished(() => void tenant.close());
    const { domain } = await served('tls', `tcp://127.0.0.1:${(tenant.address() as AddressInfo).port}`);
    const issuerAt = async () => {
      const socket = await acmeHandshake(domain.domain);
      const shown = socket.getPeerX509Certificate()?.subjectAltName ?? '';
      socket.destroy();
      return shown;
    };
    await expect(issuerAt()).rejects.toThrow();

    const httpPorts = lab.authority.targets.httpPorts.splice(0);
    onTestFinished(() => void lab.authority.targets.httpPorts.push(...httpPorts));
    const gate = await hold(lab.authority.targets.tlsPorts);
    lab.point(domain);
    await lab.retry(domain.id);
    await lab.reach(domain.id, 'FAILED_RETRYING'); // Over HTTP, which is tried first.
    await expect(issuerAt()).rejects.toThrow();
    const hello = gate.next();
    lab.advance(2 * 60_000);
    await hello;
    expect(await issuerAt()).toBe(`DNS:${domain.domain}`);
    gate.open();
    await lab.reach(domain.id, 'ISSUED');
    await expect(issuerAt()).rejects.toThrow();
    await withoutPolicy(domain);
    expect(await issuerAt()).toContain('localhost');
  });

  test('nobody is expected any more once a person has begun anew', async () => {
    const { domain } = await served('https', upstreamUrl());
    const { path, gate } = await expectAuthority(domain);
    delete lab.dns.zone[domain.domain];
    const policy = { certificate_management_policy: { private_key_type: 'rsa' } };
    await done('PATCH', `/reserved_domains/${domain.id}`, policy);
    await lab.reach(domain.id, 'WAITING_DNS');
    expect((await overHttp(domain, path)).status).toBe(404);
    gate.open();
  });
});

async function acmeHandshake(servername: string): Promise<TLSSocket> {
  const [host, port] = lab.gateway.https.split(':');
  const options = { host, port: Number(port), servername, ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false };
  const socket = connect(options);
  await once(socket, 'secureConnect');
  return socket;
}
