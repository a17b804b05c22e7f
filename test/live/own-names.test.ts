// The names at which the gateway itself answers are nobody's: not to be bound, not to be reserved, not on an edge, and below
// no wildcard.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, rawAgent } from '../support/agents/raw-agent.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

/** Errors: of the API, as agents are told, and the one for a name that cannot be served at all. */
const OF_THE_GATEWAY = 90370;
const REFUSED = 90371;
const NO_NAME = 326;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    PUBLIC_API_URL: 'https://API.tunnel.localhost:4000/',
    ALLOWED_HOSTS: 'localhost,127.0.0.1,[::1],console.tunnel.localhost,api.devices.com',
    AGENT_HOSTS: 'Agents.Tunnel.Localhost.,192.0.2.7',
  });
});
afterAll(() => gateway.close());

/** An agent that may do everything that any agent may. */
async function agent() {
  const connected = await rawAgent(gateway);
  await connected.auth(gateway.first?.authtoken ?? '');
  return connected;
}

const number = (body: { error_code: string }) => Number(/\d+$/.exec(body.error_code)?.[0]);
const bound = async (name: string, proto: string) => codeOf(await (await agent()).bind(name, { Proto: proto }));

describe.each(['http', 'https', 'tls'])('a tunnel of %s', (proto) => {
  test.each([
    'api.tunnel.localhost',
    'API.Tunnel.Localhost',
    'api.tunnel.localhost.',
    'api.tunnel.localhost:443',
    'console.tunnel.localhost',
    'agents.tunnel.localhost',
    'api.devices.com',
  ])('does not get %s', async (name) => {
    expect(await bound(name, proto)).toBe(REFUSED);
  });

  test.each(['localhost', '127.0.0.1', '[::1]', '192.0.2.7'])('does not get %s, which is no name', async (name) => {
    expect(await bound(name, proto)).toBe(NO_NAME);
  });

  test('gets every other name below the base domain', async () => {
    expect(await bound(`other-${proto}.tunnel.localhost`, proto)).toBeUndefined();
  });
});

test.each(['api.tunnel.localhost', 'API.tunnel.localhost', 'agents.tunnel.localhost', 'api.devices.com'])(
  '%s cannot be reserved',
  async (domain) => {
    const { status, body } = await gateway.call('POST', '/reserved_domains', { domain });
    expect([status, number(body)]).toEqual([400, OF_THE_GATEWAY]);
    expect(body.msg).toContain(domain.toLowerCase());
  },
);

test.each(['localhost', '127.0.0.1', '[::1]'])('%s, which is no name, cannot be reserved either', async (domain) => {
  expect((await gateway.call('POST', '/reserved_domains', { domain })).status).toBe(400);
});

test('a wildcard above such a name may be reserved and served, and does not lead to it, nor gives it to an edge', async () => {
  expect((await gateway.call('POST', '/reserved_domains', { domain: '*.devices.com' })).status).toBe(201);
  const refused = await gateway.call('POST', '/edges/https', { hostports: ['API.devices.com:443'] });
  expect([refused.status, number(refused.body)]).toEqual([400, OF_THE_GATEWAY]);
  const one = await agent();
  expect(codeOf(await one.bind('*.devices.com'))).toBeUndefined();
  const ask = (host: string) => visit(`http://${host}/`, gateway.http);
  expect((await ask('one.devices.com')).status).toBe(200);
  for (const host of ['api.devices.com', 'API.devices.com', 'api.devices.com.', 'api.devices.com:80'])
    expect((await ask(host)).status, host).toBe(404);
});

test('what was configured before the gateway had the name is not served', async () => {
  const { prisma } = gateway.app;
  const { body: domain } = await gateway.call('POST', '/reserved_domains', { domain: 'soon.devices.com' });
  const { body: edge } = await gateway.call('POST', '/edges/https', { hostports: ['soon.devices.com:443'] });
  const { body: backend } = await gateway.call('POST', '/backends/tunnel_group', { labels: { app: 'soon' } });
  const route = { match: '/', match_type: 'path_prefix', backend: { backend_id: backend.id } };
  const ask = (name: string) => visit(`https://${name}/`, gateway.https, { ca: gateway.ca });
  await gateway.call('POST', `/edges/https/${edge.id}/routes`, route);
  expect((await ask('soon.devices.com')).status).toBe(502);
  await prisma.reservedDomain.update({ where: { id: domain.id }, data: { domain: 'api.devices.com' } });
  await prisma.edgeHostport.updateMany({ where: { edgeId: edge.id }, data: { hostport: 'api.devices.com:443' } });
  expect((await gateway.call('PATCH', `/edges/https/${edge.id}`, { description: 'as before' })).status).toBe(200);
  await expect(ask('api.devices.com')).rejects.toThrow(/unrecognized name|alert/);
  expect((await gateway.call('GET', `/edges/https/${edge.id}`)).body.hostports).toEqual(['api.devices.com:443']);
});
