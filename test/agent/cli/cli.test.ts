// The agent's command line, as the bundle that devices run, alone in a directory.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readCommand, UsageError } from '../../../agent/src/settings/cli.ts';
import { root } from '../../support/root.ts';
import { bundledAgent, newDirectory, runToEnd, startProcess } from '../agents.ts';

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
      'The configuration is not right:\nTUNNEL_AUTHTOKEN must be set to the authtoken of a credential, or TUNNEL_PROVISIONING_KEY to a provisioning key',
    );
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 at %s, with nothing but its lines on standard output',
    async (signal) => {
      const agent = await startProcess(directory, ['start'], { TUNNEL_AUTHTOKEN: 'none' });
      await agent.stdout.find(/^ready api=http:\/\/127\.0\.0\.1:\d+$/);
      expect(await agent.kill(signal)).toBe(0);
      expect(agent.stdout.all).toHaveLength(1);
      expect(readdirSync(directory)).toEqual(['tunnels.device.json', 'tunnels.json']);
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

  test('does not publish its API without a token, unless that is meant; other commands do not publish it', async () => {
    const env = { TUNNEL_AUTHTOKEN: 'none', AGENT_DOMAIN: 'box7.example.com' };
    expect(await runToEnd(directory, ['start'], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^AGENT_API_TOKEN must be set .*AGENT_DOMAIN.* AGENT_API_UNPROTECTED=true$/m),
    });
    expect((await runToEnd(directory, ['diagnose'], env)).stdout).toMatch(/^FAILED {2}TCP/m);
    for (const [name, value] of [
      ['AGENT_API_UNPROTECTED', 'true'],
      ['AGENT_API_TOKEN', 'a-token-of-the-tests'],
    ] as const) {
      const agent = await startProcess(directory, ['start'], { ...env, [name]: value });
      await agent.stdout.find(/^ready api=/);
      expect(await agent.kill()).toBe(0);
    }
  });

  test('says which variable names the address that it cannot have', async () => {
    const env = { TUNNEL_AUTHTOKEN: 'none', AGENT_API_ADDR: '300.1.1.1:8000' };
    const { code, stderr } = await runToEnd(directory, ['start'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^AGENT_API_ADDR cannot be had: /m);
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
  const tunnel = { does: 'tunnel', domain: null, policyFile: null, isListed: false };
  test.each<[string, object]>([
    ['start', { does: 'start', names: [], configFile: null }],
    ['start web ssh', { does: 'start', names: ['web', 'ssh'], configFile: null }],
    ['start --all --config a.yaml', { does: 'start', names: 'all', configFile: 'a.yaml' }],
    ['diagnose', { does: 'diagnose' }],
    ['http 3000', { ...tunnel, protocol: 'http', forwardsTo: 'localhost:3000' }],
    ['https 192.168.1.5:80', { ...tunnel, protocol: 'https', forwardsTo: '192.168.1.5:80' }],
    ['http https://printer.lan', { ...tunnel, protocol: 'http', forwardsTo: 'https://printer.lan:443' }],
    [
      'http [::1]:80 --domain a.example.com',
      { ...tunnel, protocol: 'http', forwardsTo: '[::1]:80', domain: 'a.example.com' },
    ],
    ['tcp 22 --port 20022', { ...tunnel, protocol: 'tcp', forwardsTo: 'localhost:22', domain: ':20022' }],
    [
      '--domain b.example.com tls 443',
      { ...tunnel, protocol: 'tls', forwardsTo: 'localhost:443', domain: 'b.example.com' },
    ],
    ['http 80 --policy p.json', { ...tunnel, protocol: 'http', forwardsTo: 'localhost:80', policyFile: 'p.json' }],
    ['tls 443 --proxy-protocol 2', { ...tunnel, protocol: 'tls', forwardsTo: 'localhost:443', proxyProtocol: 2 }],
    [
      'http 80 --upstream-timeout 5m',
      { ...tunnel, protocol: 'http', forwardsTo: 'localhost:80', upstreamTimeout: 300 },
    ],
    [
      'https https://printer.lan --host-header rewrite',
      { ...tunnel, protocol: 'https', forwardsTo: 'https://printer.lan:443', hostHeader: 'https://printer.lan' },
    ],
    [
      'http 80 --host-header myapp.test',
      { ...tunnel, protocol: 'http', forwardsTo: 'localhost:80', hostHeader: 'http://myapp.test' },
    ],
    [
      'http file:///srv/www --directory-listing',
      { ...tunnel, protocol: 'http', forwardsTo: 'file:///srv/www', isListed: true },
    ],
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
    ['tcp file:///srv/www', /must be host:port/],
    ['http file://srv/www', /must be the absolute path of a directory/],
    ['http ftp://x:1', /must be host:port/],
    ['http 80 --port 1', /--port is for tcp/],
    ['tcp 22 --domain a.b', /--domain is not for tcp/],
    ['tcp 22 --port x', /--port must be from 1 to 65535/],
    ['diagnose 3000', /takes no argument/],
    ['start web --all', /not both/],
    ['http 80 --config a.yaml', /--config is not for "http"/],
    ['http https://a --proxy-protocol 1', /only for a program without TLS/],
    ['http 80 --upstream-timeout 2h', /--upstream-timeout must be a time from 1s to 1h, as 90s or 5m; "2h" is not/],
    ['http 80 --host-header a/b', /--host-header must be "rewrite", or a name, as myapp.test; "a\/b" is not/],
    ['tls 443 --host-header rewrite', /--host-header is only for http and https/],
    ['tcp 22 --upstream-timeout 5s', /--upstream-timeout is only for http and https/],
    ['tcp 22 --proxy-protocol 3', /--proxy-protocol must be 1 or 2/],
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
