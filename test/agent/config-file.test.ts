// Named endpoints of a configuration file: `start --all`, `start NAME`.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfigFile } from '../../agent/src/tunnels/config-file.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { agentLab } from './agent-lab.ts';
import { type AgentProcess, askAt, newDirectory, runToEnd, startProcess } from './agents.ts';
import { replyTo, visit } from './visitors.ts';

const lab = agentLab();
const files = newDirectory();
afterAll(files.remove);

function write(text: string, path = files.path): string {
  const file = join(path, 'agent.yaml');
  writeFileSync(file, text);
  return file;
}

/** An upstream that keeps the first bytes that it gets. */
const heard: Buffer[] = [];
const listener = createServer((socket) => {
  socket.once('data', (chunk) => {
    heard.push(chunk);
    socket.end('bye');
  });
  // An agent that is killed at the end of a test resets its connections.
  socket.on('error', () => {});
});
beforeAll(() => once(listener.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => void listener.close());
const listenerPort = () => (listener.address() as AddressInfo).port;

async function start(args: string[], env: Record<string, string>, path = lab.directory()): Promise<AgentProcess> {
  const agent = await startProcess(path, ['start', ...args], env);
  lab.cleanups.push(() => agent.kill('SIGKILL'));
  return agent;
}

/** The URL that an agent prints for an endpoint. */
async function urlOf(agent: AgentProcess, name: string, from = 0): Promise<string> {
  return /forwarding (\S+)/.exec(await agent.stdout.find(new RegExp(`^${name}: forwarding `), from))?.[1] ?? '';
}

const HEADER = /^PROXY TCP4 127\.0\.0\.1 \S+ \d+ \d+\r\n/;

test('all endpoints are served as the file says, through its proxy, with the same URLs after a restart', async () => {
  const proxy = await startForwardProxy();
  lab.cleanups.push(() => proxy.close());
  const { TUNNEL_AUTHTOKEN = '', GATEWAY_ADDR = '' } = lab.environment;
  const path = lab.directory();
  writeFileSync(join(path, 'ca.pem'), lab.gateway.ca);
  const config = write(
    `version: 3
agent:
  authtoken: ${TUNNEL_AUTHTOKEN}
  connect_url: ${GATEWAY_ADDR}
  connect_cas: ca.pem
  proxy_url: http://127.0.0.1:${proxy.ports.http}
endpoints:
  - name: shop
    description: The shop, for people
    url: https://shop.tunnel.localhost
    metadata: '{"floor": 2}'
    upstream: { url: "http://${lab.service.at}", timeout: 5m, host_header: rewrite }
  - name: closed
    traffic_policy:
      on_http_request:
        - actions: [{ type: deny, config: { status_code: 418 } }]
    upstream: { url: "${lab.service.at}", protocol: http2 }
  - name: ssh
    url: tcp://
    upstream: { url: ${listenerPort()}, proxy_protocol: 1 }
`,
    path,
  );
  const started = () => start(['--all', '--config', config], { GATEWAY_ADDR: '' }, path);
  const agent = await started();
  const [shop, closed, ssh] = await Promise.all(['shop', 'closed', 'ssh'].map((name) => urlOf(agent, name)));
  expect(shop).toMatch(/^https:\/\/shop\.tunnel\.localhost/);
  expect(await visit(lab.gateway, shop as string)).toMatchObject({ status: 200, body: 'hello' });
  expect((await visit(lab.gateway, closed as string)).status).toBe(418);
  expect(await replyTo(Number(new URL(ssh as string).port), 'hello')).toBe('bye');
  expect(String(Buffer.concat(heard))).toMatch(HEADER);
  expect(proxy.asked).toEqual([GATEWAY_ADDR]);
  const { body } = await lab.gateway.call('GET', '/tunnels');
  expect(body.tunnels.map(({ metadata }: { metadata: string }) => metadata)).toContain('{"floor": 2}');
  const { endpoints } = (await lab.gateway.call('GET', '/endpoints', undefined, { dialect: 'extended' })).body;
  expect(endpoints).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ url: shop, name: 'shop', upstream_protocol: 'http1' }),
      expect.objectContaining({ url: closed, name: 'closed', upstream_protocol: 'http2' }),
      expect.objectContaining({ url: ssh, name: 'ssh', upstream_protocol: '' }),
    ]),
  );

  const [api = ''] = /http:\S+/.exec(await agent.stdout.find(/^ready /)) ?? [];
  const status = (await askAt(api)('GET', '/status')).body;
  expect(status).toMatchObject({ ready: true, tunnels: [] });
  expect(status.endpoints.map(({ name, url }: { name: string; url: string }) => [name, url])).toEqual([
    ['shop', shop],
    ['closed', closed],
    ['ssh', ssh],
  ]);
  expect(await agent.kill('SIGTERM')).toBe(0);
  const again = await started();
  expect(await Promise.all(['closed', 'ssh'].map((name) => urlOf(again, name)))).toEqual([closed, ssh]);
});

test('only the endpoints that are named are started, and a name that is not there ends the command', async () => {
  const config = write(`
endpoints:
  - { name: one, upstream: { url: "${lab.service.at}" } }
  - { name: two, upstream: { url: "file://${files.path}", directory_listing: true } }
`);
  const agent = await start(['two'], { ...lab.environment, AGENT_CONFIG: config });
  const page = await visit(lab.gateway, await urlOf(agent, 'two'));
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining('agent.yaml') });
  expect(agent.stdout.all.some((line) => line.startsWith('one'))).toBe(false);

  const run = (args: string[], env = {}) =>
    runToEnd(lab.directory(), ['start', ...args], { ...lab.environment, ...env });
  expect(await run(['three', '--config', config])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/There is no endpoint "three" in the configuration file; there are: one, two\.$/),
  });
  expect((await run(['--all'])).stderr).toMatch(/There are no endpoints in the configuration file\.$/);
});

test('--proxy-protocol 2 sends the binary header', async () => {
  heard.length = 0;
  const args = ['tcp', `127.0.0.1:${listenerPort()}`, '--proxy-protocol', '2'];
  const agent = await startProcess(lab.directory(), args, lab.environment);
  lab.cleanups.push(() => agent.kill('SIGKILL'));
  const [, port = ''] = /tcp:\/\/[^:]+:(\d+)/.exec(await agent.stdout.find(/^forwarding /)) ?? [];
  await replyTo(Number(port), 'hello');
  const bytes = Buffer.concat(heard);
  expect(bytes.subarray(0, 13).toString('hex')).toBe('0d0a0d0a000d0a515549540a21');
  expect(bytes.subarray(16 + bytes.readUInt16BE(14)).toString()).toMatch(/^(hello)?$/);
});

describe('a mistake is told with its line:', () => {
  const UPSTREAM = 'upstream: { url: 80 }';
  test.each<[string, RegExp]>([
    ['endpoint: []', /line 1: endpoint is not known; known are: version, agent, endpoints$/],
    ['\nagent:\n  authtokn: x', /line 3: agent\.authtokn is not known/],
    ['version: 2', /line 1: version must be 3$/],
    ['- a', /line 1: the file must be a mapping/],
    ['endpoints: 7', /line 1: endpoints must be a list$/],
    ['endpoints:\n- 7', /line 2: endpoints\[0\] must be a mapping$/],
    [`endpoints:\n- ${UPSTREAM}`, /line 2: endpoints\[0\] must have a name$/],
    ['endpoints:\n- name: a', /line 2: endpoints\[0\] must have an upstream/],
    ['endpoints:\n- name: a\n  upstream: {}', /line 3: endpoints\[0\]\.upstream must have a url/],
    [
      `endpoints:\n- name: a\n  ${UPSTREAM}\n- name: a\n  ${UPSTREAM}`,
      /line 4: endpoints\[1\]\.name is "a", as the name/,
    ],
    [`endpoints:\n- name: a b\n  ${UPSTREAM}`, /line 2: endpoints\[0\]\.name must be 1 to 64 letters/],
    [
      `endpoints:\n- name: a\n  url: ftp://x\n  ${UPSTREAM}`,
      /line 3: endpoints\[0\]\.url must be a URL with one of http/,
    ],
    [`endpoints:\n- name: a\n  url: https://x:1\n  ${UPSTREAM}`, /line 3: endpoints\[0\]\.url must be a full name/],
    [`endpoints:\n- name: a\n  metadata: [1]\n  ${UPSTREAM}`, /line 3: endpoints\[0\]\.metadata must be a text$/],
    [
      `endpoints:\n- name: a\n  pooling_enabled: 1\n  ${UPSTREAM}`,
      /line 3: endpoints\[0\]\.pooling_enabled must be true or false/,
    ],
    [
      `endpoints:\n- name: a\n  traffic_policy: {on_monday: []}\n  ${UPSTREAM}`,
      /line 3: endpoints\[0\]\.traffic_policy .*on_monday/,
    ],
    [
      'endpoints:\n- name: a\n  upstream: { url: 80, protocol: spdy }',
      /upstream\.protocol must be one of http1, http2$/,
    ],
    [
      'endpoints:\n- name: a\n  upstream: { url: 80, proxy_protocol: 3 }',
      /upstream\.proxy_protocol must be one of 1, 2$/,
    ],
    ['endpoints:\n- name: a\n  upstream: { url: 80, timeout: 1d }', /upstream\.timeout must be a time from 1s to 1h/],
    [
      'endpoints:\n- name: a\n  url: tcp://\n  upstream: { url: 80, timeout: 1s }',
      /upstream\.timeout is only for http and https/,
    ],
    [
      'endpoints:\n- name: a\n  upstream: { url: "https://x", proxy_protocol: 1 }',
      /proxy_protocol is only for a server without TLS/,
    ],
    [
      'endpoints:\n- name: a\n  url: tcp://\n  upstream: { url: "file:///srv" }',
      /upstream\.url is a directory: that is only for http/,
    ],
    ['endpoints:\n- name: a\n  upstream: { url: "file:srv" }', /upstream\.url must be the absolute path/],
    ['endpoints: [', /line 1: /],
    ['version: 3\nversion: 3', /line 2: Map keys must be unique/],
  ])('%j', async (text, message) => {
    await expect(readConfigFile(write(text))).rejects.toThrow(message);
  });

  test('all of them at once; a file that is not there is named', async () => {
    await expect(readConfigFile(write('a: 1\nb: 2'))).rejects.toThrow(/line 1: a .*\n.*line 2: b /);
    await expect(readConfigFile('/no/such.yaml')).rejects.toThrow(/^\/no\/such\.yaml must be a file .*ENOENT/);
  });
});
