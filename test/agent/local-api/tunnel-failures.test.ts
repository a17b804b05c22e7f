// Tunnels of the local API when the gateway, the disk or the configuration fails, and remote commands.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { agentLab, isActive } from '../agent-lab.ts';
import { startService as startAgentProcess } from '../agents.ts';
import { visit } from '../visitors.ts';

const lab = agentLab({ isProxied: true });
const { newEnvironment, directory, agent, to, cleanups } = lab;

describe('while the gateway cannot be reached', () => {
  test('a new tunnel is refused in time, and nothing of it is left', async () => {
    lab.proxy.refuse();
    const started = await agent({}, directory(), { answerTimeout: 1000, timing: { retryMax: 50 } });
    await started.log.find(/connection to the gateway failed/);
    const answer = await started.ask('POST', '/tunnels', to({ domain: 'late.tunnel.localhost' }));
    expect(answer).toMatchObject({
      status: 503,
      body: { detail: expect.stringMatching(/cannot be reached .*ECONN.* not started/) },
    });
    expect((await started.ask('GET', '/tunnels')).body).toEqual([]);
    await lab.proxy.heal();
    await started.log.find(/connected to the gateway/);
    // On a busy machine a bind may take longer than this agent waits for it.
    const body = await eventually(async () => {
      const other = await started.ask('POST', '/tunnels', to({ domain: 'other.tunnel.localhost' }));
      expect(other.status).toBe(200);
      return other.body;
    });
    expect((await visit(lab.gateway, body.url.replace('other', 'late'))).status).toBe(404);
  });

  test('one that is silent is no other', async () => {
    const started = await agent({}, directory(), { answerTimeout: 300 });
    await started.log.find(/connected to the gateway/);
    lab.proxy.shape({ outage: 'stall' });
    const { status, body } = await started.ask('POST', '/tunnels', to());
    expect({ status, body }).toEqual({
      status: 503,
      body: { detail: expect.stringMatching(/did not answer in time/) },
    });
  });

  test('a tunnel can be deleted, and is not there when the gateway is back', async () => {
    const started = await agent();
    const { body } = await started.ask('POST', '/tunnels', to());
    lab.proxy.refuse();
    await lab.proxy.cut();
    await started.log.find(/disconnected from the gateway/);
    expect((await started.ask('DELETE', `/tunnels/${new URL(body.url).hostname}`)).status).toBe(200);
    await lab.proxy.heal();
    const { body: other } = await started.ask('POST', '/tunnels', to());
    expect((await visit(lab.gateway, other.url)).status).toBe(200);
    expect((await visit(lab.gateway, body.url)).status).not.toBe(200);
    expect((await started.ask('GET', '/tunnels')).body).toHaveLength(1);
  });

  test('who waits for a tunnel while the agent stops is told so', async () => {
    lab.proxy.refuse();
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
  const entry = {
    protocol: 'http',
    forwards_to: lab.service.at,
    domain: null,
    policy: JSON.stringify('{"inbound":[]}'),
  };
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

describe('from afar', () => {
  async function remote() {
    const account = await lab.gateway.newAccount();
    const path = directory();
    const running = await startAgentProcess(path, await newEnvironment([], account));
    cleanups.push(() => running.kill('SIGKILL'));
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
    expect((await visit(lab.gateway, url)).body).toBe('hello');
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
