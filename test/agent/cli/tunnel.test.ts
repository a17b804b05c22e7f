// `http 3000` and its like, and `diagnose`, as a person at the device runs them.

import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../src/net/free-port.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../../support/gateway/gateway.ts';
import { type AgentProcess, newDirectory, runToEnd, startProcess } from '../agents.ts';
import { type Service, startEcho, startService, visit } from '../visitors.ts';

let gateway: TestGateway;
let service: Service;
let proxy: FaultProxy;
let environment: Record<string, string>;
const { path: directory, remove } = newDirectory();
const running: AgentProcess[] = [];

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  service = await startService('hello');
  const [host = '', port] = gateway.agent.split(':');
  proxy = await startFaultProxy(host, Number(port));
  const { body } = await gateway.call('POST', '/credentials', {});
  const GATEWAY_CA = join(directory, 'ca.pem');
  writeFileSync(GATEWAY_CA, gateway.ca);
  environment = { TUNNEL_AUTHTOKEN: body.token, GATEWAY_ADDR: `127.0.0.1:${proxy.port}`, GATEWAY_CA };
});
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.kill('SIGKILL');
  await proxy.heal();
});
afterAll(async () => {
  await proxy.close();
  await service.close();
  remove();
});

async function run(args: string[], env: Record<string, string> = {}): Promise<AgentProcess> {
  const agent = await startProcess(directory, args, { ...environment, ...env });
  running.push(agent);
  return agent;
}

/** What it says it forwards. */
async function forwarding(agent: AgentProcess): Promise<{ url: string; to: string }> {
  const [, url = '', to = ''] = /^forwarding (\S+) -> (\S+)$/.exec(await agent.stdout.find(/^forwarding /)) ?? [];
  return { url, to };
}

const isActive = /"msg":"tunnel active"/;

describe('one tunnel', () => {
  test('is printed once it carries traffic, and ends with the process', async () => {
    const port = service.at.split(':')[1] ?? '';
    const agent = await run(['http', port]);
    const { url, to } = await forwarding(agent);
    expect({ url, to }).toEqual({
      url: expect.stringMatching(/^http:\/\/[a-z0-9]+\.tunnel\.localhost:\d+$/),
      to: `localhost:${port}`,
    });
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
    expect(await agent.kill('SIGTERM')).toBe(0);
    expect(agent.stdout.all).toHaveLength(1);
    expect((await visit(gateway, url)).status).toBe(404);
  });

  test('has the same address after a loss of power, where AGENT_STATE_FILE is set as in a service', async () => {
    const env = { AGENT_STATE_FILE: join(directory, 'of-one-tunnel.json') };
    const urls = new Set<string>();
    for (const _ of [1, 2, 3]) {
      const agent = await run(['http', service.at], env);
      const { url } = await forwarding(agent);
      urls.add(url);
      expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
      await eventually(() => expect(readFileSync(env.AGENT_STATE_FILE, 'utf8')).toContain(url));
      await agent.kill('SIGKILL');
    }
    expect([...urls]).toHaveLength(1);
    // Another protocol is another tunnel, and the first one is found again after it.
    const other = await run(['tcp', service.at], env);
    expect((await forwarding(other)).url).toMatch(/^tcp:/);
    expect(await other.kill('SIGTERM')).toBe(0);
    expect(urls).toContain((await forwarding(await run(['http', service.at], env))).url);
  });

  test('is served beside an agent that has the state file, and is not kept', async () => {
    const env = { AGENT_STATE_FILE: join(directory, 'of-two.json') };
    const installed = await run(['start'], env);
    await installed.stdout.find(/^ready/);
    const agent = await run(['http', service.at], env);
    expect(await visit(gateway, (await forwarding(agent)).url)).toMatchObject({ status: 200, body: 'hello' });
    await agent.stderr.find(/the address of the tunnel is not kept.*Process \d+ is an agent/);
    expect(await installed.kill('SIGTERM')).toBe(0);
  });

  test.each([
    ['port alone', (port: number) => String(port)],
    ['localhost', (port: number) => `localhost:${port}`],
  ])('finds a program that listens on ::1 only: %s', async (_, target) => {
    // Its port is nobody's at 127.0.0.1, where the agent asks first.
    const free = await freePort('127.0.0.1');
    const server = createHttpServer((__, response) => void response.end('by IPv6')).listen(free, '::1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const agent = await run(['http', target((server.address() as AddressInfo).port)]);
    expect(await visit(gateway, (await forwarding(agent)).url)).toMatchObject({ status: 200, body: 'by IPv6' });
  });

  test('has the name or the port that is asked for', async () => {
    const https = await run(['https', service.at, '--domain', 'named.tunnel.localhost']);
    const { url } = await forwarding(https);
    expect(url).toMatch(/^https:\/\/named\.tunnel\.localhost/);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });

    const echo = await startEcho();
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    await once(free.close(), 'close');
    const tcp = await run(['tcp', echo.at, '--port', String(port)]);
    expect((await forwarding(tcp)).url).toBe(`tcp://tunnel.localhost:${port}`);
    const visitor = connect(port, '127.0.0.1');
    visitor.write('there and back');
    expect(String((await once(visitor, 'data'))[0])).toBe('there and back');
    visitor.destroy();
    await echo.close();
  });

  test('keeps its URL over a lost connection, and says it no second time', async () => {
    const agent = await run(['http', service.at]);
    const { url } = await forwarding(agent);
    const logged = agent.stderr.all.length;
    await proxy.reset();
    await agent.stderr.find(isActive, logged);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
    expect(agent.stdout.all).toHaveLength(1);
  });

  test('keeps its URL when it is restarted from afar, also when its configuration is not right any more', async () => {
    const account = await gateway.newAccount();
    const { body: credential } = await account.call('POST', '/credentials', {});
    const GATEWAY_CA = join(directory, 'other.pem');
    writeFileSync(GATEWAY_CA, gateway.ca);
    const agent = await run(['http', service.at], { TUNNEL_AUTHTOKEN: credential.token, GATEWAY_CA });
    const { url } = await forwarding(agent);
    rmSync(GATEWAY_CA);
    const { body } = await account.call('GET', '/tunnel_sessions');
    const logged = agent.stderr.all.length;
    expect((await account.call('POST', `/tunnel_sessions/${body.tunnel_sessions[0].id}/restart`)).status).toBe(204);
    await agent.stderr.find(/the previous one is used.*GATEWAY_CA must name a file/);
    await agent.stderr.find(isActive, logged);
    expect(await visit(gateway, url)).toMatchObject({ status: 200, body: 'hello' });
  });

  test('ends at once at a second signal', async () => {
    const agent = await run(['start'], { AGENT_API_ADDR: '127.0.0.1:0' });
    const [, api = ''] = /^ready api=(\S+)/.exec(await agent.stdout.find(/^ready /)) ?? [];
    // A request that does not end: the stop waits for it, two seconds at the most.
    const { hostname, port, host } = new URL(api);
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.write(
      `POST /tunnels HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
    );
    expect((await fetch(`${api}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
    const end = agent.kill('SIGTERM');
    await agent.kill('SIGINT'); // Another one: two of a kind may arrive as one.
    expect(await end).toBe(1);
    socket.destroy();
  });

  test('that is refused says why, and goes on', async () => {
    await forwarding(await run(['http', service.at, '--domain', 'taken-in-terminal.tunnel.localhost']));
    const second = await run(['http', service.at, '--domain', 'taken-in-terminal.tunnel.localhost']);
    await second.stderr.find(/refused.*ERR_GATEWAY_334/);
    expect(await second.kill('SIGTERM')).toBe(0);
    expect(second.stdout.all).toEqual([]);
  });

  test('with a bad authtoken says so, with nothing on standard output, and ends when it is told to', async () => {
    const agent = await run(['http', service.at], { TUNNEL_AUTHTOKEN: `${'0'.repeat(27)}_${'0'.repeat(24)}` });
    await agent.stderr.find(/ERR_GATEWAY_107/);
    expect(await agent.kill('SIGINT')).toBe(0);
    expect(agent.stdout.all).toEqual([]);
  });

  test('sends its policy, which has to be well formed', async () => {
    const file = join(directory, 'policy.json');
    writeFileSync(file, JSON.stringify({ inbound: [{ actions: [{ type: 'deny' }] }] }));
    await forwarding(await run(['http', service.at, '--policy', file]));
    writeFileSync(file, JSON.stringify({ inbound: [{ actions: [] }] }));
    const { code, stderr } = await runToEnd(directory, ['http', service.at, '--policy', file], environment);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`${file}.inbound[0].actions must have at least one action`),
    });
  });

  test('goes nowhere that AGENT_FORWARDS_TO does not allow', async () => {
    const agent = await run(['http', service.at], { AGENT_FORWARDS_TO: '192.168.0.0/16' });
    const { url } = await forwarding(agent);
    expect((await visit(gateway, url)).status).toBe(502);
    await agent.stderr.find(/not allowed/);
  });
});

describe('diagnose', () => {
  const diagnose = async (env: Record<string, string>) => {
    const { code, stdout } = await runToEnd(directory, ['diagnose'], env);
    return { code, lines: stdout.split('\n') };
  };

  test('reports each step to a gateway that is well, without an authtoken', async () => {
    const { GATEWAY_CA = '' } = environment;
    const { code, lines } = await diagnose({
      GATEWAY_ADDR: gateway.agent.replace('127.0.0.1', 'localhost'),
      GATEWAY_CA,
    });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(/^Gateway localhost:\d+$/),
        expect.stringMatching(/^ok {6}DNS .*127\.0\.0\.1.* ms\)$/),
        expect.stringMatching(/^ok {6}TCP .* ms\)$/),
        expect.stringMatching(/^ok {6}TLS .*TLSv1\.3, certificate of .* ms\)$/),
        expect.stringMatching(/^ok {6}protocol .*latency \d+\.\d ms .* ms\)$/),
      ],
    });
  });

  test('says why a certificate is not accepted, and what to do', async () => {
    const { code, lines } = await diagnose({ GATEWAY_ADDR: gateway.agent });
    expect(code).toBe(1);
    expect(lines.at(-2)).toMatch(/^FAILED {2}TLS .*the certificate is not accepted: [A-Z_]+; certificate of /);
    expect(lines.at(-1)).toMatch(/Set GATEWAY_CA/);
  });

  test('says which step fails: a name, a port, something that is no gateway', async () => {
    const { GATEWAY_CA = '' } = environment;
    const last = async (GATEWAY_ADDR: string) => {
      const { code, lines } = await diagnose({ GATEWAY_ADDR, GATEWAY_CA });
      expect(code).toBe(1);
      return lines.find((line) => line.startsWith('FAILED'));
    };
    expect(await last('nowhere.invalid:4443')).toMatch(/^FAILED {2}DNS /);
    expect(await last('127.0.0.1:1')).toMatch(/^FAILED {2}TCP .*ECONNREFUSED/);
    expect(await last(gateway.http)).toMatch(/^FAILED {2}TLS /);
    expect(await last(gateway.https)).toMatch(/^FAILED {2}protocol .*does not speak/);
  });
});
