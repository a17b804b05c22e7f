// The installation of packages: repeated when the lock file changes or it failed, and by one process at a time.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasProc, newZombie } from '../support/agents/zombie.ts';
import { everything, smallRepository } from './small-repository.ts';

const repository = smallRepository();
const { write, program, environment, boot, calls } = repository;

test('another lock file means another installation, another schema another client', async () => {
  await boot('build.js');
  calls();
  write('package-lock.json', '{ }');
  await boot('build.js');
  expect(calls()).toEqual(everything);
  write('prisma/schema.prisma', '// something');
  await boot('build.js');
  expect(calls()).toEqual(['prisma generate', 'tsc', 'gateway']);
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
  renameSync(join(repository.root, 'node_modules'), join(repository.root, 'dist/.packages-before'));
  expect((await boot('start.js')).stdout).toBe('first\n');
  expect(calls()).toEqual([]);
  expect(existsSync(join(repository.root, 'node_modules/.bin/tsc'))).toBe(true);
});

test('another major version of Node needs no other packages', async () => {
  await boot('build.js');
  calls();
  const another = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '99.0.0' } })`;
  const env = { ...environment(), NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(another)}` };
  const started = await promisify(execFile)(process.execPath, [join(repository.root, 'src/boot/start.js')], { env });
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
  rmSync(join(repository.root, 'node_modules'), { recursive: true });
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
  expect(existsSync(join(repository.root, 'dist/.preparing'))).toBe(false);
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
  program('bin/npm', [`echo $$ > ${repository.root}/npm-pid`, 'exec sleep 60']);
  const child = spawn(process.execPath, [join(repository.root, 'src/boot/build.js')], {
    env: environment(),
    stdio: 'ignore',
  });
  repository.children.push(child);
  const pidFile = join(repository.root, 'npm-pid');
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8'), { timeout: 10_000 }).toBeTruthy();
  const npm = Number(readFileSync(pidFile, 'utf8'));
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(() => process.kill(npm, 0)).toThrow('ESRCH');
  expect(existsSync(join(repository.root, 'dist/.preparing'))).toBe(false);
});

test('a tool gets the arguments after its name, and an unknown one is answered with those there are', async () => {
  write('src/tools/echo.ts', 'declare const process: { argv: string[] };\nconsole.log(process.argv.slice(2).join());');
  expect((await boot('run.js', 'echo', 'one', '--two')).stdout).toBe('one,--two\n');
  await expect(boot('run.js', 'ehco')).rejects.toMatchObject({
    code: 1,
    stderr: 'No tool is called "ehco". There is: echo\n',
  });
});
