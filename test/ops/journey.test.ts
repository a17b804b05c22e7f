// The whole journey, through the processes that a user runs.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type AgentProcess, startAgent } from '../support/agents/agent.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { visit } from '../support/visit.ts';

/** In which an agent is back on any machine; milliseconds. */
const BACK_MS = 15_000;
const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

test('from an empty directory to a visitor’s answer, over the death of agent and gateway, to the end', async () => {
  let gateway: GatewayProcess = await startProcess({ SESSION_HOLD_MS: '5000' });
  undo.push(async () => {
    await gateway.kill();
    await gateway.place.remove();
  });
  const service = createServer((request, response) => {
    response.end(`${request.method} ${request.url} for ${request.headers['x-forwarded-host']}`);
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  undo.push(async () => service.close());
  const { port } = service.address() as AddressInfo;

  const bot = await gateway.call('POST', '/bot_users', { name: 'devices' });
  expect(bot.status).toBe(201);
  const { body: credential } = await gateway.call('POST', '/credentials', {
    owner_id: bot.body.id,
    acl: ['bind:*.tunnel.localhost'],
  });

  let agent: AgentProcess = await startAgent({
    authtoken: credential.token,
    gateway: gateway.agent,
    caFile: join(gateway.place.dataDir, 'ca.pem'),
  });
  undo.push(() => agent.remove());
  const local = async (method: string, path: string, body?: object) => {
    const [, api] = await agent.printed(/^ready api=(\S+)/);
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
    const answer = await fetch(`${api}${path}`, { method, headers, body: body && JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await local('GET', '/tunnels')).toEqual({ status: 200, body: [] });
  const made = await local('POST', '/tunnels', { protocol: 'http', forwards_to: `127.0.0.1:${port}`, domain: null });
  expect(made).toMatchObject({ status: 200, body: { protocol: 'http', policy: null } });
  const { url } = made.body;
  const answers = async () => (await visit(`${url}/there?x=1`, gateway.http)).body;
  expect(await answers()).toBe(`GET /there?x=1 for ${new URL(url).host}`);
  expect(
    await local('POST', '/tunnels', { forwards_to: `127.0.0.1:${port}`, domain: 'denied.example.com' }),
  ).toMatchObject({
    status: 403,
  });

  const query =
    '{ endpoints { nodes { publicUrl type proto tunnel { id } } } tunnels { nodes { publicUrl forwardsTo tunnelSession { id } } } ' +
    'tunnelSessions { nodes { id credential { id } } } }';
  const live = async () => (await gateway.call('POST', '/graphql', { query })).body.data;
  const before = await live();
  expect(before).toMatchObject({
    endpoints: { nodes: [{ publicUrl: url, type: 'EPHEMERAL', proto: 'HTTP' }] },
    tunnels: { nodes: [{ publicUrl: url, forwardsTo: `127.0.0.1:${port}` }] },
    tunnelSessions: { nodes: [{ credential: { id: credential.id } }] },
  });

  await agent.kill('SIGKILL');
  agent = await agent.restart();
  await eventually(async () => expect(await answers()).toContain('GET /there'));
  expect(await local('GET', '/tunnels')).toMatchObject({ status: 200, body: [{ url }] });
  expect((await live()).endpoints).toEqual(before.endpoints);

  await gateway.kill('SIGKILL');
  gateway = await gateway.restart({ AGENT_PORT: portOf(gateway.agent), HTTP_PORT: portOf(gateway.http) });
  const open = performance.now();
  await eventually(async () => expect(await answers()).toContain('GET /there'));
  expect(performance.now() - open).toBeLessThan(BACK_MS);
  expect((await live()).endpoints).toEqual(before.endpoints);

  const label = new URL(url).hostname.split('.')[0];
  expect(await local('DELETE', `/tunnels/${label}`)).toEqual({ status: 200, body: { detail: 'Tunnel deleted' } });
  await eventually(async () => expect((await visit(url, gateway.http)).status).toBe(404));
  expect(await live()).toMatchObject({ endpoints: { nodes: [] }, tunnels: { nodes: [] } });
  expect(await local('GET', '/tunnels')).toEqual({ status: 200, body: [] });

  expect((await gateway.call('DELETE', `/credentials/${credential.id}`)).status).toBe(204);
  await eventually(async () => expect((await live()).tunnelSessions.nodes).toEqual([]));
}, 60_000);

const portOf = (address: string) => address.slice(address.lastIndexOf(':') + 1);

/** Tries until it holds: each try is a round trip of its own. */
async function eventually(expectation: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + 15_000;
  for (;;) {
    try {
      await expectation();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
