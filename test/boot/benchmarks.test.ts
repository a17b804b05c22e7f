// The benchmarks that are run by hand still work: each once, with a handful of requests (`BENCH_SMOKE=1`), whose figures say nothing.
// `npm run soak -- long` runs them with all their peers, and installs those of the API; `npm test` has the API beside one alone.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { probe, testDatabaseUrl } from '../../src/boot/test-database.js';
import { root } from '../support/root.ts';

const isLong = process.env.SOAK === 'long';
/** A machine that has much else to do takes long for a start of a gateway, and npm for its packages. */
const TIMEOUT_MS = isLong ? 900_000 : 240_000;

/** @returns what it prints. @throws when a peer answers wrongly, or nothing at all. */
async function smoke(name: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_ENV: undefined, BENCH_SMOKE: '1', TEST_DATABASE_URL: testDatabaseUrl() };
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'src/boot/bench.js'), name, ...args], {
    env,
    cwd: root,
  });
  return stdout;
}

test('`npm run bench -- api` runs to its end', { timeout: TIMEOUT_MS }, async ({ skip }) => {
  const absent = await probe(testDatabaseUrl());
  skip(absent !== undefined, absent);
  const output = await smoke('api', ...(isLong ? [] : ['--bare']));
  for (const title of ['REST get', 'REST create', 'GraphQL list of 100 with owners']) expect(output).toContain(title);
  expect(output).toContain(isLong ? 'Mercurius' : 'node:http + pg');
});

test.runIf(isLong)('`npm run bench -- data-plane` runs to its end', { timeout: TIMEOUT_MS }, async () => {
  const output = await smoke('data-plane');
  for (const title of ['19 B, 64 connections', 'One upload of', 'Load average after']) expect(output).toContain(title);
});

test.runIf(isLong)(
  '`npm run bench -- events` runs to its end, and every event arrives',
  { timeout: TIMEOUT_MS },
  async () => {
    const output = await smoke('events');
    expect(output).toContain('Traffic events of visits through an agent, to a file, embedded database');
    expect(output).toContain('Load afterwards');
  },
);
