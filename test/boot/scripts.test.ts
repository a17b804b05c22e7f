// Every script of package.json, every benchmark and every soak runs somewhere: in `npm test`, in `npm run soak -- long` or in .ci/run.

import { exec } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { root } from '../support/root.ts';
import { benches, type Run, scripts, soaks } from './scripts.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

/** The tests and modules of a soak. */
function filesOfSoak(name: string): string[] {
  const directory = `test/soak/${name}`;
  if (!existsSync(join(root, directory))) return [`${directory}.test.ts`];
  return readdirSync(join(root, directory)).flatMap((file) => (file.endsWith('.ts') ? `${directory}/${file}` : []));
}

describe('what there is has its place in the table, and the table has no other', () => {
  const soaksThere = readdirSync(join(root, 'test/soak')).map((entry) => entry.replace(/\.test\.ts$/, ''));
  const benchesThere = readdirSync(join(root, 'test/bench')).filter((entry) =>
    existsSync(join(root, 'test/bench', entry, 'main.js')),
  );
  test.each([
    ['scripts', scripts, Object.keys(manifest.scripts)],
    ['benchmarks', benches, benchesThere],
    ['soaks', soaks, soaksThere],
  ] as const)('%s', (_, table, there) => {
    expect(Object.keys(table).toSorted()).toEqual(there.toSorted());
  });
});

const rows = Object.entries({ script: scripts, bench: benches, soak: soaks }).flatMap(([kind, table]) =>
  Object.entries<Run[]>(table).flatMap(([name, runs]) => runs.map((run) => ({ kind, name, ...run }))),
);

test.each(rows)('$kind $name: $file runs it by $by', ({ kind, name, file, by }) => {
  expect(read(file)).toContain(by);
  // A scenario is the soak's own, too.
  if (kind === 'soak' && by.endsWith('.ts'))
    expect(filesOfSoak(name).some((own) => own.includes(by) || read(own).includes(by))).toBe(true);
});

test('`npm run format` formats what is there', async () => {
  const directory = mkdtempSync(join(inject('run'), 'format-'));
  writeFileSync(join(directory, '.gitignore'), 'dist\n');
  copyFileSync(join(root, 'biome.json'), join(directory, 'biome.json'));
  writeFileSync(join(directory, 'one.ts'), 'export const one = {"a":1}');
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  await promisify(exec)(manifest.scripts.format, { cwd: directory, env: { ...process.env, PATH } });
  expect(readFileSync(join(directory, 'one.ts'), 'utf8')).toBe('export const one = { a: 1 };\n');
});
