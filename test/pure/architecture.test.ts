import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { layersOf, rooms } from './layers.ts';

const source = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/generated|^boot\/|^dashboard\//.test(file),
);

const imports = source.flatMap((file) =>
  [...readFileSync(join('src', file), 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, target = '']) => ({
    file,
    target: relative('src', resolve('src', file, '..', target)),
  })),
);

const roomOf = (file: string) => file.split('/')[0] ?? '';
const rank = (file: string) => rooms.indexOf(roomOf(file));

test('every file belongs to a room of the house', () => {
  expect(source.filter((file) => rank(file) < 0)).toEqual([]);
});

test('no room imports one above it', () => {
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ file, target }) => rank(target) < rank(file))).toEqual([]);
});

test.each(Object.entries(layersOf))('no layer inside %s imports one above it', (folder, layers) => {
  const isInside = (file: string) => file.startsWith(`${folder}/`);
  const layerOf = (file: string) => layers.indexOf(file.slice(folder.length + 1).split('/')[0] ?? '');
  const inside = source.filter(isInside);
  expect(inside.filter((file) => layerOf(file) < 0)).toEqual([]);
  const own = imports.filter(({ file, target }) => isInside(file) && isInside(target));
  expect(own.filter(({ file, target }) => layerOf(target) < layerOf(file))).toEqual([]);
});

test('no files import each other in a circle, not even types', () => {
  const importsOf = new Map(source.map((file) => [file, [] as string[]]));
  for (const { file, target } of imports) importsOf.get(file)?.push(target);
  // Whoever imports nothing that is left, or is imported by nobody who is, is in no circle.
  for (let before = -1; before !== importsOf.size; ) {
    before = importsOf.size;
    const imported = new Set([...importsOf.values()].flat());
    for (const [file, targets] of importsOf)
      if (!imported.has(file) || !targets.some((target) => importsOf.has(target))) importsOf.delete(file);
  }
  expect([...importsOf.keys()]).toEqual([]);
});

test('GraphQL stays in api; Prisma stays in store and api', () => {
  const users = (pattern: RegExp) =>
    [...new Set(source.filter((file) => pattern.test(readFileSync(join('src', file), 'utf8'))).map(roomOf))].sort();
  expect(users(/from 'graphql|from '@pothos/)).toEqual(['api', 'tools']);
  expect(users(/generated\/prisma|from '@prisma/)).toEqual(['api', 'store', 'tools']);
});

test('workers load neither GraphQL nor a client of the database', () => {
  const textOf = (file: string) => readFileSync(join('src', file), 'utf8');
  const loaded = new Set(['gateway/workers/worker.ts']);
  // The set grows while it is gone through.
  for (const file of loaded)
    for (const [, target = ''] of textOf(file).matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm))
      loaded.add(relative('src', resolve('src', file, '..', target)));
  expect(loaded.size).toBeGreaterThan(200);
  const heavy = /^import (?!type )[^;]*?from '(?:graphql|@pothos|@prisma|@aws-sdk|.*generated\/prisma)/m;
  expect([...loaded].filter((file) => heavy.test(textOf(file)))).toEqual([]);
});

test('only main and the tools read the environment', () => {
  const readers = source.filter((file) => /process\.env\b/.test(readFileSync(join('src', file), 'utf8')));
  expect(readers.filter((file) => !/^(main\.ts|tools\/)/.test(file))).toEqual(
    ['config/config.ts'].filter((file) => readers.includes(file)),
  );
});

test('no file of the source is longer than 400 lines', () => {
  expect(source.filter((file) => readFileSync(join('src', file), 'utf8').split('\n').length > 401)).toEqual([]);
});
