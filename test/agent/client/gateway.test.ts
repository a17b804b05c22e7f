// The client on a real gateway, through a network that fails.

import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SessionIdentity } from '../../../agent/src/gateway-client.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import { listen } from './peer.ts';
import { newClient, type TestClient } from './support.ts';

let gateway: TestGateway;
let proxy: FaultProxy;
let server: Server;
let forwardsTo: string;
let agents: TestClient[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({ HEARTBEAT_INTERVAL_MS: '100', HEARTBEAT_TOLERANCE_MS: '1000' });
  server = createServer((request, response) => {
    const hash = createHash('sha256');
    request.on('data', (chunk) => hash.update(chunk));
    request.on('end', () => {
      if (request.url === '/never') return;
      if (request.url === '/self') response.setHeader('location', `http://${request.headers.host}/there`);
      response.setHeader('x-sha256', hash.digest('hex'));
      response.end(request.url?.startsWith('/big') ? big : `you asked for ${request.url}`);
    });
  });
  forwardsTo = `127.0.0.1:${await listen(server)}`;
});
beforeEach(async () => {
  const [host = '', port] = gateway.agent.split(':');
  proxy = await startFaultProxy(host, Number(port));
});
afterEach(async () => {
  await Promise.all(agents.map(({ client }) => client.close()));
  agents = [];
  await proxy.close();
});
afterAll(async () => {
  server.close();
  await gateway.close();
});

const big = randomBytes(2 * 2 ** 20);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function connect(options: Parameters<typeof newClient>[1] = {}): TestClient {
  const place = { host: '127.0.0.1', port: proxy.port, ca: gateway.ca };
  const authtoken = gateway.first?.authtoken ?? '';
  const agent = newClient(place, { authtoken, ...options }, { heartbeatInterval: 100, heartbeatTolerance: 1000 });
  agents.push(agent);
  return agent;
}

async function credential(acl: string[] = []): Promise<{ id: string; token: string }> {
  const { status, body } = await gateway.call('POST', '/credentials', { acl });
  expect(status).toBe(201);
  return body as never;
}

test('a visitor of the URL is answered by what the tunnel forwards to', async () => {
  const tunnel = connect().open({ forwardsTo, metadata: 'on the shelf' });
  const url = await tunnel.answered;
  expect(await visit(`${url}/hello`, gateway.http)).toMatchObject({ status: 200, body: 'you asked for /hello' });
  const { body } = await gateway.call('GET', '/endpoints');
  expect(body.endpoints).toMatchObject([{ public_url: url, proto: 'http' }]);
  await tunnel.close();
  expect((await visit(url, gateway.http)).status).toBe(404);
  expect((await gateway.call('GET', '/endpoints')).body.endpoints).toEqual([]);
});

test('an upstream has as long to answer as the agent says', async () => {
  const url = await connect().open({ forwardsTo, upstreamTimeout: 1 }).answered;
  expect((await visit(`${url}/soon`, gateway.http)).status).toBe(200);
  const { status, body } = await visit(`${url}/never`, gateway.http);
  expect([status, body]).toEqual([504, expect.stringContaining('The limit is 1 s, set by its agent.')]);
  await expect(connect().open({ forwardsTo, upstreamTimeout: 3601 }).answered).rejects.toThrow(/1 to 3600 seconds/);
});

test('an upstream is asked by the name that the agent says, and leads back to the endpoint', async () => {
  const url = await connect().open({ forwardsTo, hostHeader: 'http://localhost:3000' }).answered;
  const { headers } = await visit(`${url}/self`, gateway.http);
  expect(headers.location).toBe(`${url}/there`);
  await expect(connect().open({ forwardsTo, hostHeader: 'a b' }).answered).rejects.toThrow(
    /HostHeader must be "rewrite", a host/,
  );
});

test('megabytes pass both ways, unchanged', async () => {
  const tunnel = connect().open({ forwardsTo });
  const url = await tunnel.answered;
  const answer = await visit(url, gateway.http, { method: 'POST', body: big, path: '/' });
  expect(answer.headers['x-sha256']).toBe(sha256(big));
  const { headers } = await visit(url, gateway.http, { path: '/big' });
  expect(headers['content-length']).toBe(String(big.length));
  expect(tunnel.counters.bytesOut).toBeGreaterThan(big.length);
  expect(tunnel.counters.bytesIn).toBeGreaterThan(big.length);
});

test.each(['cut', 'reset'] as const)('after a %s the same URLs answer again', async (fault) => {
  const agent = connect();
  const tunnels = (['http', 'https', 'tcp', 'tls'] as const).map((protocol) => agent.open({ protocol, forwardsTo }));
  const urls = await Promise.all(tunnels.map(({ answered }) => answered));
  await proxy[fault]();
  await agent.until(() => tunnels.every(({ state }) => state === 'pending'));
  await agent.until(() => tunnels.every(({ state }) => state === 'active'));
  expect(tunnels.map(({ url }) => url)).toEqual(urls);
  expect((await visit(`${urls[0]}/again`, gateway.http)).body).toBe('you asked for /again');
});

test('after a black hole the agent takes over from its own ghost, at once', async () => {
  const agent = connect();
  const tunnel = agent.open({ forwardsTo });
  const url = await tunnel.answered;
  for (const connection of proxy.connections) connection.shape({ outage: 'black hole' });
  await agent.until(() => tunnel.state === 'pending');
  await agent.until(() => tunnel.state === 'active');
  expect(tunnel.url).toBe(url);
  expect(agent.logs.filter(({ text }) => text === 'tunnel refused')).toEqual([]);
  expect((await visit(url, gateway.http)).status).toBe(200);
});

test('an agent that crashed has its URLs back while its ghost still lives', async () => {
  let identity: SessionIdentity | null = null;
  const first = connect({
    onIdentity: (it) => {
      identity = it;
    },
  });
  const before = first.open({ forwardsTo });
  const url = await before.answered;
  proxy.shape({ outage: 'stall' }); // Its good-bye does not arrive.
  await first.client.close();
  const [host = '', port] = gateway.agent.split(':');
  const place = { host, port: Number(port), ca: gateway.ca };
  const second = newClient(place, { authtoken: gateway.first?.authtoken ?? '', identity });
  agents.push(second);
  const after = second.open({ forwardsTo, resume: before.resumption });
  expect(await after.answered).toBe(url);
  expect(second.identities).toEqual([]);
});

test.each([
  ['no token at all', 'ERR_GATEWAY_105'],
  ['cr_2gfq0000000000000000000000_0000000000000000000000', 'ERR_GATEWAY_10'],
])('the authtoken "%s" is refused with its code', async (authtoken, code) => {
  const agent = connect({ authtoken });
  await agent.until(() => agent.client.status.state === 'refused');
  expect(agent.client.status.error?.code).toContain(code);
});

test('names that are not ours are refused with their codes, and served as soon as they may be', async () => {
  const agent = connect();
  await expect(agent.open({ domain: 'app.example.com' }).answered).rejects.toMatchObject({ code: 'ERR_GATEWAY_319' });
  const other = connect();
  const holder = other.open({ domain: 'mine.tunnel.localhost', forwardsTo });
  await holder.answered;
  const second = agent.open({ domain: 'mine.tunnel.localhost', forwardsTo });
  await expect(second.answered).rejects.toMatchObject({ code: 'ERR_GATEWAY_334' });
  await holder.close();
  await agent.until(() => second.state === 'active');
});

test('a name that the ACL no longer allows is stopped, with the reason', async () => {
  const { id, token } = await credential(['bind:one.tunnel.localhost', 'bind:two.tunnel.localhost']);
  const agent = connect({ authtoken: token });
  const [one, two] = ['one', 'two'].map((name) => agent.open({ domain: `${name}.tunnel.localhost`, forwardsTo }));
  await Promise.all([one?.answered, two?.answered]);
  await gateway.call('PATCH', `/credentials/${id}`, { acl: ['bind:two.tunnel.localhost'] });
  await agent.until(() => one?.state === 'refused');
  expect(one?.error?.code).toBe('ERR_GATEWAY_316');
  expect(two?.state).toBe('active');
  await gateway.call('PATCH', `/credentials/${id}`, { acl: [] });
  await agent.until(() => one?.state === 'active');
});

test('a credential that is deleted ends the session, and the agent says why', async () => {
  const { id, token } = await credential();
  const agent = connect({ authtoken: token });
  await agent.open({ forwardsTo }).answered;
  await gateway.call('DELETE', `/credentials/${id}`);
  await agent.until(() => agent.client.status.state === 'refused');
  expect(agent.client.status.error?.code).toBe('ERR_GATEWAY_107');
});

test('commands of the API reach the agent', async () => {
  const told: string[] = [];
  const say = (what: string) => {
    told.push(what);
    return null;
  };
  const commands = { stop: () => say('stop'), restart: () => 'not now', update: (to: string) => say(to) };
  const agent = connect({ commands });
  await agent.until(() => agent.client.status.state === 'online');
  const { body } = await gateway.call('GET', '/tunnel_sessions');
  const [{ id }] = body.tunnel_sessions;
  expect((await gateway.call('POST', `/tunnel_sessions/${id}/stop`)).status).toBe(204);
  expect((await gateway.call('POST', `/tunnel_sessions/${id}/update`)).status).toBe(204);
  expect((await gateway.call('POST', `/tunnel_sessions/${id}/restart`)).status).toBeGreaterThanOrEqual(400);
  expect(told).toEqual(['stop', '']);
});
