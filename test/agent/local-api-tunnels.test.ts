// The local API with a gateway behind it: what is documented, for every protocol, and what happens when things go wrong.

import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../agent/src/run/start-agent.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type LocalAgent, newDirectory, startService as startAgentProcess, startLocal } from './agents.ts';
import { type Service, startEcho, startService, visit } from './visitors.ts';

let gateway: TestGateway;
let service: Service;
let proxy: FaultProxy;
let environment: Record<string, string>;
const shared = newDirectory();
/** What a test leaves behind, the last first. */
const after: (() => unknown)[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  service = await startService('hello');
  const [host = '', port] = gateway.agent.split(':');
  proxy = await startFaultProxy(host, Number(port));
  writeFileSync(join(shared.path, 'ca.pem'), gateway.ca);
  environment = await newEnvironment();
});
afterEach(async () => {
  for (const undo of after.splice(0).reverse()) await undo();
  await proxy.heal();
});
afterAll(async () => {
  await proxy.close();
  await gateway.close();
  await service.close();
  shared.remove();
});

async function newEnvironment(owner: Pick<TestGateway, 'call'> = gateway): Promise<Record<string, string>> {
  const { body } = await owner.call('POST', '/credentials', {});
  const GATEWAY_ADDR = `127.0.0.1:${proxy.port}`;
  return { TUNNEL_AUTHTOKEN: body.token, GATEWAY_ADDR, GATEWAY_CA: join(shared.path, 'ca.pem') };
}

function directory(): string {
  const place = newDirectory();
  after.push(place.remove);
  return place.path;
}

async function agent(
  env: Record<string, string> = {},
  path = directory(),
  options: AgentOptions = {},
): Promise<LocalAgent> {
  const started = await startLocal(path, { ...environment, ...env }, options);
  after.push(() => started.close());
  return started;
}

const to = (more: object = {}) => ({ protocol: 'http', forwards_to: service.at, ...more });
const isActive = (url: string) => new RegExp(`tunnel active.*${url.replaceAll('.', '\\.')}`);

describe('what is documented:', () => {
  const policy = {
    inbound: [],
    outbound: [
      {
        expressions: [],
        name: 'Add headers to requests',
        actions: [{ type: 'add-headers', config: { headers: { 'x-device': '0000000000' } } }],
      },
    ],
  };

  test('a tunnel is created, listed and deleted, with exactly the documented members', async () => {
    const { ask } = await agent();
    const request = { protocol: 'http', forwards_to: service.at, domain: 'documented.tunnel.localhost', policy };
    const created = await ask('POST', '/tunnels', request);
    expect(created).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(created.body).toEqual({ url: expect.stringMatching(/^http:\/\/documented\./), ...request });
    const { body: list } = await ask('GET', '/tunnels');
    expect(list).toEqual([{ ...created.body, policy: expect.any(String) }]);
    expect(JSON.parse(list[0].policy)).toEqual(policy);
    const deleted = await ask('DELETE', '/tunnels/documented');
    expect(deleted).toMatchObject({ status: 200, body: { detail: 'Tunnel deleted' } });
    expect(await ask('GET', '/tunnels')).toMatchObject({ status: 200, text: '[]' });
  });

  test.each([[{}], [{ policy: null }]])(
    'without a policy (%j) the answer has none, and the list shows the default',
    async (more) => {
      const { ask } = await agent();
      expect((await ask('POST', '/tunnels', to(more))).body.policy).toBeNull();
      const { body: list } = await ask('GET', '/tunnels');
      expect(JSON.parse(list[0].policy).outbound[0].actions[0].type).toBe('add-headers');
    },
  );

  test('a password in a policy is for visitors: no list shows it, and it is refused where it was masked', async () => {
    const { ask, log } = await agent();
    const config = { credentials: ['office:correct horse'], realm: 'a' };
    const request = to({ policy: { inbound: [{ actions: [{ type: 'basic-auth', config }] }] } });
    const { body } = await ask('POST', '/tunnels', request);
    const shown = (text: string) => JSON.parse(text).inbound[0].actions[0].config;
    const list = await ask('GET', '/tunnels');
    const masked = { ...config, credentials: ['office:<secret>'] };
    expect(shown(list.body[0].policy)).toEqual(masked);
    const one = await ask('GET', `/tunnels/${new URL(body.url).hostname}`);
    expect(shown(JSON.stringify(one.body.policy))).toEqual(masked);
    for (const { text } of [list, one]) expect(text).not.toContain('correct horse');
    expect(await visit(gateway, body.url)).toMatchObject({ status: 401 });
    expect((await ask('POST', '/tunnels', request)).body.url).toBe(body.url);
    const again = await ask('POST', '/tunnels', to({ policy: JSON.parse(list.body[0].policy) }));
    expect([again.status, again.body.detail]).toEqual([400, expect.stringContaining('90390')]);
    expect(await ask('POST', '/tunnels', '{"policy": "x", correct horse}')).toMatchObject({ status: 400 });
    expect(log.all.filter((line) => line.includes('correct horse'))).toEqual([]);
  });

  test('an empty policy is one, and nothing is added to it', async () => {
    const { ask } = await agent();
    expect((await ask('POST', '/tunnels', to({ policy: {} }))).body.policy).toEqual({});
    expect((await ask('GET', '/tunnels')).body[0].policy).toBe('{}');
  });

  test('the protocol is http where none is named, and tunnels keep the order in which they were made', async () => {
    const path = directory();
    const first = await agent({}, path);
    const order = ['z', 'a', 'm'].map((name) => `${name}.order.tunnel.localhost`);
    for (const domain of order) {
      const { body } = await first.ask('POST', '/tunnels', { forwards_to: service.at, domain });
      expect(body.protocol).toBe('http');
    }
    await first.close();
    const second = await agent({}, path);
    const { body: list } = await second.ask('GET', '/tunnels');
    expect(list.map(({ domain }: { domain: string }) => domain)).toEqual(order);
  });
});

describe('every protocol carries what it promises:', () => {
  test.each(['http', 'https'])('%s', async (protocol) => {
    const { ask } = await agent();
    const { body } = await ask('POST', '/tunnels', to({ protocol }));
    expect(body.url.startsWith(`${protocol}://`)).toBe(true);
    expect(await visit(gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
  });

  test('tcp, and a deleted tunnel ends connections that are open', async () => {
    const echo = await startEcho();
    after.push(echo.close);
    const { ask } = await agent();
    const { body } = await ask('POST', '/tunnels', { protocol: 'tcp', forwards_to: echo.at });
    const { port } = new URL(body.url);
    const visitor = connect(Number(port), '127.0.0.1');
    visitor.write('there and back');
    expect(String((await once(visitor, 'data'))[0])).toBe('there and back');
    const closed = new Promise((resolve) => visitor.on('error', () => {}).once('close', resolve));
    const left = echo.left();
    expect((await ask('DELETE', `/tunnels/${new URL(body.url).host}`)).status).toBe(200);
    await Promise.all([closed, left]);
    const late = connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => late.on('error', () => {}).once('close', resolve));
  });

  test('tcp at the port that is asked for', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    await once(free.close(), 'close');
    const { ask } = await agent();
    const { body } = await ask('POST', '/tunnels', { protocol: 'tcp', forwards_to: service.at, domain: `:${port}` });
    expect(body).toMatchObject({ url: `tcp://tunnel.localhost:${port}`, domain: `:${port}` });
  });

  test('tls: the program itself gets the handshake of the visitor', async () => {
    const program = createServer((socket) => {
      socket.once('data', (first) => {
        seen(first);
        socket.destroy();
      });
    }).listen(0, '127.0.0.1');
    let seen: (first: Buffer) => void = () => {};
    const first = new Promise<Buffer>((resolve) => {
      seen = resolve;
    });
    await once(program, 'listening');
    after.push(() => program.close());
    const { ask } = await agent();
    const forwards_to = `localhost:${(program.address() as AddressInfo).port}`;
    const { body } = await ask('POST', '/tunnels', { protocol: 'tls', forwards_to });
    const servername = new URL(body.url).hostname;
    const visitor = connectTls({ host: '127.0.0.1', port: Number(gateway.https.split(':')[1]), servername });
    visitor.on('error', () => {});
    const hello = await first;
    expect(hello.subarray(0, 2)).toEqual(Buffer.from([22, 3]));
    expect(hello.includes(servername)).toBe(true);
  });
});

describe('while the gateway cannot be reached', () => {
  test('a new tunnel is refused in time, and nothing of it is left', async () => {
    proxy.refuse();
    const started = await agent({}, directory(), { answerTimeout: 1000, timing: { retryMax: 50 } });
    await started.log.find(/connection to the gateway failed/);
    const answer = await started.ask('POST', '/tunnels', to({ domain: 'late.tunnel.localhost' }));
    expect(answer).toMatchObject({
      status: 503,
      body: { detail: expect.stringMatching(/cannot be reached .*ECONN.* not started/) },
    });
    expect((await started.ask('GET', '/tunnels')).body).toEqual([]);
    await proxy.heal();
    await started.log.find(/connected to the gateway/);
    const { body } = await started.ask('POST', '/tunnels', to({ domain: 'other.tunnel.localhost' }));
    expect((await visit(gateway, body.url.replace('other', 'late'))).status).toBe(404);
  });

  test('one that is silent is no other', async () => {
    const started = await agent({}, directory(), { answerTimeout: 300 });
    await started.log.find(/connected to the gateway/);
    proxy.shape({ outage: 'stall' });
    const { status, body } = await started.ask('POST', '/tunnels', to());
    expect({ status, body }).toEqual({
      status: 503,
      body: { detail: expect.stringMatching(/did not answer in time/) },
    });
  });

  test('a tunnel can be deleted, and is not there when the gateway is back', async () => {
    const started = await agent();
    const { body } = await started.ask('POST', '/tunnels', to());
    proxy.refuse();
    await proxy.cut();
    await started.log.find(/disconnected from the gateway/);
    expect((await started.ask('DELETE', `/tunnels/${new URL(body.url).hostname}`)).status).toBe(200);
    await proxy.heal();
    const { body: other } = await started.ask('POST', '/tunnels', to());
    expect((await visit(gateway, other.url)).status).toBe(200);
    expect((await visit(gateway, body.url)).status).not.toBe(200);
    expect((await started.ask('GET', '/tunnels')).body).toHaveLength(1);
  });

  test('who waits for a tunnel while the agent stops is told so', async () => {
    proxy.refuse();
    const started = await agent();
    await started.log.find(/connection to the gateway failed/);
    const answer = started.ask('POST', '/tunnels', to());
    // An answer to a later request says that the one before has begun.
    await started.ask('POST', '/tunnels', {});
    await started.close();
    expect(await answer).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/closed/) } });
  });

  test('a refused authtoken is told at once, with its code', async () => {
    const TUNNEL_AUTHTOKEN = `${'0'.repeat(27)}_${'0'.repeat(24)}`;
    const started = await agent({ TUNNEL_AUTHTOKEN });
    const answer = await started.ask('POST', '/tunnels', to());
    expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/ERR_GATEWAY_107/) } });
    expect((await started.ask('GET', '/status')).body.session).toMatchObject({
      state: 'refused',
      error: { code: 'ERR_GATEWAY_107' },
      retry_at: expect.any(String),
    });
  });
});

test('what is refused at a restart is asked for again until it is there', async () => {
  const path = directory();
  const first = await agent({}, path);
  const { body } = await first.ask('POST', '/tunnels', to({ domain: 'again.tunnel.localhost' }));
  await first.close();
  const other = await agent(await newEnvironment());
  await other.ask('POST', '/tunnels', to({ domain: body.domain }));
  const second = await agent({}, path, { timing: { refusedTunnel: 50, refusedTunnelMax: 100 } });
  await second.log.find(/tunnel refused.*ERR_GATEWAY_334/);
  expect((await second.ask('GET', '/readyz')).status).toBe(200);
  await other.ask('DELETE', '/tunnels/again');
  await second.log.find(isActive(body.url));
  expect((await second.ask('GET', '/tunnels/again')).body).toMatchObject({ status: 'active', last_error: null });
});

test('a tunnel that cannot be written down is not started', async () => {
  const path = directory();
  const { ask } = await agent({}, path);
  await ask('POST', '/tunnels', to({ domain: 'written.tunnel.localhost' }));
  const obstacle = join(path, 'tunnels.json.new/in-the-way');
  mkdirSync(obstacle, { recursive: true });
  const request = to({ domain: 'unwritten.tunnel.localhost' });
  expect(await ask('POST', '/tunnels', request)).toMatchObject({
    status: 500,
    body: { detail: expect.stringMatching(/^The state file cannot be written: .*not started/) },
  });
  expect((await ask('GET', '/tunnels')).body).toHaveLength(1);
  // Nor is one forgotten that is on the disk still.
  expect((await ask('DELETE', '/tunnels/written')).status).toBe(500);
  expect((await ask('GET', '/tunnels')).body).toHaveLength(1);
  rmSync(join(path, 'tunnels.json.new'), { recursive: true });
  expect((await ask('DELETE', '/tunnels/written')).status).toBe(200);
  expect((await ask('POST', '/tunnels', request)).status).toBe(200);
});

test('the tunnels of the sample agent are taken over, and a URL that changes is said', async () => {
  const path = directory();
  const entry = { protocol: 'http', forwards_to: service.at, domain: null, policy: JSON.stringify('{"inbound":[]}') };
  writeFileSync(join(path, 'tunnels.json'), JSON.stringify({ 'https://old.example.com': entry }));
  const { ask, log } = await agent({}, path);
  await log.find(/tunnel URL changed.*old\.example\.com/);
  const { body: list } = await ask('GET', '/tunnels');
  expect(list).toEqual([
    { ...entry, url: expect.stringMatching(/^http:\/\/.*tunnel\.localhost/), policy: '{"inbound":[]}' },
  ]);
  expect((await ask('GET', `/tunnels/${new URL(list[0].url).hostname}`)).body).toMatchObject({
    previous_url: 'https://old.example.com',
    policy_source: 'request',
  });
});

test('everything about a tunnel is at its own path', async () => {
  const { ask } = await agent();
  const { body } = await ask('POST', '/tunnels', to());
  await visit(gateway, body.url);
  const { status, body: all } = await ask('GET', `/tunnels/${encodeURIComponent(body.url)}`);
  expect({ status, all }).toMatchObject({
    status: 200,
    all: {
      id: expect.any(String),
      url: body.url,
      previous_url: null,
      tunnel_id: expect.stringMatching(/^tn_/),
      status: 'active',
      last_error: null,
      policy_source: 'default',
      connections: 1,
      dial_failures: 0,
    },
  });
  expect(Date.parse(all.created_at)).not.toBeNaN();
  expect(all.bytes_in).toBeGreaterThan(0);
  expect(all.bytes_out).toBeGreaterThan('hello'.length);
  const { text } = await ask('GET', '/metrics');
  expect(text).toContain(`agent_tunnel_up{url="${body.url}",protocol="http"} 1\n`);
  expect(text).toMatch(/^agent_heartbeat_seconds 0\.\d+$/m);
});

describe('from afar', () => {
  async function remote() {
    const account = await gateway.newAccount();
    const path = directory();
    const running = await startAgentProcess(path, await newEnvironment(account));
    after.push(() => running.kill('SIGKILL'));
    const { body } = await running.ask('POST', '/tunnels', to());
    const session = async () => (await account.call('GET', '/tunnel_sessions')).body.tunnel_sessions[0]?.id;
    const command = async (name: string) => account.call('POST', `/tunnel_sessions/${await session()}/${name}`);
    return { running, url: body.url, session, command };
  }

  test('an agent is stopped, and ends as one that was asked to on its machine', async () => {
    const { running, command } = await remote();
    expect((await command('stop')).status).toBe(204);
    expect(await running.exited).toBe(0);
  });

  test('an agent is started again, with the same URL, in the same process', async () => {
    const { running, url, session, command } = await remote();
    const before = await session();
    const [printed, logged] = [running.stdout.all.length, running.stderr.all.length];
    expect((await command('restart')).status).toBe(204);
    await running.stdout.find(/^ready api=/, printed);
    await running.stderr.find(isActive(url), logged);
    expect(await session()).not.toBe(before);
    expect((await visit(gateway, url)).body).toBe('hello');
  });

  test('an agent is not updated, and says why', async () => {
    const { command } = await remote();
    const { status, body } = await command('update');
    expect({ status, body }).toMatchObject({
      status: expect.toSatisfy((code: number) => code >= 400 && code < 500),
      body: { error_code: 'ERR_GATEWAY_806', msg: expect.stringContaining('does not replace its own program') },
    });
  });
});
