// The agent as the gateway offers it: the file, and the script that makes a service of it. There is no systemd to be had in
// tests: the script is run by a real shell with a `systemctl` that only writes down what it is told. What the script wrote is then
// started as systemd would start it.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentLines, labelsCommand } from '../../src/dashboard/screens/credentials/agent-command.ts';
import { eventually } from '../support/eventually.ts';
import { sharedGateway, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newDirectory } from './agents.ts';

const NAME = 'tunnel-gateway-agent';

let gateway: TestGateway;
let script: string;
let authtoken: string;
const place = newDirectory();
const home = join(place.path, 'home of somebody');
const directory = join(home, '.local/share', NAME);
const unitFile = join(home, `.config/systemd/user/${NAME}.service`);
const environmentFile = join(directory, 'agent.env');
const told = join(place.path, 'systemctl.log');

beforeAll(async () => {
  gateway = await sharedGateway();
  script = await (await fetch(`${gateway.api}/agent/install.sh`)).text();
  authtoken = await newAuthtoken();
  await mkdir(join(place.path, 'bin'));
  await mkdir(home);
  const systemctl = join(place.path, 'bin/systemctl');
  writeFileSync(systemctl, `#!/bin/sh\necho "$*" >> '${told}'\n`);
  chmodSync(systemctl, 0o755);
});
afterAll(() => place.remove());

async function newAuthtoken(): Promise<string> {
  const created = await gateway.call('POST', '/credentials', { description: 'of a service' });
  return created.body.token;
}

interface Run {
  args?: string[];
  env?: Record<string, string>;
  /** What stands before the text of the script on its standard input, or in place of it where the script is a file. */
  input?: string;
  file?: string;
  text?: string;
}

/** Runs the script as `curl … | sh -s -- …` does. */
function install({ args = [], env = {}, input, file, text = script }: Run) {
  const shell = spawn('/bin/sh', file ? [file, ...args] : ['-s', '--', ...args], {
    env: { PATH: `${join(place.path, 'bin')}:${process.env.PATH}`, HOME: home, ...env },
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (part) => (output += part));
  shell.stdin.on('error', () => {}); // A script that ends early does not read the rest of itself.
  shell.stdin.end(input ?? text);
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    shell.once('close', (code) => resolve({ code, output })),
  );
}

const systemctlWas = () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []);

test('the agent is there for everybody, with its digest, and only to be read', async () => {
  const url = `${gateway.api}/agent/agent.js`;
  const got = await fetch(url);
  const bytes = Buffer.from(await got.arrayBuffer());
  expect(got.status).toBe(200);
  expect(got.headers.get('content-type')).toMatch(/^text\/javascript/);
  expect(Number(got.headers.get('content-length'))).toBe(bytes.length);
  const digest = createHash('sha256').update(bytes).digest('base64');
  expect(got.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
  expect(bytes.subarray(0, 20).toString()).toBe('#!/usr/bin/env node\n');

  const etag = got.headers.get('etag') ?? '';
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  for (const path of ['agent.js', 'install.sh']) {
    const refused = await fetch(`${gateway.api}/agent/${path}`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  }
  expect((await fetch(`${gateway.api}/agent/other.js`)).status).toBe(404);
});

test('the script has where the gateway is and what the agent trusts, and no secret', () => {
  expect(script).toContain(`gateway_api='${gateway.api}'`);
  expect(script).toContain(`gateway_addr='${gateway.agent}'`);
  expect(script).toContain(gateway.ca.trim());
  expect(script).toContain("api_ca='no'");
  expect(script).not.toMatch(/PRIVATE KEY/);
});

test('strangers get the script as often as they may ask anything', async () => {
  const limited = await startTestGateway({ STRANGER_RATE_LIMIT: '3' });
  try {
    const ask = async (path: string) => (await fetch(`${limited.api}/agent/${path}`)).status;
    expect([await ask('install.sh'), await ask('install.sh'), await ask('install.sh')]).toEqual([200, 200, 200]);
    expect(await ask('install.sh')).toBe(429);
    expect(await ask('agent.js')).toBe(200); // From memory: it costs nothing.
  } finally {
    await limited.close();
  }
});

describe('the script', () => {
  test('says what it would do, and does nothing', async () => {
    const { code, output } = await install({
      args: ['--user', '--dry-run', 'http', '3000'],
      env: { TUNNEL_AUTHTOKEN: authtoken },
    });
    expect([code, output]).toEqual([0, expect.stringContaining(`would download ${gateway.api}/agent/agent.js`)]);
    expect(output).toContain(`would write ${unitFile} (mode 644)`);
    expect(output).toContain('TUNNEL_AUTHTOKEN=<secret>');
    expect(output).not.toContain(authtoken);
    expect(existsSync(directory)).toBe(false);
    expect(systemctlWas()).toEqual([]);
  });

  test.each<[string, Run, RegExp]>([
    ['without an authtoken', { args: ['--user'] }, /Set TUNNEL_AUTHTOKEN/],
    ['with an unknown option', { args: ['--fast'] }, /no option --fast; --help lists them/],
    ['with a name that is a path', { args: ['--service', '../x'] }, /small letters, digits and hyphens, not "\.\.\/x"/],
    ['with an authtoken of two lines', { args: ['--user'], env: { TUNNEL_AUTHTOKEN: 'a\nb' } }, /a line break/],
    ['without node', { args: ['--user', '--no-start'], env: { PATH: '/nowhere' } }, /needs Node.*20\.19 or newer/s],
    ['without systemd', { args: ['--user'], env: { PATH: '/nowhere' } }, /no systemd here\. --no-start only writes/],
  ])('refuses to run %s', async (_, run, reason) => {
    const { code, output } = await install(run);
    expect([code, output]).toEqual([1, expect.stringMatching(reason)]);
    expect(existsSync(unitFile)).toBe(false);
  });

  test('does not install an agent that would not start, as it would publish its API without a token', async () => {
    const env = { TUNNEL_AUTHTOKEN: authtoken, AGENT_DOMAIN: 'box7.example.com' };
    const dry = (more: Record<string, string>, args: string[] = []) =>
      install({ args: ['--dry-run', ...args], env: { ...env, ...more } });
    expect(await dry({})).toMatchObject({ code: 1, output: expect.stringContaining('AGENT_API_UNPROTECTED=true') });
    expect((await dry({ AGENT_API_TOKEN: 'a-token-of-the-tests' })).code).toBe(0);
    expect((await dry({}, ['http', '3000'])).code).toBe(0);
    const meant = await dry({ AGENT_API_UNPROTECTED: 'true' });
    expect(meant).toEqual({ code: 0, output: expect.stringContaining("AGENT_API_UNPROTECTED='true'") });
  });

  test('does not keep an agent that is not the one it was made for', async () => {
    const text = script.replace(/agent_sha256='.{4}/, "agent_sha256='0000");
    const { code, output } = await install({ args: ['--user'], env: { TUNNEL_AUTHTOKEN: authtoken }, text });
    expect([code, output]).toEqual([1, expect.stringContaining('not the agent that this script is for')]);
    expect(existsSync(join(directory, 'agent.js'))).toBe(false);
    expect(existsSync(unitFile)).toBe(false);
  });
});

test('a service of the system has a user of its own, and what systemd can take from it is taken', async () => {
  const { output } = await install({
    args: ['--dry-run', '--no-start', 'labels', '3000', '--label', 'rate=5%'],
    env: { TUNNEL_AUTHTOKEN: authtoken },
  });
  const unit = unitIn(output);
  for (const line of ['DynamicUser=yes', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'Restart=on-failure'])
    expect(unit).toContain(`\n${line}\n`);
  expect(unit).toMatch(/\nRestartSec=\d\n/);
  expect(unit).toContain('\nTimeoutStopSec=15\n');
  // For services at sockets of Unix, for .local names, and for what is told to systemd.
  expect(unit).toMatch(/\nRestrictAddressFamilies=.*\bAF_UNIX\n/);
  expect(unit).toContain('\nExecReload=/bin/kill -HUP $MAINPID\n');
  expect(unit).toContain(
    `ExecStart="${process.execPath}" "/opt/${NAME}/agent.js" "labels" "3000" "--label" "rate=5%%"\n`,
  );
  expect(unit).toContain(`EnvironmentFile=/etc/${NAME}.env\n`);
});

test('a service has the time to finish requests that its agent has, and tells systemd how it is where that can be', async () => {
  const unitWith = async (path: string) => {
    const env = { TUNNEL_AUTHTOKEN: authtoken, AGENT_DRAIN_MS: '600000', PATH: path };
    return unitIn((await install({ args: ['--dry-run', '--no-start', 'http', '3000'], env })).output);
  };
  const [bin, others] = [join(place.path, 'bin'), join(place.path, 'others')];
  await mkdir(others);
  for (const name of ['sh', 'cat', 'sed', 'uname', 'cksum', 'cut', 'id', 'basename', 'dirname', 'node'])
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${name}`])
        .toString()
        .trim(),
      join(others, name),
    );
  const without = await unitWith(`${bin}:${others}`);
  expect(without).toContain('\nTimeoutStopSec=608\n');
  expect(without).not.toMatch(/Type=|Watchdog/);
  symlinkSync('/bin/true', join(others, 'systemd-notify'));
  expect(await unitWith(`${bin}:${others}`)).toContain('\nType=notify\nNotifyAccess=all\nWatchdogSec=120\n');
});

test('what was installed runs, is installed again without being told anything, and is taken away', async () => {
  const token = await newAuthtoken();
  const env = { TUNNEL_AUTHTOKEN: token, AGENT_NAME: 'a service' };
  const first = await install({ args: ['--user', 'http', '127.0.0.1:1'], env });
  expect([first.code, first.output]).toEqual([0, expect.stringContaining(`journalctl --user -u ${NAME}`)]);
  expect(systemctlWas()).toEqual(['--user daemon-reload', `--user enable ${NAME}`, `--user restart ${NAME}`]);
  expect(statSync(environmentFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(unitFile, 'utf8')).not.toContain(token);

  const agent = startUnit();
  try {
    await eventually(async () => {
      const { body } = await gateway.graphql('{ agents(online: true) { nodes { name } } }');
      const names = body.data.agents.nodes.map(({ name }: { name: string }) => name);
      expect(names).toContain('a service');
    });
  } finally {
    agent.kill('SIGKILL');
  }

  const before = [readFileSync(unitFile, 'utf8'), readFileSync(environmentFile, 'utf8')];
  writeFileSync(join(directory, 'agent.js'), 'an older one');
  expect(await install({ args: ['--user'] })).toMatchObject({ code: 0 });
  expect([readFileSync(unitFile, 'utf8'), readFileSync(environmentFile, 'utf8')]).toEqual(before);
  expect(statSync(join(directory, 'agent.js')).size).toBeGreaterThan(10_000);

  expect(await install({ args: ['--user', '--uninstall'] })).toMatchObject({ code: 0 });
  expect([existsSync(unitFile), existsSync(directory)]).toEqual([false, false]);
  expect(systemctlWas()).toContain(`--user disable --now ${NAME}`);
});

test('a saved script reads the authtoken from its standard input', async () => {
  const file = join(place.path, 'install.sh');
  writeFileSync(file, script);
  const args = ['--user', '--service', 'second-agent', '--no-start', '--authtoken-stdin', 'tcp', '22'];
  expect(await install({ file, args, input: `${authtoken}\n` })).toMatchObject({ code: 0 });
  const written = readFileSync(join(home, '.local/share/second-agent/agent.env'), 'utf8');
  expect(written).toContain(`TUNNEL_AUTHTOKEN='${authtoken}'\n`);
  expect(systemctlWas()).not.toContain('--user restart second-agent');
});

test('the lines of the dashboard are such that a shell runs them', async () => {
  const { body } = await gateway.graphql('{ gatewayInfo { agentAddress needsCa apiNeedsCa caFile } }');
  const secret = `TUNNEL_AUTHTOKEN=${authtoken}`;
  const lines = agentLines(body.data.gatewayInfo, gateway.api, secret, labelsCommand({ app: "the shop's" }));
  const sh = (line: string) =>
    promisify(execFile)('/bin/sh', ['-c', line], { cwd: home, env: { PATH: process.env.PATH, HOME: home } });
  const { stdout } = await sh(lines.service.replace(' -- ', ' -- --user --dry-run '));
  expect(unitIn(stdout)).toContain('"labels" "3000" "--label" "app=the shop\'s"\n');
  // With no such command the agent says what there is, which proves that it was downloaded and begins.
  await expect(sh(lines.once.replace('labels 3000', 'fly'))).rejects.toThrow('There is no command "fly"');
});

test('systemd finds nothing wrong with the unit', async ({ skip }) => {
  const { output } = await install({
    args: ['--dry-run', '--no-start', 'http', '3000'],
    env: { TUNNEL_AUTHTOKEN: authtoken },
  });
  const file = join(place.path, `${NAME}.service`);
  writeFileSync(file, unitIn(output).replaceAll(`/opt/${NAME}/agent.js`, process.execPath));
  const verified = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file]).catch((error) => error);
  if (verified.code === 'ENOENT') return skip('there is no systemd-analyze');
  expect(verified.stderr.split('\n').filter((line: string) => line.includes(NAME))).toEqual([]);
});

/** The unit in the output of a dry run. */
function unitIn(output: string): string {
  const [, unit = ''] = /\.service \(mode 644\):\n((?: {2}.*\n)+)/.exec(output) ?? [];
  return unit.replace(/^ {2}/gm, '');
}

/** Starts the command of the written unit with its environment file, as systemd would. */
function startUnit() {
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(readFileSync(unitFile, 'utf8')) ?? [];
  const line = `set -a; . '${environmentFile}'; exec ${command}`;
  return spawn('/bin/sh', ['-c', line], {
    env: { AGENT_STATE_FILE: join(place.path, 'tunnels.json') },
    stdio: 'ignore',
  });
}
