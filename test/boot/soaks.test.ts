// The soaks that are run by hand still work: each can be loaded, and some that share no scenario with a shorter test have a round
// here.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from '../support/root.ts';
import { soaks } from './scripts.ts';

const TIMEOUT_MS = 900_000;

/** Runs a command of src/boot. @returns its exit code and what it prints. */
async function run(script: string, args: string[], more: Record<string, string> = {}) {
  const { VITEST, VITEST_WORKER_ID, VITEST_POOL_ID, VITEST_MODE, SOAK, ...env } = process.env;
  const options = { env: { ...env, NO_COLOR: '1', ...more }, cwd: root, maxBuffer: 1 << 26 };
  const ended = promisify(execFile)(process.execPath, [join(root, script), ...args], options);
  return ended.then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

/** What came of the files of a soak. It fails where all tests are skipped, so its exit code says less. */
async function filesOf(name: string, args: string[], env?: Record<string, string>): Promise<string> {
  const { stdout } = await run('src/boot/soak.js', [name, ...args], env);
  const [, files = ''] = /^ Test Files +(.*)$/m.exec(stdout) ?? [];
  expect(files, stdout).not.toBe('');
  return files;
}

test.each(Object.keys(soaks).filter((name) => name !== 'long'))(
  '`npm run soak -- %s` loads',
  { timeout: TIMEOUT_MS },
  async (name) => {
    const files = await filesOf(name, ['--project', 'embedded', '-t', 'no test has this name']);
    expect(files).toMatch(/^(\d+) skipped \(\1\)$/);
  },
);

test.each([
  ['clouds', { project: 'embedded', env: {} }],
  ['herd', { project: 'embedded', env: { HERD_AGENTS: '50' } }],
  ['failover', { project: 'postgres', env: { FAILOVER_ROUNDS: '1' } }],
] as const)('a round of %s', { timeout: TIMEOUT_MS }, async (name, { project, env }) => {
  expect(await filesOf(name, ['--project', project], env)).not.toContain('failed');
});

test('`npm run test:browser` passes, or says that there is no browser', { timeout: TIMEOUT_MS }, async () => {
  const { code, stdout } = await run('src/boot/browser.js', []);
  expect(code, stdout).toBe(0);
});
