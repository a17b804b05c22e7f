// The order of the folders inside the agent.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = 'agent/src';

// A layer may import itself and the layers after it, never one before it.
const layers = [
  'main.ts',
  'run',
  'local-api',
  'tunnels',
  'device',
  'client',
  'proxy',
  'files',
  'settings',
  'gateway-client.ts',
  'detail-error.ts',
  'replace-file.ts',
  'look-up.ts',
  'log.ts',
  'log-file.ts',
  'version.ts',
];

const source = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const layerOf = (file: string) => layers.indexOf(file.split('/')[0] ?? '');

test('every file of the agent belongs to a layer', () => {
  expect(source.length).toBeGreaterThan(20);
  expect(source.filter((file) => layerOf(file) < 0)).toEqual([]);
});

test('no layer of the agent imports one above it', () => {
  const imports = source.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)].map(([, target = '']) => ({
      file,
      target: relative(ROOT, resolve(ROOT, dirname(file), target)),
    })),
  );
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter(({ file, target }) => layerOf(target) < layerOf(file))).toEqual([]);
});
