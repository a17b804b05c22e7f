// The agent as a service: where its secrets and its log are, what it tells systemd, and how it reads its configuration again.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LogFile } from '../../../agent/src/log-file.ts';
import { readConfig } from '../../../agent/src/settings/config.ts';
import { eventually } from '../../support/eventually.ts';
import { agentLab } from '../agent-lab.ts';
import { bundledAgent, newDirectory, runToEnd, startProcess } from '../agents.ts';

const lab = agentLab();

function directory(): string {
  const { path, remove } = newDirectory();
  onTestFinished(remove);
  return path;
}

describe('a secret may be in a file', () => {
  const secrets = [
    ['TUNNEL_AUTHTOKEN', ({ authtoken }: ReturnType<typeof readConfig>) => authtoken],
    ['TUNNEL_PROVISIONING_KEY', ({ provisioning }: ReturnType<typeof readConfig>) => provisioning?.key],
    ['AGENT_API_TOKEN', ({ apiToken }: ReturnType<typeof readConfig>) => apiToken],
  ] as const;
  const others = { GATEWAY_API: 'https://gateway.example.com:4000' };
  const secret = 'a-secret-of-the-tests';

  test.each(secrets)('%s, which a variable or systemd names', (name, shown) => {
    const path = directory();
    writeFileSync(join(path, name), `${secret}\n`);
    const read = (env: Record<string, string>) => shown(readConfig({ ...others, ...env }, path));
    expect(read({ [`${name}_FILE`]: name })).toBe(secret);
    expect(read({ [`${name}_FILE`]: join(path, name) })).toBe(secret);
    expect(read({ CREDENTIALS_DIRECTORY: path })).toBe(secret);
    expect(read({ CREDENTIALS_DIRECTORY: path, [name]: 'a-secret-of-its-own' })).toBe('a-secret-of-its-own');
    expect(read({ CREDENTIALS_DIRECTORY: '/nowhere', [name]: '' })).toBeFalsy();
  });

  test.each(secrets)('%s, and what is wrong with it is told by name', (name) => {
    const path = directory();
    writeFileSync(join(path, 'empty'), '\n');
    writeFileSync(join(path, 'wrong'), 'with blanks in the middle\n');
    const variable = `${name}_FILE`;
    const wrong = (env: Record<string, string>) => {
      expect(() => readConfig({ ...others, ...env }, path)).toThrow(new RegExp(`^(${variable}|${name}) must `, 'm'));
      expect(() => readConfig({ ...others, ...env }, path)).not.toThrow(/with blanks|a-secret/);
    };
    wrong({ [variable]: 'nowhere' });
    wrong({ [variable]: 'empty' });
    wrong({ [variable]: 'wrong' });
    wrong({ [variable]: 'wrong', [name]: secret });
  });
});

describe('the log', () => {
  test('goes to a file instead of standard error, from the first line to the last', async () => {
    const path = directory();
    const agent = await startProcess(path, ['start'], { TUNNEL_AUTHTOKEN: 'none', LOG_FILE: 'agent.log' });
    await agent.stdout.find(/^ready/);
    expect(await agent.kill()).toBe(0);
    expect(agent.stderr.all).toEqual([]);
    const lines = readFileSync(join(path, 'agent.log'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(expect.arrayContaining(['stopping']));
    expect(statSync(join(path, 'agent.log')).mode & 0o777).toBe(0o600);
  });

  test('is on standard error while the file cannot be written, and the agent runs', async () => {
    const env = { TUNNEL_AUTHTOKEN: 'none', LOG_FILE: '/dev/full' };
    const agent = await startProcess(directory(), ['start'], env);
    await agent.stderr.find(/^LOG_FILE cannot be written; it is tried again: .*ENOSPC/);
    await agent.stdout.find(/^ready/);
    expect(await agent.kill()).toBe(0);
    expect(agent.stderr.all.filter((line) => line.startsWith('LOG_FILE'))).toHaveLength(1);
    expect(agent.stderr.all.some((line) => line.includes('stopping'))).toBe(true);
  });

  const newLog = (keep: number, now?: () => number) => {
    const file = join(directory(), 'agent.log');
    const otherwise: string[] = [];
    const log = new LogFile({ file, maxBytes: 20, keep }, (line) => otherwise.push(line), now);
    return { file, log, otherwise, read: (suffix = '') => readFileSync(`${file}${suffix}`, 'utf8') };
  };

  test('begins a new file when one is full, and keeps as many as it is told', async () => {
    const { file, log, otherwise, read } = newLog(2);
    for (let line = 1; line <= 7; line++) {
      log.write(`this is line ${line}\n`);
      await log.close();
    }
    expect([read(), read('.1'), read('.2')]).toEqual(['this is line 7\n', 'this is line 6\n', 'this is line 5\n']);
    expect(existsSync(`${file}.3`)).toBe(false);
    log.write('short\n');
    log.write('a line that is longer than a whole file may be\n');
    await log.close();
    expect([read(), read('.1')]).toEqual(['a line that is longer than a whole file may be\n', 'short\n']);
    expect(otherwise).toEqual([]);
  });

  test('opens its file again where others have moved it, and after a failure once in a while', async () => {
    let time = 0;
    const { file, log, otherwise, read } = newLog(1, () => time);
    const write = async (line: string) => {
      log.write(`${line}\n`);
      await log.close();
    };
    await write('one');
    execFileSync('mv', [file, `${file}.moved`]);
    await write('two');
    expect([read('.moved'), read()]).toEqual(['one\n', 'two\n']);
    execFileSync('sh', ['-c', `rm "${file}" && mkdir "${file}"`]);
    await write('three');
    await write('four');
    expect(otherwise).toEqual([expect.stringMatching(/^LOG_FILE cannot be written.*EISDIR/), 'three\n', 'four\n']);
    time += 15_000;
    await write('again');
    expect(otherwise.slice(3)).toEqual(['again\n']);
    execFileSync('rmdir', [file]);
    await write('five');
    expect(otherwise.at(-1)).toBe('five\n');
    time += 15_000;
    await write('six');
    expect(read()).toBe('six\n');
  });

  test.each([
    ['LOG_FILE_MAX_MB', '0'],
    ['LOG_FILE_MAX_MB', '1e3'],
    ['LOG_FILE_KEEP', '0'],
    ['LOG_FILE_KEEP', '101'],
  ])('%s=%s is a mistake', (name, value) => {
    expect(() => readConfig({ [name]: value }, '/')).toThrow(new RegExp(`^${name} must be a number from 1 to`));
  });
});

/** Whether programs are there that not every machine has. */
const has = (...programs: string[]) =>
  programs.every((program) => {
    try {
      execFileSync('sh', ['-c', `command -v ${program}`]);
      return true;
    } catch {
      return false;
    }
  });

/** Node has no datagram sockets of Unix. */
const LISTEN = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('listening', flush=True)
while True:
    print(s.recv(4096).decode().replace('\\n', ' '), flush=True)
`;

async function startManager(path: string): Promise<{ socket: string; said: string[] }> {
  const socket = join(path, 'notify');
  const said: string[] = [];
  const manager = spawn('python3', ['-c', LISTEN, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void manager.kill());
  createInterface({ input: manager.stdout }).on('line', (line) => said.push(line));
  await eventually(() => expect(said).toEqual(['listening']));
  return { socket, said };
}

describe.skipIf(!has('systemd-notify', 'python3'))('systemd is told', () => {
  test('that the agent runs, again and again that it lives, that it reads its configuration, and that it ends', async () => {
    const path = directory();
    const { socket, said } = await startManager(path);
    const env = {
      TUNNEL_AUTHTOKEN: 'none',
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: '600000',
      PATH: process.env.PATH ?? '',
    };
    const agent = await startProcess(path, ['start'], env);
    const countOf = (word: RegExp) => said.filter((line) => word.test(line)).length;
    await eventually(() => expect(countOf(/READY=1/)).toBe(1));
    await eventually(() => expect(countOf(/WATCHDOG=1/)).toBeGreaterThan(2));
    process.kill(agent.pid, 'SIGHUP');
    await eventually(() => expect(countOf(/READY=1/)).toBe(2));
    expect(await agent.kill()).toBe(0);
    const told = said.filter((line) => /^(READY|RELOADING|STOPPING)/.test(line)).map((line) => line.split('=')[0]);
    expect(told).toEqual(['READY', 'RELOADING', 'READY', 'STOPPING']);
    expect(agent.stderr.all.join('\n')).not.toContain('systemd');
  });

  test('no signs of life that another process is asked for', async () => {
    const path = directory();
    const { socket, said } = await startManager(path);
    const env = { TUNNEL_AUTHTOKEN: 'none', NOTIFY_SOCKET: socket, WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' };
    const agent = await startProcess(path, ['start'], { ...env, PATH: process.env.PATH ?? '' });
    await eventually(() => expect(said.join()).toContain('READY=1'));
    expect(await agent.kill()).toBe(0);
    expect(said.join()).not.toContain('WATCHDOG');
  });
});

test('an agent whose systemd cannot be told says so once, and runs', async () => {
  const env = { TUNNEL_AUTHTOKEN: 'none', NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '20000', PATH: '/nowhere' };
  const agent = await startProcess(directory(), ['start'], env);
  await agent.stderr.find(/systemd cannot be told/);
  await agent.stdout.find(/^ready/);
  expect(await agent.kill()).toBe(0);
  expect(agent.stderr.all.filter((line) => line.includes('systemd cannot be told'))).toHaveLength(1);
});

/**
 * Runs a program in a terminal, closes that once the program says that it is ready, and waits for its end. How it ends, where the
 * terminal is gone, is Node's affair.
 */
const IN_A_TERMINAL = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b''
while b'ready api=' not in said:
    said += os.read(fd, 4096)
os.close(fd)
os.waitpid(pid, 0)
print('ended')
`;

describe('SIGHUP', () => {
  const endpoint = (name: string) =>
    `  - { name: ${name}, url: "http://${name}.hang-up.tunnel.localhost", upstream: { url: "http://${lab.service.at}" } }\n`;
  const fileOf = (...names: string[]) => `version: 3\nendpoints:\n${names.map(endpoint).join('')}`;

  test('has the configuration read again, and what is wrong with it changes nothing', async () => {
    const path = lab.directory();
    const file = join(path, 'agent.yaml');
    const log = join(path, 'agent.log');
    writeFileSync(file, fileOf('one'));
    writeFileSync(join(path, 'token'), lab.environment.TUNNEL_AUTHTOKEN ?? '');
    const { TUNNEL_AUTHTOKEN, ...others } = lab.environment;
    const env = { ...others, TUNNEL_AUTHTOKEN_FILE: 'token', LOG_FILE: log, LOG_LEVEL: 'info' };
    const agent = await startProcess(path, ['start', '--config', 'agent.yaml', '--all'], env);
    await agent.stdout.find(/^one: forwarding http:\/\/one/);
    writeFileSync(file, 'version: 4\n');
    process.kill(agent.pid, 'SIGHUP');
    await eventually(() => expect(readFileSync(log, 'utf8')).toContain('the configuration is not valid'));
    execFileSync('mv', [log, `${log}.moved`]);
    writeFileSync(file, fileOf('one', 'two'));
    process.kill(agent.pid, 'SIGHUP');
    await agent.stdout.find(/^two: forwarding http:\/\/two/);
    expect(agent.stdout.all.filter((line) => line.startsWith('one:'))).toEqual([
      expect.stringMatching(/http:\/\/one\.hang-up/),
      expect.stringMatching(/http:\/\/one\.hang-up/),
    ]);
    await eventually(() => expect(existsSync(log)).toBe(true));
    expect(await agent.kill()).toBe(0);
  });

  test.skipIf(!has('python3'))('is the end where it comes from the terminal, which is closed', async () => {
    const env = {
      PATH: process.env.PATH,
      TUNNEL_AUTHTOKEN: 'none',
      GATEWAY_ADDR: '127.0.0.1:1',
      AGENT_API_ADDR: '127.0.0.1:0',
    };
    const agent = [process.execPath, await bundledAgent(), 'start'];
    const terminal = spawn('python3', ['-c', IN_A_TERMINAL, ...agent], {
      cwd: directory(),
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(terminal.stdout)).toBe('ended\n');
  });
});

test('a bundle has all that is known of an agent, and no secret', async () => {
  const path = lab.directory();
  const apiToken = 'a-token-of-the-local-api';
  const key = 'a-provisioning-key-of-the-tests';
  const env = {
    ...lab.environment,
    AGENT_API_TOKEN: apiToken,
    TUNNEL_PROVISIONING_KEY: key,
    GATEWAY_API: 'https://user:secret-of-the-api@gateway.example.com',
    NO_PROXY: '*',
    HTTPS_PROXY: 'http://box:secret-of-the-proxy@proxy.example.com:3128',
    LOG_FILE: 'agent.log',
  };
  const agent = await startProcess(path, ['start'], env);
  const ready = await agent.stdout.find(/^ready api=/);
  const api = ready.slice('ready api='.length);
  const policy = {
    on_http_request: [{ actions: [{ type: 'basic-auth', config: { credentials: ['a:password-of-a'] } }] }],
  };
  const made = await fetch(`${api}/tunnels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ forwards_to: lab.service.at, policy }),
  });
  expect(made.status).toBe(200);
  const { url } = (await made.json()) as { url: string };
  const { host } = new URL(api);
  const { code, stdout } = await runToEnd(path, ['diagnose', '--bundle', 'bundle.json'], {
    ...env,
    AGENT_API_ADDR: host,
  });
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^bundle\.json has all/m) });
  const bundle = readFileSync(join(path, 'bundle.json'), 'utf8');
  expect(JSON.parse(bundle)).toMatchObject({
    versions: { node: process.version, agent: expect.any(String) },
    settings: {
      authtoken: '<secret>',
      apiToken: '<secret>',
      gateways: [lab.environment.GATEWAY_ADDR],
      proxies: [null],
    },
    diagnosis: { isReachable: true, lines: expect.arrayContaining([expect.stringMatching(/^ok {6}protocol/)]) },
    state: { hasIdentity: true, tunnels: [{ url, isResumed: true }] },
    status: { ready: true, tunnels: [{ url, status: 'active' }] },
    log: expect.arrayContaining([expect.stringContaining('"level":"info"')]),
    files: { [join(path, 'tunnels.json')]: { mode: '600' } },
  });
  expect(statSync(join(path, 'bundle.json')).mode & 0o777).toBe(0o600);
  const state = JSON.parse(readFileSync(join(path, 'tunnels.json'), 'utf8'));
  const device = JSON.parse(readFileSync(join(path, 'tunnels.device.json'), 'utf8'));
  const secrets = [
    ...[apiToken, key, lab.environment.TUNNEL_AUTHTOKEN, 'secret-of-the', 'password-of-a', device.id],
    ...[state.identity.cookie, state.identity.clientId, state.tunnels[0].resume.bindToken],
  ];
  for (const secret of secrets) expect(bundle).not.toContain(secret);
  await agent.kill();
  const alone = await runToEnd(path, ['diagnose', '--bundle', '/dev/null/b.json'], { TUNNEL_AUTHTOKEN: 'none' });
  expect(alone).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^--bundle \/dev\/null\/b\.json cannot be written: /),
  });
});
