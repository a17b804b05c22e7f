// `npm start` prepares the repository: it installs, generates, compiles and builds what has changed, and nothing else.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everything, smallRepository } from './small-repository.ts';

const repository = smallRepository();
const { write, boot, build, calls } = repository;

test('a start on a fresh clone prints to standard output only what the gateway prints', async () => {
  const { stdout, stderr } = await boot('start.js');
  expect(stdout).toBe('first\n');
  expect(stderr.split('\n')).toEqual([
    'Installing packages (npm ci)',
    'Generating the database client (prisma generate)',
    'Compiling (tsc)',
    'Bundling the gateway',
    'Bundling the agent',
    'Building the dashboard',
    '',
  ]);
  expect(calls()).toEqual(everything);
});

test('the second time nothing is done, said or written', async () => {
  await build();
  const before = readdirSync(join(repository.root, 'dist'));
  expect(await boot('start.js')).toEqual({ stdout: 'first\n', stderr: '' });
  expect(calls()).toEqual([]);
  expect(readdirSync(join(repository.root, 'dist'))).toEqual(before);
});

test('a changed source is compiled again', async () => {
  await build();
  write('src/greeting.ts', `export const greeting: string = 'second';`);
  expect((await boot('start.js')).stdout).toBe('second\n');
  expect(calls()).toEqual(['tsc', 'gateway']);
  write('agent/src/main.ts', '// another');
  await boot('build.js');
  expect(calls()).toEqual(['bundle']);
});

test('the dashboard is built again when it, or what it may ask, changes, and only it', async () => {
  await build();
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
  rmSync(join(repository.root, 'dist/dashboard'), { recursive: true });
  await boot('build.js');
  expect(calls()).toEqual(['dashboard']);
});

test('a server that is compiled again leaves the dashboard where it is', async () => {
  await build();
  write('src/greeting.ts', `export const greeting: string = 'second';`);
  await boot('build.js');
  expect(existsSync(join(repository.root, 'dist/dashboard/assets/main-1234.js'))).toBe(true);
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
  expect(existsSync(join(repository.root, 'dist/old/gone.js'))).toBe(true);
  rmSync(join(repository.root, 'src/old'), { recursive: true });
  await boot('build.js');
  expect(existsSync(join(repository.root, 'dist/old/gone.js'))).toBe(false);
  expect(existsSync(join(repository.root, 'dist/bundle/main.js'))).toBe(true);
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
