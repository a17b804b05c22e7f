// The gateway as `npm run package` ships it: an archive that runs with Node alone, and the same as a package of npm.

import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, get } from 'node:http';
import { isBuiltin } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';

/** They write migrations and schema.graphql, in a checkout. */
const FOR_DEVELOPMENT = /^tools\/(migration|schema|schema-diff)\.js$/;
const isOfSource = (file: string) =>
  [file, file.replace(/\.js$/, '.ts')].some((name) => existsSync(join(root, 'src', name)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiled = readdirSync(join(root, 'dist'), { withFileTypes: true })
  .flatMap((entry) => {
    // Hidden entries are the workplace of the build; the dashboard is for browsers.
    if (entry.name.startsWith('.') || entry.name === 'dashboard') return [];
    if (!entry.isDirectory()) return entry.name;
    const below = readdirSync(join(root, 'dist', entry.name), { recursive: true, encoding: 'utf8' });
    return below.map((file) => `${entry.name}/${file}`);
  })
  // Soaks and benches bundle programs of theirs into dist, too.
  .filter((file) => file.endsWith('.js') && isOfSource(file) && !FOR_DEVELOPMENT.test(file));
/** What the compiled code imports by a package's name: at once, only when it is needed, by `createRequire` or by `lazyPackage`. */
const imported = compiled.flatMap((file) => {
  const text = readFileSync(join(root, 'dist', file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const found = text.matchAll(
    /(?:\bfrom |\bimport |\bimport\(|\brequire\(|\blazyPackage\(|createRequire\([^)]*\)\()\s*['"]([@a-z][^'"]*)['"]/g,
  );
  return [...found].map(([, specifier = '']) => ({ file, specifier })).filter(({ specifier }) => !isBuiltin(specifier));
});
/** What runs may be optional: it is installed unless somebody leaves it out. */
const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';

test('the compiled code imports nothing that is not a dependency', () => {
  expect(imported.length).toBeGreaterThan(50);
  const packages = imported.map(({ specifier }) => packageOf(specifier));
  expect(packages).toContain('@aws-sdk/client-kinesis'); // One that is loaded when it is needed.
  const missing = imported.filter(({ specifier }) => !(packageOf(specifier) in dependencies));
  expect(missing).toEqual([]);
});

test('every dependency is imported by the compiled code, so what only builds is none', () => {
  const packages = new Set(imported.map(({ specifier }) => packageOf(specifier)));
  expect(Object.keys(dependencies).filter((name) => !packages.has(name))).toEqual([]);
});

/** What runs of the archive gets besides its settings: no network, no packages, and a HOME in which nothing is. */
let home: string;
let unpacked: string;
let tarball: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'gateway-package-'));
  const made = join(home, 'made');
  mkdirSync(made);
  writeFileSync(join(made, 'of-somebody'), '');
  await run(process.execPath, [join(root, 'src/boot/package.js'), made], { env: process.env });
  const { name, version } = manifest;
  tarball = join(made, `${name}-${version}.tgz`);
  await run('tar', ['-xzf', join(made, `${name}-${version}.tar.gz`), '-C', home]);
  unpacked = join(home, `${name}-${version}`);
}, 120_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = promisify(execFile);
const environment = (settings: Record<string, string> = {}) => ({
  PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  HOME: join(home, 'empty'),
  ...freePorts,
  LOG_LEVEL: 'error',
  ...settings,
});
/** Runs a command of the archive to its end. @param from where it is unpacked. @returns its output and its exit code. */
async function command(given: string[], settings: Record<string, string> = {}, from = unpacked) {
  const env = environment(settings);
  return run(join(from, 'bin/tunnel-gateway'), given, { env, cwd: home }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: code as number, stdout: stdout as string, stderr: stderr as string }),
  );
}

/** Starts the gateway of the archive, and waits until it is ready. @param log takes the lines of its log. */
async function start(settings: Record<string, string>, from = unpacked, log?: string[]) {
  const child = spawn(join(from, 'bin/tunnel-gateway'), ['start'], {
    cwd: home,
    env: environment(settings),
    stdio: ['ignore', 'pipe', log ? 'pipe' : 'inherit'],
  }) as ChildProcessByStdio<null, Readable, Readable | null>;
  if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => log?.push(line));
  const exited = once(child, 'exit');
  const printed: string[] = [];
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    printed.push(line);
    if (line.startsWith('Dashboard: ')) break;
  }
  child.stdout.resume();
  const address = (name: string) => new RegExp(` ${name}=(\\S+)`).exec(printed.join('\n'))?.[1] ?? '';
  return { child, exited, printed, address };
}

test('the archive has at most 80 MB, and of packages those that have files beside their code alone', () => {
  const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
  const bytes = files.reduce((sum, file) => sum + statSync(join(unpacked, file)).size, 0);
  expect(bytes).toBeLessThan(80 * 2 ** 20);
  const { dependencies: shipped } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
  expect(Object.keys(shipped)).toEqual(
    expect.arrayContaining(['@electric-sql/pglite', '@node-rs/argon2', 'fs-native-extensions']),
  );
  expect(Object.keys(shipped).length).toBeLessThan(12);
  // Licences of what is shipped go with it.
  for (const name of Object.keys(shipped))
    expect(existsSync(join(unpacked, 'node_modules', name, 'package.json'))).toBe(true);
});

test('nothing else is removed from the directory that it is put into', () => {
  expect(readdirSync(dirname(tarball)).sort()).toEqual([
    'of-somebody',
    ...['', '.tar.gz', '.tgz'].map((end) => `${manifest.name}-${manifest.version}${end}`),
  ]);
});

test('everything that is loaded only when it is needed is there', async () => {
  const bundle = join(unpacked, 'dist/bundle');
  const codeOf = (file: string) => readFileSync(join(bundle, file), 'utf8');
  const files = readdirSync(bundle).filter((file) => /\.c?js$/.test(file));
  const targetsOf = (file: string) =>
    Array.from(
      codeOf(file).matchAll(/(?:\bimport|[\w$]*equire\w*)\("(\.\/[^"]+\.c?js)"\)/g),
      ([, target = '']) => target,
    );
  const tools = new Set(targetsOf('cli.js')); // They run when they are loaded.
  const targets = [...new Set(files.filter((file) => file !== 'cli.js').flatMap(targetsOf))];
  const loaded = targets.filter((target) => !tools.has(target));
  expect(loaded.length).toBeGreaterThan(20);
  expect(loaded).toContain('./package-tldts.cjs');
  const script = join(bundle, 'load-all.mjs');
  writeFileSync(
    script,
    `import './package-reflect-metadata.cjs';\nfor (const file of ${JSON.stringify(loaded)}) await import(file);\nprocess.exit();`,
  );
  await run(process.execPath, [script], { env: environment() });
  rmSync(script);
});

test('packages in CommonJS have the names that the code takes of them', async () => {
  const { files } = JSON.parse(readFileSync(join(root, 'dist/bundle/inputs.json'), 'utf8'));
  const chunkOf = (name: string) =>
    Object.keys(files).find((file) =>
      files[file].some((input: string) => input.startsWith('commonjs-package:') && input.includes(`/${name}/`)),
    );
  const taken = compiled.flatMap((file) => {
    const text = readFileSync(join(root, 'dist', file), 'utf8');
    const found = text.matchAll(/\{([\w\s,:]*)\} = await (?:\w+\([^(]*, )?import\('([@a-z][^']*)'\)/g);
    return Array.from(found, ([, names = '', name = '']) => ({
      chunk: chunkOf(name),
      names: names.match(/\w+(?=\s*[,:]|\s*$)/g) ?? [],
    }));
  });
  const wanted = taken.filter(({ chunk }) => chunk);
  expect(wanted.length).toBeGreaterThan(5);
  const script = join(unpacked, 'dist/bundle/names.mjs');
  writeFileSync(
    script,
    `for (const { chunk, names } of ${JSON.stringify(wanted)}) {
      const found = await import('./' + chunk);
      for (const name of names) if (!(name in found)) console.log(chunk, name);
    }
    process.exit();`,
  );
  expect((await run(process.execPath, [script], { env: environment() })).stdout).toBe('');
  rmSync(script);
});

test('commands tell what there is, and what is wrong', async () => {
  const { stdout } = await command(['version']);
  expect(stdout).toContain(`tunnel-gateway ${manifest.version} (Node ${process.versions.node}`);
  const help = await command(['help']);
  for (const name of ['start', 'check', 'upgrade', 'backup FILE', 'restore FILE', 'api-key', 'sign-in-link', 'agent'])
    expect(help.stdout).toContain(`\n  ${name}`);
  expect(await command(['strat'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no command strat.'),
  });
  expect(await command(['backup'])).toMatchObject({ code: 1, stderr: 'Say where to: tunnel-gateway backup FILE\n' });
});

test('a check finds what would keep it from starting, and leaves no trace', async () => {
  const data = join(home, 'checked');
  const right = await command(['check'], { DATA_DIR: data });
  expect(right).toMatchObject({ code: 0, stderr: '' });
  for (const line of right.stdout.trim().split('\n')) expect(line).toMatch(/^ok {4}\w+: /);
  expect(existsSync(data)).toBe(false);
  expect(await command(['check'], { API_PORT: 'high' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('API_PORT'),
  });
  writeFileSync(join(home, 'broken.crt'), 'no certificate');
  const wrong = await command(['check'], {
    TLS_DIR: home,
    DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/none',
    DATA_DIR: join(home, 'broken.crt/data'),
  });
  expect(wrong.code).toBe(1);
  for (const what of ['data', 'database', 'certificates'])
    expect(wrong.stdout).toMatch(new RegExp(`^WRONG ${what}: .`, 'm'));
  expect(wrong.stdout).toMatch(/^ok {4}ports: /m);
});

test('it serves visitors through its own agent, is backed up and restored', {
  timeout: 240_000,
}, async () => {
  const data = join(home, 'data');
  const settings = { DATA_DIR: data };
  const { child, exited, printed, address } = await start(settings);
  const service = createServer((_, response) => response.end('from the device')).listen(0, '127.0.0.1');
  await once(service, 'listening');
  let agent: ChildProcess | undefined;
  try {
    const api = address('api');
    for (const path of ['/dashboard/', '/docs', '/openapi.json'])
      expect((await fetch(api + path)).status, path).toBe(200);
    expect(printed.join('\n')).toContain('tunnel-gateway agent http 3000');
    const authtoken = printed.find((line) => line.startsWith('Authtoken: '))?.slice('Authtoken: '.length) ?? '';
    const { port } = service.address() as AddressInfo;
    agent = spawn(join(unpacked, 'bin/tunnel-gateway'), ['agent', 'http', String(port)], {
      env: {
        ...environment(),
        TUNNEL_AUTHTOKEN: authtoken,
        GATEWAY_ADDR: address('agent'),
        GATEWAY_CA: join(data, 'ca.pem'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let host = '';
    for await (const line of createInterface({ input: agent.stdout as Readable })) {
      host = /https?:\/\/([\w.-]+\.tunnel\.localhost)/.exec(line)?.[1] ?? '';
      if (host) break;
    }
    agent.stdout?.resume();
    expect(await visit(address('http'), host)).toBe('from the device');
    // A gateway of one process has nothing that could go on meanwhile.
    expect(await command(['upgrade'], settings)).toMatchObject({ code: 1, stderr: expect.stringContaining('WORKERS') });
  } finally {
    agent?.kill();
    service.close();
    child.kill('SIGTERM');
  }
  expect((await exited)[0]).toBe(0);

  const file = join(home, 'gateway.backup');
  expect(await command(['backup', file], settings)).toMatchObject({ code: 0, stderr: '' });
  const restored = { DATA_DIR: join(home, 'restored') };
  expect(await command(['restore', file], restored)).toMatchObject({ code: 0, stderr: '' });
  expect((await command(['sign-in-link'], restored)).stdout).toContain('/dashboard/sign-in#');
  const key = /^API key: (\S+)$/m.exec((await command(['api-key'], restored)).stdout)?.[1];
  const again = await start(restored);
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
  const status = await fetch(`${again.address('api')}/credentials`, { headers }).then(({ status }) => status);
  again.child.kill('SIGTERM');
  expect([status, (await again.exited)[0]]).toEqual([200, 0]);
});

const hasNotify = await run('systemd-notify', ['--version']).then(
  () => true,
  () => false,
);
if (!hasNotify)
  process.stderr.write('systemd-notify is not there (apt-get install systemd): nobody hears what it sends.\n');

/** What is sent to a socket as systemd's, a line each. Node has no such sockets, and Debian has perl. */
async function hearNotifications(path: string): Promise<{ heard: string[]; close(): void }> {
  const script = `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); $| = 1; print "listens\n";
    while (defined recv(S, $m, 4096, 0)) { $m =~ tr/\n/ /; print "$m\n" }`;
  const child = spawn('perl', ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const heard: string[] = [];
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  lines.on('line', (line) => heard.push(line.trim()));
  return { heard, close: () => void child.kill() };
}

test('of versions beside each other an upgrade makes its own the current one, a reload goes on with that, and systemd is told', {
  timeout: 300_000,
}, async () => {
  const opt = join(home, 'opt');
  const versions = ['0.1.0', '0.2.0'].map((version) => join(opt, version));
  for (const version of versions) {
    mkdirSync(version, { recursive: true });
    await run('tar', ['-xzf', tarball.replace(/tgz$/, 'tar.gz'), '-C', version, '--strip-components=1']);
  }
  const current = join(opt, 'current');
  symlinkSync('0.1.0', current);
  const socket = join(home, 'notify');
  const told = hasNotify ? await hearNotifications(socket) : undefined;
  const hears = async (...wanted: RegExp[]) => {
    if (!told) return;
    const states = () => told.heard.filter((line) => !/^(BARRIER|WATCHDOG)=1$/.test(line));
    await eventually(() => expect(states()).toEqual(wanted.map((each) => expect.stringMatching(each))));
  };
  const settings = { DATA_DIR: join(home, 'd'), WORKERS: '2' };
  const log: string[] = [];
  const systemd = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '3000000' };
  const more = { ...(told ? systemd : {}), UPGRADE_SETTLE_MS: '100', LOG_LEVEL: 'info' };
  const { child, exited } = await start({ ...settings, ...more }, current, log);
  const started = () =>
    log.filter((line) => line.includes('upgrade: starting')).map((line) => dirname(JSON.parse(line).exec));
  const bundleOf = (version: string) => join(realpathSync(opt), version, 'dist/bundle');
  try {
    await hears(/^READY=1$/);
    expect(await command(['upgrade'], settings, join(opt, '0.2.0'))).toEqual({
      code: 0,
      stdout: expect.stringContaining('current leads to it.'),
      stderr: '',
    });
    expect(readlinkSync(current)).toBe('0.2.0');
    expect(started()).toEqual([bundleOf('0.2.0')]);
    const reloaded = [/^RELOADING=1 MONOTONIC_USEC=[1-9]\d+$/, /^READY=1$/];
    await hears(/^READY=1$/, ...reloaded);

    rmSync(current);
    symlinkSync('0.1.0', current);
    child.kill('SIGHUP');
    const serves = () => log.filter((line) => line.includes('those before drain')).length;
    await eventually(() => expect(serves()).toBe(2), { timeout: 60_000 });
    expect(started()).toEqual([bundleOf('0.2.0'), bundleOf('0.1.0')]);
    if (told) await eventually(() => expect(told.heard).toContain('WATCHDOG=1'));
    child.kill('SIGTERM');
    await hears(/^READY=1$/, ...reloaded, ...reloaded, /^STOPPING=1$/);
    expect((await exited)[0]).toBe(0);
  } finally {
    child.kill('SIGKILL');
    told?.close();
  }
});

test('npm installs its tarball without a network, and the command runs', async () => {
  const cwd = join(home, 'installed');
  mkdirSync(cwd);
  const env = { ...environment(), npm_config_cache: join(home, 'npm') };
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball], { cwd, env });
  const { stdout } = await run(join(cwd, 'node_modules/.bin/tunnel-gateway'), ['check'], {
    env: { ...env, DATA_DIR: join(cwd, 'data') },
  });
  expect(stdout).toMatch(/^ok {4}database: embedded/m);
});

/** The body of a visit of a name. */
function visit(listener: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`http://${listener}/`, { headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve(body)).on('error', reject);
    }).on('error', reject);
  });
}
