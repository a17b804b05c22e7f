// The defects of the sample agent that ours follows, 1 to 8: what it gets wrong about single tunnels must work here.

import { expect, test } from 'vitest';
import { agentLab, isActive } from '../agent-lab.ts';
import { visit } from '../visitors.ts';

const lab = agentLab();
const { newEnvironment, directory, agent, agentProcess, to } = lab;
const policy = (name: string) => ({
  inbound: [],
  outbound: [{ name, actions: [{ type: 'add-headers', config: { headers: { x: name } } }] }],
});

test('1: a deleted tunnel carries no more traffic', async () => {
  const { ask } = await agent();
  const { body } = await ask('POST', '/tunnels', to());
  expect(await visit(lab.gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
  const part = new URL(body.url).hostname.split('.')[0];
  expect(await ask('DELETE', `/tunnels/${part}`)).toMatchObject({ status: 200, body: { detail: 'Tunnel deleted' } });
  expect((await visit(lab.gateway, body.url)).status).toBe(404);
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
    expect(await visit(lab.gateway, body.url)).toMatchObject({ status: 200, body: 'hello' });
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
  expect((await visit(lab.gateway, kept.url)).body).toBe('hello');
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
    forwards_to: lab.service.at,
    domain: null,
    policy: null,
  });
  const { status, body: list } = await ask('GET', '/tunnels');
  expect({ status, list }).toEqual({ status: 200, list: [{ ...body, policy: expect.any(String) }] });
});

test('6: a request without forwards_to is told so, as JSON', async () => {
  const { ask } = await agent();
  const answer = await ask('POST', '/tunnels', { protocol: 'http', domain: 'without-forwards.tunnel.localhost' });
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
