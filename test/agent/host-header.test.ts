// Services that refuse names they do not know, behind `--host-header rewrite`: Vite itself, and what plays others as they are documented.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { reserve } from '../support/agents/live.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { visit as visitAt } from '../support/visit.ts';
import { type AgentProcess, newDirectory, startProcess } from './agents.ts';
import { type Frameworks, startFrameworks } from './frameworks.ts';
import { visit } from './visitors.ts';

const { path: directory, remove } = newDirectory();
let gateway: TestGateway;
let vite: ViteDevServer;
let at: string;
let frameworks: Frameworks;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  writeFileSync(join(directory, 'ca.pem'), gateway.ca);
  writeFileSync(join(directory, 'index.html'), '<h1>hello of Vite</h1>');
  const server = { host: 'localhost', port: 20_000 + Math.floor(Math.random() * 10_000) };
  vite = await createServer({ root: directory, configFile: false, logLevel: 'silent', server });
  await vite.listen();
  at = new URL(vite.resolvedUrls?.local[0] ?? '').host;
  frameworks = await startFrameworks();
});
afterAll(async () => {
  await vite?.close();
  frameworks?.close();
  remove();
});

async function start(to: string, ...options: string[]): Promise<{ url: string; agent: AgentProcess }> {
  const { body } = await gateway.call('POST', '/credentials', {});
  const environment = {
    TUNNEL_AUTHTOKEN: body.token,
    GATEWAY_ADDR: gateway.agent,
    GATEWAY_CA: join(directory, 'ca.pem'),
  };
  const agent: AgentProcess = await startProcess(directory, ['http', to, ...options], environment);
  onTestFinished(async () => void (await agent.kill('SIGKILL')));
  const [, url = ''] = /^forwarding (\S+) /.exec(await agent.stdout.find(/^forwarding /)) ?? [];
  return { url, agent };
}

test('Vite refuses the name of an endpoint, and not its own: a page, and the socket of hot reload', async () => {
  // Names below `localhost` it knows.
  for (const name of ['foreign', 'known']) await reserve(gateway, `${name}.example.org`);
  const foreign = await start(at, '--domain', 'foreign.example.org');
  expect((await visit(gateway, foreign.url)).status).toBe(403);
  await foreign.agent.stderr.find(/the service refuses the name of the endpoint.*"Vite".*--host-header rewrite/);
  const { url } = await start(at, '--domain', 'known.example.org', '--host-header', 'rewrite');
  expect(await visit(gateway, url)).toMatchObject({ status: 200, body: expect.stringContaining('hello of Vite') });
  const { host } = new URL(url);
  const token = vite.config.webSocketToken;
  const socket = new WebSocket(`ws://${gateway.http}/?token=${token}`, 'vite-hmr', {
    headers: { host },
    origin: `http://${host}`,
  });
  onTestFinished(() => socket.terminate());
  const [greeting] = await once(socket, 'message');
  expect(JSON.parse(String(greeting))).toMatchObject({ type: 'connected' });
  vite.ws.send({ type: 'full-reload' });
  const [reload] = await once(socket, 'message');
  expect(JSON.parse(String(reload))).toMatchObject({ type: 'full-reload' });
});

test('a webpack dev server, a Django application and a WebDAV server find the names that they know', async () => {
  const { url } = await start(frameworks.at, '--host-header', 'rewrite');
  const { host } = new URL(url);
  const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
    visitAt(`${url}${path}`, gateway.http, { method, headers });

  expect(await ask('/webpack')).toMatchObject({ status: 200, body: 'the bundle' });
  const socket = new WebSocket(`ws://${gateway.http}/ws`, { headers: { host }, origin: url });
  onTestFinished(() => socket.terminate());
  const [greeting] = await once(socket, 'message');
  expect(JSON.parse(String(greeting))).toEqual({ type: 'hot' });
  frameworks.rebuild();
  const [rebuilt] = await once(socket, 'message');
  expect(JSON.parse(String(rebuilt))).toEqual({ type: 'invalid' });

  const login = await ask('/django/private');
  expect(login).toMatchObject({ status: 302, headers: { location: `${url}/django/login/?next=/django/private` } });
  expect(await ask('/django/login/', 'POST', { origin: url })).toMatchObject({ status: 200, body: 'signed in' });
  expect((await ask('/django/login/', 'POST', { origin: 'https://elsewhere.example' })).status).toBe(403);

  const destination = `${url}/dav/b.txt`;
  expect(await ask('/dav/a.txt', 'MOVE', { destination })).toMatchObject({
    status: 201,
    headers: { location: destination },
  });
  expect([(await ask('/dav/a.txt')).status, (await ask('/dav/b.txt')).body]).toEqual([404, 'a file']);
  expect((await ask('/dav/b.txt', 'MOVE', { destination: 'http://elsewhere.example/c.txt' })).status).toBe(502);
});
