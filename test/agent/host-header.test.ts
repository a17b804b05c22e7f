// A development server that refuses names it does not know, behind `--host-header rewrite`.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { reserve } from '../support/agents/live.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { type AgentProcess, newDirectory, startProcess } from './agents.ts';
import { visit } from './visitors.ts';

const { path: directory, remove } = newDirectory();
let gateway: TestGateway;
let vite: ViteDevServer;
let at: string;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  writeFileSync(join(directory, 'ca.pem'), gateway.ca);
  writeFileSync(join(directory, 'index.html'), '<h1>hello of Vite</h1>');
  const server = { host: 'localhost', port: 20_000 + Math.floor(Math.random() * 10_000) };
  vite = await createServer({ root: directory, configFile: false, logLevel: 'silent', server });
  await vite.listen();
  at = new URL(vite.resolvedUrls?.local[0] ?? '').host;
});
afterAll(async () => {
  await vite?.close();
  remove();
});

async function start(...options: string[]): Promise<string> {
  const { body } = await gateway.call('POST', '/credentials', {});
  const environment = {
    TUNNEL_AUTHTOKEN: body.token,
    GATEWAY_ADDR: gateway.agent,
    GATEWAY_CA: join(directory, 'ca.pem'),
  };
  const agent: AgentProcess = await startProcess(directory, ['http', at, ...options], environment);
  onTestFinished(async () => void (await agent.kill('SIGKILL')));
  return /^forwarding (\S+) /.exec(await agent.stdout.find(/^forwarding /))?.[1] ?? '';
}

test('Vite refuses the name of an endpoint, and not its own: a page, and the socket of hot reload', async () => {
  // Names below `localhost` it knows.
  for (const name of ['foreign', 'known']) await reserve(gateway, `${name}.example.org`);
  expect((await visit(gateway, await start('--domain', 'foreign.example.org'))).status).toBe(403);
  const url = await start('--domain', 'known.example.org', '--host-header', 'rewrite');
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
