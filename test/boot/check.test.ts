// `npm run check`: each of its steps ends with one line, below what it had to say.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { smallRepository } from './small-repository.ts';

const repository = smallRepository();
const { write, program, boot, calls } = repository;

beforeEach(() => {
  write('src/dashboard/codegen.js', '');
  write('src/tools/schema.ts', `console.log('compares');`);
  const options = { module: 'nodenext', target: 'es2023', types: [], noEmit: true, allowImportingTsExtensions: true };
  for (const place of ['test', 'agent', 'src/dashboard'])
    write(`${place}/tsconfig.json`, JSON.stringify({ compilerOptions: options, include: ['**/*'] }));
  write('src/dashboard/main.tsx', 'export {};');
  write('test/first.test.ts', `import { greeting } from '../src/greeting.ts';\nexport const text: string = greeting;`);
  program('bin/biome', ['echo "Checked 3 files"']);
});

test('what runs side by side is printed one after another, and nothing is bundled for it', async () => {
  // The compiler compiles, and finds all types right without a look: the other test has it look.
  const [, real = ''] = /^exec (.*)$/m.exec(readFileSync(join(repository.root, 'bin/tsc'), 'utf8')) ?? [];
  program('bin/tsc', [`case "$*" in *--noCheck*) exec ${real};; esac`]);
  const { stdout } = await boot('check.js');
  expect(stdout.split('\n')).toEqual([
    'ok     operations of the dashboard',
    'ok     types of the dashboard',
    'ok     types of the source and the tests',
    'Checked 3 files',
    'ok     format and lint',
    'compares',
    'ok     schema.graphql is current',
    'ok     types of the agent',
    '',
  ]);
  expect(calls().filter((call) => /gateway|bundle|dashboard/.test(call))).toEqual([]);
});

test('a step that fails fails the check, and the others are taken all the same', async () => {
  write('src/greeting.ts', 'export const greeting = 1;');
  program('bin/biome', ['echo "on standard output"', 'echo "on standard error" >&2', 'exit 3']);
  const { code, stdout } = await boot('check.js').catch((error) => error);
  expect(code).toBe(1);
  expect(stdout.split('\n')).toEqual([
    'ok     operations of the dashboard',
    'ok     types of the dashboard',
    expect.stringMatching(/^test\/first\.test\.ts\(2,14\): error TS2322/),
    'FAILED types of the source and the tests',
    'on standard output',
    'on standard error',
    'FAILED format and lint',
    'compares',
    'ok     schema.graphql is current',
    'ok     types of the agent',
    '',
  ]);
});
