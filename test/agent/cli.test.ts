// The agent's command line and environment, as the bundle that devices run, alone in a directory.

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openLog } from '../../agent/src/log.ts';
import { parseAllowList } from '../../agent/src/settings/allow-list.ts';
import { readCommand, UsageError } from '../../agent/src/settings/cli.ts';
import { ConfigError, readConfig } from '../../agent/src/settings/config.ts';
import { root } from '../support/gateway/place.ts';
import { bundledAgent, newDirectory, runToEnd, startProcess } from './agents.ts';

const { path: directory, remove } = newDirectory();
afterAll(remove);

describe('the bundle', () => {
  test('is one file that runs alone, where nothing is installed', async () => {
    const file = await bundledAgent();
    expect(readdirSync(dirname(file))).toEqual(['agent.js']);
    const { version } = JSON.parse(readFileSync(join(root, 'agent/package.json'), 'utf8'));
    expect(await runToEnd(directory, ['--version'])).toEqual({ code: 0, stdout: version, stderr: '' });
    expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test('explains itself', async () => {
    const { code, stdout } = await runToEnd(directory, ['--help']);
    expect(code).toBe(0);
    for (const word of ['start', 'http', 'https', 'tcp', 'tls', 'diagnose', 'TUNNEL_AUTHTOKEN', 'AGENT_DOMAIN'])
      expect(stdout).toContain(word);
  });

  test('needs an authtoken, and says so', async () => {
    const { code, stdout, stderr } = await runToEnd(directory, ['http', '3000']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'The configuration is not right:\nTUNNEL_AUTHTOKEN must be set to the authtoken of a credential',
    );
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 at %s, with nothing but its lines on standard output',
    async (signal) => {
      const agent = await startProcess(directory, ['start'], { TUNNEL_AUTHTOKEN: 'none' });
      await agent.stdout.find(/^ready api=http:\/\/127\.0\.0\.1:\d+$/);
      expect(await agent.kill(signal)).toBe(0);
      expect(agent.stdout.all).toHaveLength(1);
      expect(readdirSync(directory)).toEqual(['tunnels.json']);
    },
  );

  test('does not start twice on the same state, and the first one goes on', async () => {
    const agent = await startProcess(directory, ['start'], { TUNNEL_AUTHTOKEN: 'none' });
    await agent.stdout.find(/^ready/);
    const { code, stderr } = await runToEnd(directory, ['start'], { TUNNEL_AUTHTOKEN: 'none' });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`Process ${agent.pid} is an agent`),
    });
    expect(await agent.kill()).toBe(0);
  });

  test('says which variable names the address that it cannot have', async () => {
    const other = createTcpServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const address = `127.0.0.1:${port}`;
    const { code, stderr } = await runToEnd(directory, ['start'], {
      TUNNEL_AUTHTOKEN: 'none',
      AGENT_API_ADDR: address,
    });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^AGENT_API_ADDR cannot be had: .*EADDRINUSE/m);
    expect(readdirSync(directory)).not.toContain('tunnels.json.lock');
  });
});

test('the agent says why it cannot keep its state', async () => {
  const env = { TUNNEL_AUTHTOKEN: 'none', AGENT_STATE_FILE: '/dev/null/tunnels.json' };
  const { code, stderr } = await runToEnd(directory, ['start'], env);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^AGENT_STATE_FILE .* cannot be used: /),
  });
});

describe('a command line', () => {
  const tunnel = { does: 'tunnel', domain: null, policyFile: null };
  test.each<[string, object]>([
    ['start', { does: 'start' }],
    ['diagnose', { does: 'diagnose' }],
    ['http 3000', { ...tunnel, protocol: 'http', forwardsTo: '127.0.0.1:3000' }],
    ['https 192.168.1.5:80', { ...tunnel, protocol: 'https', forwardsTo: '192.168.1.5:80' }],
    ['http https://printer.lan', { ...tunnel, protocol: 'http', forwardsTo: 'https://printer.lan:443' }],
    [
      'http [::1]:80 --domain a.example.com',
      { ...tunnel, protocol: 'http', forwardsTo: '[::1]:80', domain: 'a.example.com' },
    ],
    ['tcp 22 --port 20022', { ...tunnel, protocol: 'tcp', forwardsTo: '127.0.0.1:22', domain: ':20022' }],
    [
      '--domain b.example.com tls 443',
      { ...tunnel, protocol: 'tls', forwardsTo: '127.0.0.1:443', domain: 'b.example.com' },
    ],
    ['http 80 --policy p.json', { ...tunnel, protocol: 'http', forwardsTo: '127.0.0.1:80', policyFile: 'p.json' }],
    ['http 80 --help', { does: 'help' }],
  ])('%s', (line, command) => {
    expect(readCommand(line.split(' '))).toEqual(command);
  });

  test.each<[string, RegExp]>([
    ['', /No command/],
    ['htp 3000', /no command "htp"/],
    ['http', /needs a port/],
    ['http 3000 4000', /"4000" is one argument too many/],
    ['http port', /"port" must be host:port/],
    ['http 70000', /must be host:port/],
    ['http ftp://x:1', /must be host:port/],
    ['http 80 --port 1', /--port is for tcp/],
    ['tcp 22 --domain a.b', /--domain is not for tcp/],
    ['tcp 22 --port x', /--port must be from 1 to 65535/],
    ['start 3000', /takes no argument/],
    ['start --domain a.b', /--domain is not for "start"/],
    ['http 80 --domian a.b', /--domian/],
  ])('with a mistake is refused: %s', (line, text) => {
    const read = () => readCommand(line.split(' ').filter(Boolean));
    expect(read).toThrow(UsageError);
    expect(read).toThrow(text);
  });

  test('with a mistake ends with 2 and the help', async () => {
    const { code, stdout, stderr } = await runToEnd(directory, ['htp', '3000']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage:');
  });
});

describe('a mistake in the environment is reported by the name of its variable:', () => {
  test.each([
    ['TUNNEL_AUTHTOKEN', 'two words'],
    ['GATEWAY_ADDR', 'gateway.example.com'],
    ['GATEWAY_ADDR', 'gateway.example.com:0'],
    ['GATEWAY_ADDR', 'https://gateway.example.com:443'],
    ['GATEWAY_ADDR', '::1:4443'],
    ['GATEWAY_CA', '/no/such/file.pem'],
    ['GATEWAY_CA', 'package.json'],
    ['AGENT_DOMAIN', 'https://agent.example.com'],
    ['AGENT_DOMAIN', '*.example.com'],
    ['AGENT_DOMAIN', '192.168.1.1'],
    ['AGENT_API_ADDR', '8000'],
    ['AGENT_API_ADDR', '127.0.0.1:99999'],
    ['AGENT_API_TOKEN', 'short'],
    ['AGENT_API_TOKEN', 'with blanks in the middle'],
    ['AGENT_FORWARDS_TO', '10.0.0.0/40'],
    ['AGENT_FORWARDS_TO', '10.0.0.0/'],
    ['AGENT_FORWARDS_TO', 'a b'],
    ['AGENT_FORWARDS_TO', 'printer.lan:80'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
  ])('%s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value }, root)).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value }, root)).toThrow(new RegExp(`^${name} must .`, 'm'));
  });

  test('all of them at once, without secrets', () => {
    const env = { AGENT_API_TOKEN: 'a secret that is wrong', LOG_LEVEL: 'loud', GATEWAY_ADDR: 'x' };
    expect(() => readConfig(env, root)).toThrow(/^GATEWAY_ADDR .*\nAGENT_API_TOKEN (?!.*secret that).*\nLOG_LEVEL /);
  });
});

test('without any variable, the documented defaults hold; one that is set to nothing counts as not set', () => {
  const config = readConfig({}, '/srv');
  expect(config).toMatchObject({
    authtoken: '',
    gateway: { host: '127.0.0.1', port: 4443 },
    ca: undefined,
    domain: null,
    apiAddress: { host: '127.0.0.1', port: 8000 },
    apiToken: null,
    stateFile: '/srv/tunnels.json',
    policyFile: null,
    logLevel: 'info',
    logFormat: 'json',
  });
  const names = ['GATEWAY_ADDR', 'GATEWAY_CA', 'AGENT_DOMAIN', 'AGENT_API_TOKEN', 'AGENT_FORWARDS_TO', 'LOG_LEVEL'];
  const { forwardsTo, ...empty } = readConfig(Object.fromEntries(names.map((name) => [name, ''])), '/srv');
  expect(config).toMatchObject(empty);
  expect(forwardsTo.text).toBe(config.forwardsTo.text);
});

describe('AGENT_FORWARDS_TO', () => {
  const names: Record<string, string[]> = {
    localhost: ['127.0.0.1', '::1'],
    'printer.lan': ['192.168.1.5'],
    'mixed.lan': ['127.0.0.1', '192.168.1.5'],
    'metadata.lan': ['169.254.169.254'],
    '2130706433': ['127.0.0.1'],
    '0xa9fea9fe': ['169.254.169.254'],
  };
  const resolve = async (name: string) => names[name] ?? Promise.reject(new Error(`no ${name}`));
  const allowed = (list: string, host: string) => parseAllowList(list, resolve).addresses(host);

  test.each([
    ['', '127.0.0.1'],
    ['', '127.8.9.10'],
    ['', '[::1]'],
    ['', '::ffff:127.0.0.1'],
    ['', '0:0:0:0:0:0:0:1'],
    ['', 'localhost'],
    ['', 'LOCALHOST.'],
    ['', '2130706433'],
    ['192.168.0.0/16', '192.168.1.5'],
    ['192.168.0.0/16, 10.1.2.3', '10.1.2.3'],
    ['192.168.0.0/16', 'printer.lan'],
    ['printer.lan', 'printer.lan'],
    ['*.lan', 'Printer.lan'],
    ['*.lan', 'mixed.lan'],
    ['fd00::/8', '[fd12::1]'],
    ['0.0.0.0/0', '8.8.8.8'],
  ])('%j allows %s', async (list, host) => {
    expect(await allowed(list, host)).not.toEqual([]);
  });

  test.each([
    ['', '192.168.1.5'],
    ['', '::ffff:192.168.1.5'],
    ['', '0.0.0.0'],
    ['', 'printer.lan'],
    ['', 'mixed.lan'],
    ['192.168.0.0/16', '127.0.0.1'],
    ['10.1.2.3', '10.1.2.4'],
    ['*.lan', '127.0.0.1'],
    ['0.0.0.0/0, ::/0', '169.254.169.254'],
    ['0.0.0.0/0, ::/0', '::ffff:169.254.169.254'],
    ['0.0.0.0/0, ::/0', '::ffff:a9fe:a9fe'],
    ['0.0.0.0/0, ::/0', '64:ff9b::a9fe:a9fe'],
    ['0.0.0.0/0, ::/0', 'fe80::1'],
    ['0.0.0.0/0, ::/0', 'fe80::1%eth0'],
    ['0.0.0.0/0, ::/0', 'fd00:ec2::254'],
    ['0.0.0.0/0, ::/0', 'fd00:0ec2:0::254'],
    ['169.254.169.254', '169.254.169.254'],
    ['metadata.lan', 'metadata.lan'],
    ['*.lan', 'metadata.lan'],
    ['0.0.0.0/0', '0xa9fea9fe'],
  ])('%j does not allow %s', async (list, host) => {
    expect(await allowed(list, host)).toEqual([]);
  });

  test('gives the addresses that were looked at, so that none has to be looked up again', async () => {
    expect(await allowed('192.168.0.0/16, 127.0.0.0/8', 'mixed.lan')).toEqual(['127.0.0.1', '192.168.1.5']);
    await expect(allowed('', 'nowhere.lan')).rejects.toThrow('no nowhere.lan');
  });

  test('resolves names as the system does', async () => {
    expect(await parseAllowList('').addresses('localhost')).toContain('127.0.0.1');
  });
});

test('the log has one line each, of the levels asked for, as JSON or for people', () => {
  const lines: string[] = [];
  const json = openLog('warn', 'json', (line) => lines.push(line));
  json('info', 'not written');
  json('error', 'written', { code: 7, text: 'two\nlines' });
  openLog('info', 'text', (line) => lines.push(line))('info', 'for people', { url: 'http://a', count: 2 });
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'error', msg: 'written', code: 7, text: 'two\nlines' });
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(lines[1]).toMatch(/^\d{4}-.*Z INFO {2}for people url=http:\/\/a count=2\n$/);
});
