// `labels 3000 --label app=shop` and `--policy FILE`, as a person at the device runs them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readCommand, UsageError } from '../../../agent/src/settings/cli.ts';
import { POLICY_LIMITS } from '../../../src/protocol/policy/policy-shape.ts';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { type AgentProcess, newDirectory, runToEnd, startProcess } from '../agents.ts';
import { type Service, startService, visit } from '../visitors.ts';

let gateway: TestGateway;
let account: Account;
let service: Service;
let environment: Record<string, string>;
const { path: directory, remove } = newDirectory();
const running: AgentProcess[] = [];

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  service = await startService('hello');
  const GATEWAY_CA = join(directory, 'ca.pem');
  writeFileSync(GATEWAY_CA, gateway.ca);
  environment = { TUNNEL_AUTHTOKEN: await newToken(), GATEWAY_ADDR: gateway.agent, GATEWAY_CA };
});
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.kill('SIGKILL');
});
afterAll(async () => {
  await service.close();
  remove();
});

async function newToken(acl?: string[]): Promise<string> {
  const { body } = await account.call('POST', '/credentials', acl ? { acl } : {});
  return body.token;
}

async function run(args: string[], env: Record<string, string> = {}): Promise<AgentProcess> {
  const agent = await startProcess(directory, args, { ...environment, ...env });
  running.push(agent);
  return agent;
}

/** What was made, as the API answers. */
async function made(path: string, body: object): Promise<{ id: string }> {
  const answer = await account.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** An HTTPS edge with one route, to the tunnels with these labels. @returns its URL. */
async function edgeFor(name: string, labels: Record<string, string>): Promise<string> {
  const domain = `${name}.labels.tunnel.localhost`;
  await made('/reserved_domains', { domain });
  const backend = await made('/backends/tunnel_group', { labels });
  const edge = await made('/edges/https', { hostports: [`${domain}:443`] });
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: backend.id } };
  await made(`/edges/https/${edge.id}/routes`, route);
  return `https://${domain}`;
}

/** The account's tunnels with the label `app=…`, as the API lists them. */
async function tunnelsWith(app: string) {
  const { body } = await account.call('GET', '/tunnels');
  const tunnels: { id: string; labels: object; forwards_to: string; tunnel_session: { id: string } }[] = body.tunnels;
  return tunnels.filter(({ labels }) => 'app' in labels && labels.app === app);
}

/** A policy in a file of its own. @returns its path. */
function policyFile(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

/** The URL that an agent forwards. */
async function forwarding(agent: AgentProcess): Promise<string> {
  const [, url = ''] = (await agent.stdout.find(/^forwarding /)).split(' ');
  return url;
}

describe('a tunnel with labels', () => {
  test('serves the edge that chooses it, until the agent ends', async () => {
    const url = await edgeFor('shop', { app: 'shop' });
    expect((await visit(gateway, url)).status).toBe(502);
    const agent = await run(['labels', service.at, '--label', 'app=shop', '--label', 'site=berlin']);
    expect(await agent.stdout.find(/./)).toBe(`serving app=shop, site=berlin -> ${service.at}`);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(agent.stdout.all).toHaveLength(1);
    expect((await visit(gateway, url)).status).toBe(502);
  });

  test('serves again after a restart from afar, as a new tunnel', async () => {
    const url = await edgeFor('again', { app: 'again' });
    const agent = await run(['labels', service.at, '--label', 'app=again']);
    await agent.stdout.find(/^serving/);
    const [before] = await tunnelsWith('again');
    const session = `/tunnel_sessions/${before?.tunnel_session.id}`;
    expect((await account.call('POST', `${session}/restart`)).status).toBe(204);
    await agent.stderr.find(/"gateway command received","command":"restart"/);
    await agent.stdout.find(/^serving/, 1);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
    const after = await tunnelsWith('again');
    expect(after).toMatchObject([{ forwards_to: service.at }]);
    expect(after[0]?.id).not.toBe(before?.id);
  });

  test('serves again after a lost connection, and says so no second time', async () => {
    const [host = '', port] = gateway.agent.split(':');
    const proxy = await startFaultProxy(host, Number(port));
    const url = await edgeFor('lost', { app: 'lost' });
    const GATEWAY_ADDR = `127.0.0.1:${proxy.port}`;
    const agent = await run(['labels', service.at, '--label', 'app=lost'], { GATEWAY_ADDR });
    await agent.stderr.find(/"msg":"tunnel active","labels":"app=lost"/);
    const logged = agent.stderr.all.length;
    await proxy.reset();
    await agent.stderr.find(/tunnel active/, logged);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
    expect(agent.stdout.all).toHaveLength(1);
    await proxy.close();
  });

  test('serves a TLS edge the same way', async () => {
    const domain = 'tls.labels.tunnel.localhost';
    await made('/reserved_domains', { domain });
    const { id } = await made('/backends/tunnel_group', { labels: { app: 'tls' } });
    await made('/edges/tls', {
      hostports: [`${domain}:443`],
      backend: { backend_id: id },
      tls_termination: { terminate_at: 'edge' },
    });
    const agent = await run(['labels', service.at, '--label', 'app=tls']);
    await agent.stdout.find(/^serving/);
    expect(await visit(gateway, `https://${domain}`)).toMatchObject({ status: 200, body: 'hello' });
  });

  test('that the ACL does not allow is refused in the words of the gateway, and the agent goes on', async () => {
    const agent = await run(['labels', service.at, '--label', 'app=shop'], {
      TUNNEL_AUTHTOKEN: await newToken(['bind:app=other']),
    });
    expect(JSON.parse(await agent.stderr.find(/tunnel refused/))).toMatchObject({
      to: service.at,
      code: 'ERR_GATEWAY_399',
      message: expect.stringContaining('such as "bind:app=shop"'),
    });
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(agent.stdout.all).toEqual([]);
  });

  test('is read from the command line', () => {
    const args = ['--label', 'app=shop', 'labels', 'https://printer.lan', '--label', 'query=a=b'];
    expect(readCommand(args)).toEqual({
      does: 'labels',
      labels: { app: 'shop', query: 'a=b' },
      forwardsTo: 'https://printer.lan:443',
    });
  });

  test.each<[string, RegExp]>([
    ['labels', /"labels" needs a port to forward to, as in: labels 3000/],
    ['labels 3000', /needs at least one label, as in: --label app=shop/],
    ['labels 3000 --label', /--label/],
    ['labels 3000 --label app', /has "app" for a label: use KEY=VALUE/],
    ['labels 3000 --label app=', /use KEY=VALUE/],
    ['labels 3000 --label =shop', /use KEY=VALUE/],
    ['labels 3000 --label app=a --label app=b', /two labels "app": a key has one value/],
    ['labels 3000 4000 --label app=a', /"4000" is one argument too many/],
    ['labels x --label app=a', /"x" must be host:port/],
    ['labels 3000 --label app=a --domain a.b', /--domain is not for "labels"/],
    ['labels 3000 --label app=a --policy p.json', /--policy is not for "labels"/],
    ['http 3000 --label app=a', /--label is not for "http"/],
    ['start --label app=a', /--label is not for "start"/],
  ])('with a mistake is refused: %s', (line, text) => {
    const read = () => readCommand(line.split(' '));
    expect(read).toThrow(UsageError);
    expect(read).toThrow(text);
  });
});

describe('--policy', () => {
  const yaml = (type: string) => `
# Comments are a reason to write YAML.
on_http_response:
  - actions:
      - type: ${type}
        config:
          headers: { x-from-policy: "yes" }
`;

  test.each([
    [
      'JSON',
      'rules.json',
      JSON.stringify({
        outbound: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-from-policy': 'yes' } } }] }],
      }),
    ],
    ['YAML', 'rules.yaml', yaml('add-headers')],
  ])('in %s acts on what visitors are answered', async (_, name, text) => {
    const agent = await run(['http', service.at, '--policy', policyFile(name, text)]);
    const { status, headers } = await visit(gateway, await forwarding(agent));
    expect({ status, added: headers['x-from-policy'] }).toEqual({ status: 200, added: 'yes' });
  });

  test('that only the gateway can judge is refused with its place, and the agent goes on', async () => {
    const agent = await run(['http', service.at, '--policy', policyFile('bad.yaml', yaml('add-hedaers'))]);
    expect(JSON.parse(await agent.stderr.find(/tunnel refused/))).toMatchObject({
      code: 'ERR_GATEWAY_2201',
      message: expect.stringContaining('on_http_response[0].actions[0].type'),
    });
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(agent.stdout.all).toEqual([]);
  });

  test('that is neither JSON nor YAML is refused with line and column', async () => {
    const agent = await run(['tcp', service.at, '--policy', policyFile('broken.json', '{"inbound":\n [}')]);
    expect(JSON.parse(await agent.stderr.find(/tunnel refused/))).toMatchObject({
      code: 'ERR_GATEWAY_2236',
      message: expect.stringMatching(/line 2, column \d/),
    });
  });

  const longest = 2 * POLICY_LIMITS.document;
  test.each([
    ['is not there', 'none.yaml', undefined, 'must be a file with a policy in JSON or YAML: ENOENT'],
    ['is a directory', 'directory', null, 'must be a file with a policy in JSON or YAML: EISDIR'],
    ['is empty', 'empty.yaml', ' \n', 'must be a file with a policy in JSON or YAML; it is empty'],
    ['is too long', 'long.yaml', `#${'x'.repeat(longest)}`, `must have at most ${longest} characters`],
    ['is not well formed', 'shape.json', '{"inbound": {}}', 'inbound must be a list of rules'],
  ])('names the file that %s, and ends', async (_, name, text, reason) => {
    const file = join(directory, name);
    if (text === null) mkdirSync(file);
    else if (text !== undefined) writeFileSync(file, text);
    const { code, stdout, stderr } = await runToEnd(directory, ['http', '3000', '--policy', file], environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${file}[ .]${reason}`));
  });
});
