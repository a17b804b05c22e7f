// How tunnels end with visitors under way: none is cut within the grace, and none comes in any more.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { type AgentProcess, newDirectory, startService as startAgent, startProcess } from './agents.ts';
import { visit } from './visitors.ts';

/** Longer than a test may take. */
const LONG_MS = '600000';

let gateway: TestGateway;
let environment: Record<string, string>;
const { path: directory, remove } = newDirectory();
const running: AgentProcess[] = [];

/** Answers `/slow` when it is told to, and everything else at once. */
const slow: ServerResponse[] = [];
const service = createServer((request, response) => {
  if (request.url !== '/slow') return void response.end('quick');
  slow.push(response);
  service.emit('slow');
});
let at: string;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  await once(service.listen(0, '127.0.0.1'), 'listening');
  at = `127.0.0.1:${(service.address() as AddressInfo).port}`;
  const GATEWAY_CA = join(directory, 'ca.pem');
  writeFileSync(GATEWAY_CA, gateway.ca);
  environment = { GATEWAY_ADDR: gateway.agent, GATEWAY_CA };
});
beforeEach(async () => {
  const { body } = await gateway.call('POST', '/credentials', {});
  environment.TUNNEL_AUTHTOKEN = body.token;
});
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.kill('SIGKILL');
  slow.splice(0);
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
  remove();
});

/** An agent with a tunnel, and a request of a visitor that its service has, but has not answered. */
async function withRequestUnderWay(drainMs: string) {
  const agent = await startProcess(directory, ['http', at], { ...environment, AGENT_DRAIN_MS: drainMs });
  running.push(agent);
  const url = (await agent.stdout.find(/^forwarding /)).split(' ')[1] ?? '';
  const asked = once(service, 'slow');
  const answered = visit(gateway, `${url}/slow`);
  await asked;
  return { agent, url, answered };
}

const isOffline = (url: string) => eventually(async () => expect((await visit(gateway, url)).status).toBe(404));

test('an agent that is told to end unbinds, finishes the requests under way, and ends', async () => {
  const { agent, url, answered } = await withRequestUnderWay(LONG_MS);
  const ended = agent.kill('SIGTERM');
  await isOffline(url);
  slow[0]?.end('finished');
  expect(await answered).toMatchObject({ status: 200, body: 'finished' });
  expect(await ended).toBe(0);
});

test('an agent that is stopped through the API of the gateway does the same', async () => {
  const { agent, url, answered } = await withRequestUnderWay(LONG_MS);
  const { body } = await gateway.call('GET', '/tunnel_sessions');
  for (const { id } of body.tunnel_sessions) await gateway.call('POST', `/tunnel_sessions/${id}/stop`);
  await isOffline(url);
  slow[0]?.end('finished');
  expect(await answered).toMatchObject({ status: 200, body: 'finished' });
  expect(await agent.exited).toBe(0);
});

test('a request that takes longer than the grace is told that the tunnel is offline', async () => {
  const { agent, answered } = await withRequestUnderWay('300');
  expect(await agent.kill('SIGTERM')).toBe(0);
  expect(await answered).toMatchObject({
    status: 502,
    body: expect.stringMatching(/^ERR_GATEWAY_90100: .* is offline/),
  });
});

test('a tunnel that is deleted finishes the requests under way, while no other comes in', async () => {
  const env = { ...environment, AGENT_DRAIN_MS: LONG_MS, AGENT_STATE_FILE: join(directory, 'deleted.json') };
  const agent = await startAgent(directory, env);
  running.push(agent);
  const { body: tunnel } = await agent.ask('POST', '/tunnels', { protocol: 'http', forwards_to: at });
  const asked = once(service, 'slow');
  const answered = visit(gateway, `${tunnel.url}/slow`);
  await asked;
  const deleted = agent.ask('DELETE', `/tunnels/${new URL(tunnel.url).hostname}`);
  await isOffline(tunnel.url);
  slow[0]?.end('finished');
  expect(await answered).toMatchObject({ status: 200, body: 'finished' });
  expect((await deleted).status).toBe(200);
});
