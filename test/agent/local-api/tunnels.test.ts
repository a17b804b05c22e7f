// Tunnels of the local API with a gateway: the documented members, and every protocol.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { agentLab } from '../agent-lab.ts';
import { startEcho, visit } from '../visitors.ts';

const lab = agentLab({ isProxied: true });
const { directory, agent, to, cleanups } = lab;

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
    const request = { protocol: 'http', forwards_to: lab.service.at, domain: 'documented.tunnel.localhost', policy };
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
    expect(await visit(lab.gateway, body.url)).toMatchObject({ status: 401 });
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
      const { body } = await first.ask('POST', '/tunnels', { forwards_to: lab.service.at, domain });
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
    expect(await visit(lab.gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
  });

  test('tcp, and a deleted tunnel ends connections that are open', async () => {
    const echo = await startEcho();
    cleanups.push(echo.close);
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
    const { body } = await ask('POST', '/tunnels', {
      protocol: 'tcp',
      forwards_to: lab.service.at,
      domain: `:${port}`,
    });
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
    cleanups.push(() => program.close());
    const { ask } = await agent();
    const forwards_to = `localhost:${(program.address() as AddressInfo).port}`;
    const { body } = await ask('POST', '/tunnels', { protocol: 'tls', forwards_to });
    const servername = new URL(body.url).hostname;
    const visitor = connectTls({ host: '127.0.0.1', port: Number(lab.gateway.https.split(':')[1]), servername });
    visitor.on('error', () => {});
    const hello = await first;
    expect(hello.subarray(0, 2)).toEqual(Buffer.from([22, 3]));
    expect(hello.includes(servername)).toBe(true);
  });
});

test('everything about a tunnel is at its own path', async () => {
  const { ask } = await agent();
  const { body } = await ask('POST', '/tunnels', to());
  await visit(lab.gateway, body.url);
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
