// The soaks that are run by hand still work: each can be loaded, and some that share no scenario with a shorter test have a round
// here.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/root.ts';
import { soaks } from './scripts.ts';

const TIMEOUT_MS = 900_000;

/** Runs a command of src/boot. @returns what it prints. @throws when it fails. */
async function run(script: string, args: string[], more: Record<string, string> = {}): Promise<string> {
  const { VITEST, VITEST_WORKER_ID, VITEST_POOL_ID, VITEST_MODE, SOAK, ...env } = process.env;
  const options = { env: { ...env, NO_COLOR: '1', ...more }, cwd: root, maxBuffer: 1 << 26 };
  return (await promisify(execFile)(process.execPath, [join(root, script), ...args], options)).stdout;
}

const soak = (name: string, args: string[], env?: Record<string, string>) =>
  run('src/boot/soak.js', [name, ...args], env);

test.each(Object.keys(soaks).filter((name) => name !== 'long'))(
  '`npm run soak -- %s` loads',
  { timeout: TIMEOUT_MS },
  async (name) => {
    expect(await soak(name, ['--project', 'embedded', '-t', 'no test has this name'])).toMatch(/Tests .*skipped/);
  },
);

test.each([
  ['clouds', { project: 'embedded', env: {} }],
  ['herd', { project: 'embedded', env: { HERD_AGENTS: '50' } }],
  ['failover', { project: 'postgres', env: { FAILOVER_ROUNDS: '1' } }],
] as const)('a round of %s', { timeout: TIMEOUT_MS }, async (name, { project, env }) => {
  expect(await soak(name, ['--project', project], env)).toMatch(/\d+ passed, 0 failed/);
});

test('`npm run test:browser` passes, or says that there is no browser', { timeout: TIMEOUT_MS }, async () => {
  await run('src/boot/browser.js', []);
});
