// The scripts of src/boot in a small repository of their own: real processes, the real compiler, and stand-ins for npm
// and prisma that need no network and write down each call.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hasProc, newZombie } from '../support/agents/zombie.ts';

const real = resolve(import.meta.dirname, '../..');
let root: string;
let children: ChildProcess[];

beforeEach(() => {
  children = [];
  root = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-boot-')));
  cpSync(join(real, 'src/boot'), join(root, 'src/boot'), { recursive: true });
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{}');
  write('prisma.config.ts', 'export default {};');
  write('src/protocol/package.json', '{ "type": "module" }');
  write('agent/package.json', '{ "type": "module" }');
  write('agent/default-policy.json', '{}');
  write('agent/src/main.ts', '');
  write('agent/build.js', `import { appendFileSync } from 'node:fs';\nappendFileSync('calls', 'bundle\\n');`);
  write('schema.graphql', 'type Query { it: ID }');
  write('src/dashboard/main.tsx', '');
  write(
    'src/dashboard/build.js',
    [
      `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';`,
      `appendFileSync('calls', 'dashboard\\n');`,
      `mkdirSync('dist/dashboard/assets', { recursive: true });`,
      `writeFileSync('dist/dashboard/assets/main-1234.js', '');`,
      `mkdirSync('src/dashboard/generated', { recursive: true });`,
      `writeFileSync('src/dashboard/generated/operations.ts', String(Date.now()));`,
    ].join('\n'),
  );
  write('prisma/schema.prisma', '// nothing');
  write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: { module: 'nodenext', target: 'es2023', types: [], rootDir: 'src', outDir: 'dist' },
      include: ['src'],
      exclude: ['src/boot', 'src/dashboard'],
    }),
  );
  write('src/main.ts', `import { greeting } from './greeting.js';\nconsole.log(greeting);`);
  write('src/greeting.ts', `export const greeting: string = 'first';`);
  program('bin/npm', [
    `echo "npm $*" >> ${root}/calls`,
    'sleep 0.3',
    `mkdir -p node_modules/.bin && cp ${root}/bin/prisma ${root}/bin/tsc node_modules/.bin/`,
  ]);
  program('bin/prisma', ['echo "prisma $*" >> calls', 'echo chatter']);
  program('bin/tsc', [
    'echo tsc >> calls',
    `exec "${process.execPath}" "${real}/node_modules/typescript/bin/tsc" "$@"`,
  ]);
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function program(path: string, lines: string[]) {
  write(path, ['#!/bin/sh', ...lines].join('\n'));
  chmodSync(join(root, path), 0o755);
}

const environment = () => ({ ...process.env, PATH: [join(root, 'bin'), process.env.PATH].join(delimiter) });

/** Runs one of the scripts to its end; rejects when that is a failure. */
const boot = (script: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(root, 'src/boot', script), ...args], { env: environment() });

/** What was run since the last call of this. */
function calls() {
  const file = join(root, 'calls');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  return lines;
}

/** What a fresh clone needs, in its order. */
const everything = ['npm ci --include=dev --loglevel=warn', 'prisma generate', 'tsc', 'bundle', 'dashboard'];

test('a start on a fresh clone prints to standard output only what the gateway prints', async () => {
  const { stdout, stderr } = await boot('start.js');
  expect(stdout).toBe('first\n');
  expect(stderr.split('\n')).toEqual([
    'Installing packages (npm ci)',
    'Generating the database client (prisma generate)',
    'Compiling (tsc)',
    'Bundling the agent',
    'Building the dashboard',
    '',
  ]);
  expect(calls()).toEqual(everything);
});

test('the second time nothing is done, said or written', async () => {
  await boot('build.js');
  calls();
  const before = readdirSync(join(root, 'dist'));
  expect(await boot('start.js')).toEqual({ stdout: 'first\n', stderr: '' });
  expect(calls()).toEqual([]);
  expect(readdirSync(join(root, 'dist'))).toEqual(before);
});

test('a changed source is compiled again', async () => {
  await boot('build.js');
  calls();
  write('src/greeting.ts', `export const greeting: string = 'second';`);
  expect((await boot('start.js')).stdout).toBe('second\n');
  expect(calls()).toEqual(['tsc']);
  write('agent/src/main.ts', '// another');
  await boot('build.js');
  expect(calls()).toEqual(['bundle']);
});

test('the dashboard is built again when it, or what it may ask, changes, and only it', async () => {
  await boot('build.js');
  calls();
  for (const [file, text] of [
    ['src/dashboard/screens/new.tsx', ''],
    ['src/dashboard/main.tsx', '// another'],
    ['schema.graphql', 'type Query { it: String }'],
  ] as const) {
    write(file, text);
    await boot('build.js');
    expect(calls(), file).toEqual(['dashboard']);
  }
  await boot('build.js');
  expect(calls()).toEqual([]);
  rmSync(join(root, 'dist/dashboard'), { recursive: true });
  await boot('build.js');
  expect(calls()).toEqual(['dashboard']);
});

test('a server that is compiled again leaves the dashboard where it is', async () => {
  await boot('build.js');
  write('src/greeting.ts', `export const greeting: string = 'second';`);
  await boot('build.js');
  expect(existsSync(join(root, 'dist/dashboard/assets/main-1234.js'))).toBe(true);
});

test('a dashboard that cannot be built ends the start, and says why', async () => {
  write('src/dashboard/build.js', `console.error('screens/a.graphql:3: no such field');\nprocess.exitCode = 1;`);
  const failed = await boot('start.js').catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/a\.graphql:3: no such field\nCannot run: "Building the dashboard" failed/),
  });
});

test('a source that is removed leaves dist', async () => {
  write('src/old/gone.ts', 'export {};');
  await boot('build.js');
  expect(existsSync(join(root, 'dist/old/gone.js'))).toBe(true);
  rmSync(join(root, 'src/old'), { recursive: true });
  await boot('build.js');
  expect(existsSync(join(root, 'dist/old/gone.js'))).toBe(false);
  expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
});

test('another lock file means another installation, another schema another client', async () => {
  await boot('build.js');
  calls();
  write('package-lock.json', '{ }');
  await boot('build.js');
  expect(calls()).toEqual(everything);
  write('prisma/schema.prisma', '// something');
  await boot('build.js');
  expect(calls()).toEqual(['prisma generate', 'tsc']);
});

test('code that cannot be compiled is shown, ends the start, and is found again the next time', async () => {
  write('src/greeting.ts', 'export const greeting: = "text";');
  for (let time = 0; time < 2; time++) {
    const failed = await boot('start.js').catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed).toHaveProperty('stderr', expect.stringContaining('src/greeting.ts(1,24): error TS1110'));
    expect(failed).toHaveProperty('stderr', expect.stringContaining('"Compiling (tsc)" failed with exit code'));
  }
});

test('a failed installation is tried again the next time', async () => {
  program('bin/npm', ['echo no network >&2', 'exit 7']);
  const failed = await boot('build.js').catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/no network\nCannot run: "Installing packages \(npm ci\)" failed with exit code 7/),
  });
  await expect(boot('build.js')).rejects.toMatchObject({ code: 1 });
});

test('an installation that fails leaves the one that there is', async () => {
  await boot('build.js');
  write('package-lock.json', '{ }');
  program('bin/npm', ['echo no network >&2', 'exit 7']);
  await expect(boot('start.js')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('no network') });
  write('package-lock.json', '{}');
  expect(await boot('start.js')).toEqual({ stdout: 'first\n', stderr: '' });
});

test('a process that died while it put packages in place left them to be put back', async () => {
  await boot('build.js');
  calls();
  renameSync(join(root, 'node_modules'), join(root, 'dist/.packages-before'));
  expect((await boot('start.js')).stdout).toBe('first\n');
  expect(calls()).toEqual([]);
  expect(existsSync(join(root, 'node_modules/.bin/tsc'))).toBe(true);
});

test('another major version of Node needs no other packages', async () => {
  await boot('build.js');
  calls();
  const another = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '99.0.0' } })`;
  const env = { ...environment(), NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(another)}` };
  const started = await promisify(execFile)(process.execPath, [join(root, 'src/boot/start.js')], { env });
  expect([started.stdout, calls()]).toEqual(['first\n', []]);
});

test('packages without those for development are enough to run, and not to test', async () => {
  const used = { 'node_modules/used': { version: '1.0.0' } };
  write(
    'package-lock.json',
    JSON.stringify({ packages: { ...used, 'node_modules/test': { version: '1', dev: true } } }),
  );
  await boot('build.js');
  calls();
  rmSync(join(root, 'node_modules'), { recursive: true });
  write('node_modules/.package-lock.json', JSON.stringify({ packages: used })); // As `npm ci --omit=dev` leaves it.
  expect(await boot('start.js')).toEqual({ stdout: 'first\n', stderr: '' });
  expect(calls()).toEqual([]);
  await boot('build.js');
  expect(calls()).toEqual(everything.slice(0, 1));
});

test('of several that start at once one prepares, and all run', async () => {
  const started = await Promise.all(Array.from({ length: 4 }, () => boot('start.js')));
  expect(started.map(({ stdout }) => stdout)).toEqual(Array(4).fill('first\n'));
  expect(calls()).toEqual(everything);
});

test('a process that died while preparing is not waited for', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  write(`dist/.preparing/${pid}`, '');
  const { stdout, stderr } = await boot('start.js');
  expect(stdout).toBe('first\n');
  expect(stderr).not.toContain('Waiting');
  expect(existsSync(join(root, 'dist/.preparing'))).toBe(false);
});

test.runIf(hasProc)(
  'a process that ended while preparing, and is not asked for its exit code, is not waited for',
  async () => {
    const { pid } = await newZombie();
    write(`dist/.preparing/${pid}`, '');
    const { stdout, stderr } = await boot('start.js');
    expect(stdout).toBe('first\n');
    expect(stderr).not.toContain('Waiting');
  },
);

test('a preparation that is asked to end takes its programs along, and lets go', async () => {
  program('bin/npm', [`echo $$ > ${root}/npm-pid`, 'exec sleep 60']);
  const child = spawn(process.execPath, [join(root, 'src/boot/build.js')], { env: environment(), stdio: 'ignore' });
  children.push(child);
  const pidFile = join(root, 'npm-pid');
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8'), { timeout: 10_000 }).toBeTruthy();
  const npm = Number(readFileSync(pidFile, 'utf8'));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(() => process.kill(npm, 0)).toThrow('ESRCH');
  expect(existsSync(join(root, 'dist/.preparing'))).toBe(false);
});

test('a tool gets the arguments after its name, and an unknown one is answered with those there are', async () => {
  write('src/tools/echo.ts', 'declare const process: { argv: string[] };\nconsole.log(process.argv.slice(2).join());');
  expect((await boot('run.js', 'echo', 'one', '--two')).stdout).toBe('one,--two\n');
  await expect(boot('run.js', 'ehco')).rejects.toMatchObject({
    code: 1,
    stderr: 'No tool is called "ehco". There is: echo\n',
  });
});
