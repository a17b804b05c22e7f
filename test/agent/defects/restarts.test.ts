// The defects of the sample agent that ours follows, 9 to 14: what it loses over restarts and crashes must stay here.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { agentLab, isActive } from '../agent-lab.ts';
import { visit } from '../visitors.ts';

const lab = agentLab();
const { directory, agent, agentProcess, to, cleanups } = lab;
const policy = (name: string) => ({
  inbound: [],
  outbound: [{ name, actions: [{ type: 'add-headers', config: { headers: { x: name } } }] }],
});

test('9: one session carries the tunnels and the API of the agent', async () => {
  const account = await lab.gateway.newAccount();
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
  expect((await ask('GET', '/status')).body.state_file).toEqual({ damage: null, failure: null });
  const { body } = await ask('GET', '/tunnels');
  expect(body.map(({ domain }: { domain: string }) => domain)).toEqual(expect.arrayContaining(answered));
  expect(answered.length).toBeGreaterThanOrEqual(3);
});

test('12: a name that is taken is a conflict, the same request once more is the same tunnel', async () => {
  const { ask } = await agent({ AGENT_DOMAIN: 'twelve.tunnel.localhost' });
  const body = to({ domain: 'one-of-twelve.tunnel.localhost', policy: policy('a') });
  const { body: created } = await ask('POST', '/tunnels', body);
  expect(await ask('POST', '/tunnels', body)).toMatchObject({ status: 200, body: created });
  for (const other of [
    { ...body, forwards_to: 'localhost:1' },
    { ...body, policy: null },
    { ...body, domain: 'ONE-OF-TWELVE.tunnel.localhost' },
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
  expect((await ask('POST', '/tunnels', { ...body, protocol: 'https' })).body.url).toMatch(
    /^https:\/\/one-of-twelve\./,
  );
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
  const [host = '', port] = lab.gateway.agent.split(':');
  const proxy = await startFaultProxy(host, Number(port));
  cleanups.push(() => proxy.close());
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
  expect((await visit(lab.gateway, body.url)).body).toBe('hello');
});
