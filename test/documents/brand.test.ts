// No brand of the original service anywhere: not in names, texts, headers or defaults. What has to say it, once an SDK
// of that service runs against the gateway, is listed here.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/root.ts';

/** What a foreign SDK needs on the wire; the dev dependency; the tests and the benchmark that run that SDK, or that agent. */
const allowed = [
  'src/tunnel/control/compatibility.ts',
  'package.json',
  'package-lock.json',
  'test/clients/foreign-packages.json',
  'test/clients/whole-client.test.ts',
  'test/tunnel/sdk.test.ts',
  'test/support/agents/sdk.ts',
  'test/tunnel/pitfalls.test.ts',
  'test/soak/sdk.test.ts',
];
const allowedFolder = 'test/bench/data-plane/';
/** Spelled apart, so that this file does not have it either. */
const brand = new RegExp(['ng', 'rok'].join(''), 'i');

test.skipIf(!existsSync(join(root, '.git')))('no file has the brand in its name or its text', () => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
    .toString()
    .split('\0')
    .filter(
      (file) => file && !allowed.includes(file) && !file.startsWith(allowedFolder) && existsSync(join(root, file)),
    );
  expect(files.length).toBeGreaterThan(50);
  const branded = files.filter((file) => brand.test(file) || brand.test(readFileSync(join(root, file), 'utf8')));
  expect(branded).toEqual([]);
});
