// Which code a gateway that nobody uses has loaded.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newPlace } from '../../support/gateway/place.ts';
import { startProcess } from '../../support/gateway/process.ts';
import { root } from '../../support/root.ts';

/** Packages that only what is used or configured needs. Each of them takes milliseconds and megabytes. */
const UNUSED = [
  '@aws-sdk/',
  '@azure/',
  '@bufbuild/cel',
  '@bufbuild/protobuf',
  '@nats-io/',
  '@node-rs/argon2',
  '@redis/',
  '@smithy/',
  'bowser',
  'graphql-jit',
  'isbot',
  'jose',
  're2js',
  'tldts',
  'yaml',
];
/** Packages that build and develop. */
const DEVELOPMENT = ['@biomejs/', 'prisma', 'typescript', 'vite', 'vitest'];

test('an idle gateway has not loaded the language of policies, the SDKs of clouds, or any other code that it does not use', async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const file = join(place.dataDir, 'loaded-scripts');
  const gateway = await startProcess(
    { NODE_OPTIONS: `--import=${join(root, 'test/support/loaded-scripts.mjs')}`, LOADED_SCRIPTS_FILE: file },
    place,
  );
  await gateway.kill('SIGTERM');

  const bundle = join(root, 'dist/bundle');
  const { files } = JSON.parse(await readFile(join(bundle, 'inputs.json'), 'utf8')) as {
    files: Record<string, string[]>;
  };
  const inputs = (url: string) => (url.includes('/dist/bundle/') ? (files[basename(url)] ?? []) : [url]);
  const scripts = (await readFile(file, 'utf8')).split('\n').flatMap(inputs);
  const loaded = (name: string) =>
    scripts.filter((url) => `/${url}`.includes(`/node_modules/${name.replace(/\/?$/, '/')}`));
  expect(loaded('graphql')).not.toEqual([]);
  for (const name of [...UNUSED, ...DEVELOPMENT]) expect(loaded(name)).toEqual([]);
});
