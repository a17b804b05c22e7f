// The order of the folders inside the dashboard.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = 'src/dashboard';
const MAX_FILES = 20;
const MAX_LINES = 250;

// A layer may import itself and the layers after it in its list, never one before it.
const layersOf: Record<string, string[]> = {
  '': ['main.tsx', 'app.tsx', 'screens', 'shell', 'ui', 'data'],
  data: ['hooks', 'session', 'lists', 'live', 'client', 'clock.ts', 'routing'],
  ui: ['list', 'dialogs', 'history', 'layout', 'charts', 'table', 'forms', 'text', 'unsaved', 'feedback', 'button.tsx'],
  screens: [
    'index.tsx',
    'overview',
    'alerts',
    'traffic',
    'endpoints',
    'requests',
    'agents',
    'access',
    'visitors',
    'domains',
    'edges',
    'credentials',
    'figures',
    'events',
    'traffic-history',
    'audit',
    'jobs',
    'me',
    'sign-in',
  ],
  'screens/edges': [
    'index.tsx',
    'publishing',
    'cloud',
    'https-edge.tsx',
    'connection-edge.tsx',
    'routes',
    'edge-settings.tsx',
    'edge-summary.tsx',
    'edge-lists.tsx',
    'new-edge.tsx',
    'hostports-field.tsx',
    'modules',
    'authorities',
    'backends',
    'ip-restrictions',
    'ip-policies',
    'vaults',
    'detail-page.tsx',
    'tunnel-count.tsx',
    'references',
    'labels.tsx',
    'navigation.ts',
  ],
};

const all = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => !file.startsWith('generated'));
const source = all.filter((file) => /\.tsx?$/.test(file));
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const imports = source.flatMap((file) =>
  [...textOf(file).matchAll(/(?:from |import |import\()'(\.[^']+\.tsx?)'/g)].map(([, target = '']) => ({
    file,
    target: relative(ROOT, resolve(ROOT, dirname(file), target)),
  })),
);

test.each(Object.entries(layersOf))('no layer inside the dashboard/%s imports one above it', (folder, layers) => {
  const prefix = folder === '' ? '' : `${folder}/`;
  const isInside = (file: string) => file.startsWith(prefix) && !file.startsWith('generated/');
  const layerOf = (file: string) => layers.indexOf(file.slice(prefix.length).split('/')[0] ?? '');
  expect(source.filter((file) => isInside(file) && layerOf(file) < 0)).toEqual([]);
  const inside = imports.filter(({ file, target }) => isInside(file) && isInside(target));
  expect(inside.length).toBeGreaterThan(0);
  expect(inside.filter(({ file, target }) => layerOf(target) < layerOf(file))).toEqual([]);
});

test('no files of the dashboard import each other in a circle, not even types', () => {
  const importsOf = new Map(source.map((file) => [file, [] as string[]]));
  for (const { file, target } of imports) importsOf.get(file)?.push(target);
  // A file that imports none of the remaining ones, or that none of them imports, is in no circle.
  for (let before = -1; before !== importsOf.size; ) {
    before = importsOf.size;
    const imported = new Set([...importsOf.values()].flat());
    for (const [file, targets] of importsOf)
      if (!imported.has(file) || !targets.some((target) => importsOf.has(target))) importsOf.delete(file);
  }
  expect([...importsOf.keys()]).toEqual([]);
});

test('no folder of the dashboard has more than 20 files, and no file more than 250 lines', () => {
  const folders = all.filter((file) => /\.\w+$/.test(file)).map((file) => dirname(file));
  const countOf = (folder: string) => folders.filter((other) => other === folder).length;
  expect([...new Set(folders)].filter((folder) => countOf(folder) > MAX_FILES)).toEqual([]);
  expect(source.filter((file) => textOf(file).split('\n').length > MAX_LINES + 1)).toEqual([]);
});
