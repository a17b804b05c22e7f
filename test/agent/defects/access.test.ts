// The defects of the sample agent that ours follows, 15 to 19: policies, access, failures and secrets.

import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { subscribe } from '../../support/gateway/sse.ts';
import { agentLab } from '../agent-lab.ts';
import type { LocalAgent } from '../agents.ts';
import { startService, visit } from '../visitors.ts';

const lab = agentLab();
const { directory, agent, agentProcess, to, cleanups } = lab;
const policy = (name: string) => ({
  inbound: [],
  outbound: [{ name, actions: [{ type: 'add-headers', config: { headers: { x: name } } }] }],
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
  cleanups.push(() => lan.close());
  const token = 'a-token-of-the-tests';
  const { ask, api, log, printed } = await agent({ AGENT_DOMAIN: 'sixteen.tunnel.localhost', AGENT_API_TOKEN: token });
  expect(new URL(api).hostname).toBe('127.0.0.1');
  const authorization = { authorization: `Bearer ${token}` };
  expect((await ask('GET', '/tunnels')).status).toBe(401);
  expect((await ask('POST', '/tunnels', to({ forwards_to: '169.254.169.254:80' }), authorization)).status).toBe(403);
  expect((await ask('POST', '/tunnels', to({ forwards_to: '10.0.0.1:80' }), authorization)).status).toBe(403);

  const line = await printed.find(/^forwarding https:\/\/sixteen\./);
  const url = line.split(' ')[1] ?? '';
  expect((await visit(lab.gateway, `${url}/tunnels`)).status).toBe(401);
  expect(await visit(lab.gateway, `${url}/tunnels`, authorization)).toMatchObject({ status: 200, body: '[]' });
  expect(log.all.filter((text) => text.includes('AGENT_API_TOKEN'))).toEqual([]);
  // Through a tunnel to itself it is not known by its name.
  const own = await ask('POST', '/tunnels', to({ forwards_to: new URL(api).host }), authorization);
  expect((await visit(lab.gateway, `${own.body.url}/healthz`)).status).toBe(403);

  // The API is published wherever tunnels may lead.
  const warned = await agent({
    AGENT_DOMAIN: 'warned.tunnel.localhost',
    AGENT_API_UNPROTECTED: 'true',
    AGENT_FORWARDS_TO: '192.168.0.0/16',
  });
  await warned.log.find(/^warn .*no AGENT_API_TOKEN/);
  const published = (await warned.printed.find(/^forwarding /)).split(' ')[1];
  expect(await visit(lab.gateway, `${published}/tunnels`)).toMatchObject({ status: 200, body: '[]' });
});

test('17: a place that cannot be reached shows: to the visitor, and in the state of the tunnel', async () => {
  const { ask } = await agent();
  const gone = await startService('gone');
  const { body } = await ask('POST', '/tunnels', to({ forwards_to: gone.at }));
  await gone.close();
  expect((await visit(lab.gateway, body.url)).status).toBe(502);
  expect((await ask('GET', `/tunnels/${new URL(body.url).hostname}`)).body).toMatchObject({
    status: 'active',
    connections: 1,
    dial_failures: 1,
  });
  expect((await ask('GET', '/metrics')).text).toMatch(/^agent_tunnel_dial_failures_total\{.*\} 1$/m);
});

test('18: at SIGTERM the agent says good-bye, and its endpoints are gone when it is', async () => {
  const account = await lab.gateway.newAccount();
  const { body: credential } = await account.call('POST', '/credentials', {});
  const running = await agentProcess(directory(), { TUNNEL_AUTHTOKEN: credential.token });
  const { body } = await running.ask('POST', '/tunnels', to());
  expect((await account.call('GET', '/endpoints')).body.endpoints).toHaveLength(1);
  const changes = await subscribe(lab.gateway.api, account.key, 'subscription { tunnelSessionChanged { action } }');
  cleanups.push(() => changes.close());
  expect(await running.kill('SIGTERM')).toBe(0);
  while ((await changes.next()).data.tunnelSessionChanged.action !== 'DELETED');
  expect((await account.call('GET', '/endpoints')).body.endpoints).toEqual([]);
  expect((await account.call('GET', '/tunnel_sessions')).body.tunnel_sessions).toEqual([]);
  expect((await visit(lab.gateway, body.url)).status).toBe(404);
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
    lab.environment.TUNNEL_AUTHTOKEN,
    identity.cookie,
    tunnels[0].resume.bindToken,
  ])
    expect(said).not.toContain(hidden);
  expect(readFileSync(join(path, 'tunnels.json'), 'utf8')).not.toContain(lab.environment.TUNNEL_AUTHTOKEN);
});
