// The defects of the sample agent that ours follows, one test each: what it gets wrong must go right here.

import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startFaultProxy } from '../support/faults/fault-proxy.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { type LocalAgent, newDirectory, startService as startAgentProcess, startLocal } from './agents.ts';
import { type Service, startService, visit } from './visitors.ts';

let gateway: TestGateway;
let service: Service;
let caFile: string;
let environment: Record<string, string>;
const shared = newDirectory();
/** What a test leaves behind, the last first. */
const after: (() => unknown)[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  service = await startService('hello');
  caFile = join(shared.path, 'ca.pem');
  writeFileSync(caFile, gateway.ca);
  environment = await newEnvironment();
});
afterEach(async () => {
  for (const undo of after.splice(0).reverse()) await undo();
});
afterAll(async () => {
  await gateway.close();
  await service.close();
  shared.remove();
});

/** What an agent needs, with a credential of its own. */
async function newEnvironment(acl: string[] = []): Promise<Record<string, string>> {
  const { body } = await gateway.call('POST', '/credentials', { acl });
  return { TUNNEL_AUTHTOKEN: body.token, GATEWAY_ADDR: gateway.agent, GATEWAY_CA: caFile };
}

function directory(): string {
  const place = newDirectory();
  after.push(place.remove);
  return place.path;
}

/** In this process. */
async function agent(env: Record<string, string> = {}, path = directory()): Promise<LocalAgent> {
  const started = await startLocal(path, { ...environment, ...env });
  after.push(() => started.close());
  return started;
}

/** As a process, to be killed. */
async function agentProcess(path: string, env: Record<string, string> = {}) {
  const started = await startAgentProcess(path, { ...environment, ...env });
  after.push(() => started.kill('SIGKILL'));
  return started;
}

const to = (more: object = {}) => ({ protocol: 'http', forwards_to: service.at, ...more });
const isActive = (url: string) => new RegExp(`tunnel active.*${url.replaceAll('.', '\\.')}`);
const policy = (name: string) => ({
  inbound: [],
  outbound: [{ name, actions: [{ type: 'add-headers', config: { headers: { x: name } } }] }],
});

test('1: a deleted tunnel carries no more traffic', async () => {
  const { ask } = await agent();
  const { body } = await ask('POST', '/tunnels', to());
  expect(await visit(gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
  const part = new URL(body.url).hostname.split('.')[0];
  expect(await ask('DELETE', `/tunnels/${part}`)).toMatchObject({ status: 200, body: { detail: 'Tunnel deleted' } });
  expect((await visit(gateway, body.url)).status).toBe(404);
  expect((await ask('GET', '/tunnels')).body).toEqual([]);
  expect(await ask('DELETE', `/tunnels/${part}`)).toMatchObject({ status: 404, body: { detail: 'Tunnel not found' } });
});

test('2: after a crash a tunnel comes back with its URL and its policy, which stays what it was', async () => {
  const path = directory();
  let running = await agentProcess(path);
  const { body } = await running.ask('POST', '/tunnels', to({ policy: policy('kept') }));
  for (let restart = 0; restart < 2; restart++) {
    await running.kill('SIGKILL');
    running = await agentProcess(path);
    await running.stderr.find(isActive(body.url));
    const { body: list } = await running.ask('GET', '/tunnels');
    expect(list).toEqual([{ ...body, policy: expect.any(String) }]);
    expect(JSON.parse(list[0].policy)).toEqual(policy('kept'));
    expect(await visit(gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
  }
});

test('3: a tunnel that cannot come back keeps no other from it, nor the agent from starting', async () => {
  const path = directory();
  const first = await agent({}, path);
  const { body: taken } = await first.ask('POST', '/tunnels', to({ domain: 'taken.tunnel.localhost' }));
  const { body: kept } = await first.ask('POST', '/tunnels', to());
  await first.close();
  const other = await agent(await newEnvironment());
  await other.ask('POST', '/tunnels', to({ domain: taken.domain }));

  const second = await agent({}, path);
  await second.log.find(isActive(kept.url));
  await second.log.find(/refused.*ERR_GATEWAY_334/);
  expect((await visit(gateway, kept.url)).body).toBe('hello');
  expect((await second.ask('GET', `/tunnels/taken`)).body).toMatchObject({
    url: taken.url,
    status: 'refused',
    last_error: { code: 'ERR_GATEWAY_334', message: expect.any(String) },
  });
  expect((await second.ask('GET', '/tunnels')).body).toHaveLength(2);
});

test('4: a failure sets nothing up a second time: one session, whatever goes wrong', async () => {
  const { ask } = await agent();
  await ask('POST', '/tunnels', to());
  for (const body of [{}, to({ protocol: 'udp' }), to({ domain: 'not-ours.example.com' }), to({ policy: [] })])
    expect((await ask('POST', '/tunnels', body)).status).toBeGreaterThanOrEqual(400);
  expect((await ask('GET', '/status')).body.session).toMatchObject({ state: 'online', sessions: 1 });
  expect((await ask('GET', '/tunnels')).body).toHaveLength(1);
});

test('5: a tunnel without a domain is in the list like any other', async () => {
  const { ask } = await agent();
  const { body } = await ask('POST', '/tunnels', to({ domain: null, policy: null }));
  expect(body).toEqual({
    url: expect.stringMatching(/^http:/),
    protocol: 'http',
    forwards_to: service.at,
    domain: null,
    policy: null,
  });
  const { status, body: list } = await ask('GET', '/tunnels');
  expect({ status, list }).toEqual({ status: 200, list: [{ ...body, policy: expect.any(String) }] });
});

test('6: a request without forwards_to is told so, as JSON', async () => {
  const { ask } = await agent();
  const answer = await ask('POST', '/tunnels', { protocol: 'http', domain: 'a.tunnel.localhost' });
  expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('forwards_to') } });
});

test('7: a bad policy is told with its place, a refusal of the gateway with its code, and neither leaves a tunnel', async () => {
  const { ask } = await agent(await newEnvironment(['bind:allowed.tunnel.localhost']));
  const other = await agent();
  await other.ask('POST', '/tunnels', to({ domain: 'busy.tunnel.localhost' }));
  const allowed = to({ domain: 'allowed.tunnel.localhost' });
  const refused = async (body: object) => {
    const { status, body: answer } = await ask('POST', '/tunnels', body);
    return `${status} ${answer.detail}`;
  };
  expect(await refused({ ...allowed, policy: { inbound: [{ actions: [{ config: {} }] }] } })).toMatch(
    /^400 policy\.inbound\[0\]\.actions\[0\]\.type is missing/,
  );
  expect(await refused(to({ domain: 'denied.tunnel.localhost' }))).toMatch(/^403 .*\(ERR_GATEWAY_316\)$/);
  expect(await (await agent()).ask('POST', '/tunnels', to({ domain: 'busy.tunnel.localhost' }))).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/ERR_GATEWAY_334/) },
  });
  expect((await ask('GET', '/tunnels')).body).toEqual([]);
  expect((await ask('POST', '/tunnels', allowed)).status).toBe(200);
});

test('8: a part of a URL means the nearest tunnel, and where it means several none is deleted', async () => {
  const { ask } = await agent();
  const names = ['dev1', 'dev10', 'dev11'].map((name) => `${name}.match.tunnel.localhost`);
  for (const domain of names) await ask('POST', '/tunnels', to({ domain }));
  const left = async () =>
    (await ask('GET', '/tunnels')).body.map(({ domain }: { domain: string }) => domain.split('.')[0]);
  for (const part of ['dev', 'e', 'http', 'match.tunnel'])
    expect(await ask('DELETE', `/tunnels/${part}`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/dev1\..*dev10\..*dev11\./) },
    });
  expect(await left()).toEqual(['dev1', 'dev10', 'dev11']);
  expect((await ask('DELETE', '/tunnels/DEV1')).status).toBe(200);
  expect(await left()).toEqual(['dev10', 'dev11']);
  expect((await ask('DELETE', `/tunnels/${encodeURIComponent('dev10.match.tunnel.localhost')}`)).status).toBe(200);
  const { body: list } = await ask('GET', '/tunnels');
  expect((await ask('DELETE', `/tunnels/${encodeURIComponent(list[0].url)}`)).status).toBe(200);
  expect(await left()).toEqual([]);
});

test('9: one session carries the tunnels and the API of the agent', async () => {
  const account = await gateway.newAccount();
  const { body: credential } = await account.call('POST', '/credentials', {});
  const { ask, printed } = await agent({ TUNNEL_AUTHTOKEN: credential.token, AGENT_DOMAIN: 'nine.tunnel.localhost' });
  await Promise.all([1, 2, 3].map((n) => ask('POST', '/tunnels', to({ domain: `nine-${n}.tunnel.localhost` }))));
  await printed.find(/^forwarding https:\/\/nine\./);
  expect((await account.call('GET', '/tunnel_sessions')).body.tunnel_sessions).toHaveLength(1);
  expect((await account.call('GET', '/tunnels')).body.tunnels).toHaveLength(4);
});

test('10: requests that come together lose nothing, and the list answers all the while', async () => {
  const path = directory();
  const { ask } = await agent({}, path);
  const domains = Array.from({ length: 20 }, (_, n) => `many-${n}.tunnel.localhost`);
  const created = await Promise.all([
    ...domains.map((domain) => ask('POST', '/tunnels', to({ domain }))),
    ...domains.map(() => ask('GET', '/tunnels')),
    // The same ones again.
    ...domains.map((domain) => ask('POST', '/tunnels', to({ domain }))),
  ]);
  expect(created.map(({ status }) => status)).toEqual(created.map(() => 200));
  const kept = () =>
    JSON.parse(readFileSync(join(path, 'tunnels.json'), 'utf8')).tunnels.map(
      ({ domain }: { domain: string }) => domain,
    );
  expect(kept().sort()).toEqual([...domains].sort());
  await Promise.all(domains.slice(0, 10).map((domain) => ask('DELETE', `/tunnels/${domain}`)));
  expect((await ask('GET', '/tunnels')).body).toHaveLength(10);
  expect(kept().sort()).toEqual(domains.slice(10).sort());
});

test('11: whenever the agent is killed, what it has answered is on the disk, whole', async () => {
  const path = directory();
  const answered: string[] = [];
  for (let round = 0; round < 3; round++) {
    const running = await agentProcess(path);
    const requests = Array.from({ length: 12 }, async (_, n) => {
      const domain = `round-${round}-${n}.tunnel.localhost`;
      const answer = await running.ask('POST', '/tunnels', to({ domain })).catch(() => undefined);
      if (answer?.status === 200) answered.push(domain);
    });
    await requests[3 * round];
    await running.kill('SIGKILL');
    await Promise.all(requests);
  }
  const { ask } = await agentProcess(path);
  expect((await ask('GET', '/status')).body.state_file).toEqual({ damage: null });
  const { body } = await ask('GET', '/tunnels');
  expect(body.map(({ domain }: { domain: string }) => domain)).toEqual(expect.arrayContaining(answered));
  expect(answered.length).toBeGreaterThanOrEqual(3);
});

test('12: a name that is taken is a conflict, the same request once more is the same tunnel', async () => {
  const { ask } = await agent({ AGENT_DOMAIN: 'twelve.tunnel.localhost' });
  const body = to({ domain: 'one.tunnel.localhost', policy: policy('a') });
  const { body: created } = await ask('POST', '/tunnels', body);
  expect(await ask('POST', '/tunnels', body)).toMatchObject({ status: 200, body: created });
  for (const other of [
    { ...body, forwards_to: 'localhost:1' },
    { ...body, policy: null },
    { ...body, domain: 'ONE.tunnel.localhost' },
  ])
    expect(await ask('POST', '/tunnels', other)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(created.url) },
    });
  for (const protocol of ['http', 'https', 'tls'])
    expect(await ask('POST', '/tunnels', to({ protocol, domain: 'Twelve.tunnel.localhost' }))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("the agent's own API") },
    });
  // The HTTPS listener is another one.
  expect((await ask('POST', '/tunnels', { ...body, protocol: 'https' })).body.url).toMatch(/^https:\/\/one\./);
  expect((await ask('GET', '/tunnels')).body).toHaveLength(2);
});

test('13: a URL that the gateway chose stays over restarts, for every protocol', async () => {
  const path = directory();
  const first = await agent({}, path);
  const urls = await Promise.all(
    ['http', 'https', 'tcp', 'tls'].map(
      async (protocol) => (await first.ask('POST', '/tunnels', to({ protocol }))).body.url,
    ),
  );
  expect(urls.map((url) => url.split(':')[0])).toEqual(['http', 'https', 'tcp', 'tls']);
  await first.close();
  const second = await agent({}, path);
  await Promise.all(urls.map((url) => second.log.find(isActive(url))));
  const { body } = await second.ask('GET', '/tunnels');
  expect(body.map(({ url }: { url: string }) => url).sort()).toEqual([...urls].sort());
});

test('14: without a gateway at the start the API answers, nothing is lost, and tunnels come up by themselves', async () => {
  const [host = '', port] = gateway.agent.split(':');
  const proxy = await startFaultProxy(host, Number(port));
  after.push(() => proxy.close());
  const path = directory();
  const first = await agent({}, path);
  const { body } = await first.ask('POST', '/tunnels', to());
  await first.close();

  proxy.refuse();
  const second = await agent({ GATEWAY_ADDR: `127.0.0.1:${proxy.port}` }, path);
  await second.log.find(/connection to the gateway failed/);
  expect(await second.ask('GET', '/tunnels')).toMatchObject({ status: 200, body: [{ url: body.url }] });
  expect((await second.ask('GET', `/tunnels/${new URL(body.url).hostname}`)).body).toMatchObject({ status: 'pending' });
  expect((await second.ask('GET', '/readyz')).status).toBe(503);
  await proxy.heal();
  await second.log.find(isActive(body.url));
  expect((await second.ask('GET', '/readyz')).status).toBe(200);
  expect((await visit(gateway, body.url)).body).toBe('hello');
});

test('15: tunnels without a policy of their own follow the default, and never lose it to a bad file', async () => {
  const path = directory();
  const file = join(path, 'default.json');
  writeFileSync(file, JSON.stringify(policy('before')));
  const env = { AGENT_POLICY_FILE: file };
  const applied = async ({ ask }: LocalAgent) =>
    (await ask('GET', '/tunnels')).body.map(({ policy }: { policy: string }) => JSON.parse(policy).outbound[0].name);
  const first = await agent(env, path);
  await first.ask('POST', '/tunnels', to({ domain: 'default.tunnel.localhost' }));
  await first.ask('POST', '/tunnels', to({ domain: 'request.tunnel.localhost', policy: policy('own') }));
  expect(await applied(first)).toEqual(['before', 'own']);
  await first.close();

  writeFileSync(file, JSON.stringify(policy('after')));
  const second = await agent(env, path);
  expect(await applied(second)).toEqual(['after', 'own']);
  expect((await second.ask('GET', '/tunnels/default')).body).toMatchObject({ policy_source: 'default' });
  await second.close();

  writeFileSync(file, 'not json');
  const third = await agent(env, path);
  await third.ask('POST', '/tunnels', to({ domain: 'new.tunnel.localhost' }));
  expect(await applied(third)).toEqual(['after', 'own', 'after']);

  const none = await agent({ AGENT_POLICY_FILE: file });
  expect(await none.ask('POST', '/tunnels', to())).toMatchObject({
    status: 500,
    body: { detail: expect.stringContaining(file) },
  });
  expect((await none.ask('GET', '/tunnels')).body).toEqual([]);
});

test('16: who may ask, from where, and where tunnels lead is bounded', async () => {
  const lan = createServer().listen(0, '127.0.0.1');
  await once(lan, 'listening');
  after.push(() => lan.close());
  const token = 'a-token-of-the-tests';
  const { ask, api, log, printed } = await agent({ AGENT_DOMAIN: 'sixteen.tunnel.localhost', AGENT_API_TOKEN: token });
  expect(new URL(api).hostname).toBe('127.0.0.1');
  const authorization = { authorization: `Bearer ${token}` };
  expect((await ask('GET', '/tunnels')).status).toBe(401);
  expect((await ask('POST', '/tunnels', to({ forwards_to: '169.254.169.254:80' }), authorization)).status).toBe(403);
  expect((await ask('POST', '/tunnels', to({ forwards_to: '10.0.0.1:80' }), authorization)).status).toBe(403);

  const line = await printed.find(/^forwarding https:\/\/sixteen\./);
  const url = line.split(' ')[1] ?? '';
  expect((await visit(gateway, `${url}/tunnels`)).status).toBe(401);
  expect(await visit(gateway, `${url}/tunnels`, authorization)).toMatchObject({ status: 200, body: '[]' });
  expect(log.all.filter((text) => text.includes('AGENT_API_TOKEN'))).toEqual([]);
  // Through a tunnel to itself it is not known by its name.
  const own = await ask('POST', '/tunnels', to({ forwards_to: new URL(api).host }), authorization);
  expect((await visit(gateway, `${own.body.url}/healthz`)).status).toBe(403);

  // The API is published wherever tunnels may lead.
  const warned = await agent({ AGENT_DOMAIN: 'warned.tunnel.localhost', AGENT_FORWARDS_TO: '192.168.0.0/16' });
  await warned.log.find(/^warn .*set AGENT_API_TOKEN/);
  const published = (await warned.printed.find(/^forwarding /)).split(' ')[1];
  expect(await visit(gateway, `${published}/tunnels`)).toMatchObject({ status: 200, body: '[]' });
});

test('17: a place that cannot be reached shows: to the visitor, and in the state of the tunnel', async () => {
  const { ask } = await agent();
  const gone = await startService('gone');
  const { body } = await ask('POST', '/tunnels', to({ forwards_to: gone.at }));
  await gone.close();
  expect((await visit(gateway, body.url)).status).toBe(502);
  expect((await ask('GET', `/tunnels/${new URL(body.url).hostname}`)).body).toMatchObject({
    status: 'active',
    connections: 1,
    dial_failures: 1,
  });
  expect((await ask('GET', '/metrics')).text).toMatch(/^agent_tunnel_dial_failures_total\{.*\} 1$/m);
});

test('18: at SIGTERM the agent says good-bye, and its endpoints are gone when it is', async () => {
  const account = await gateway.newAccount();
  const { body: credential } = await account.call('POST', '/credentials', {});
  const running = await agentProcess(directory(), { TUNNEL_AUTHTOKEN: credential.token });
  const { body } = await running.ask('POST', '/tunnels', to());
  expect((await account.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
  const changes = await subscribe(gateway.api, account.key, 'subscription { tunnelSessionChanged { action } }');
  after.push(() => changes.close());
  expect(await running.kill('SIGTERM')).toBe(0);
  while ((await changes.next()).data.tunnelSessionChanged.action !== 'DELETED');
  expect((await account.call('GET', '/endpoints')).body.endpoints).toEqual([]);
  expect((await account.call('GET', '/tunnel_sessions')).body.tunnel_sessions).toEqual([]);
  expect((await visit(gateway, body.url)).status).toBe(404);
});

test('19: secrets stay in files of their owner, and out of logs and of what needs no secret', async () => {
  const path = directory();
  const running = await agentProcess(path, { LOG_LEVEL: 'trace' });
  const secret = policy('a-secret-of-a-policy');
  await running.ask('POST', '/tunnels', to({ policy: secret }));
  await running.ask('POST', '/tunnels', to());
  for (const name of ['tunnels.json', 'tunnels.json.bak']) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  const shown = await Promise.all(['/status', '/metrics', '/healthz', '/readyz'].map((at) => running.ask('GET', at)));
  await running.kill();
  const said = [...shown.map(({ text }) => text), ...running.stdout.all, ...running.stderr.all].join('\n');
  const { identity, tunnels } = JSON.parse(readFileSync(join(path, 'tunnels.json'), 'utf8'));
  expect(identity.cookie).not.toBe('');
  for (const hidden of [
    'a-secret-of-a-policy',
    environment.TUNNEL_AUTHTOKEN,
    identity.cookie,
    tunnels[0].resume.bindToken,
  ])
    expect(said).not.toContain(hidden);
  expect(readFileSync(join(path, 'tunnels.json'), 'utf8')).not.toContain(environment.TUNNEL_AUTHTOKEN);
});
