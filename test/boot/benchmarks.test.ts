// The benchmarks that are run by hand still work: each once, with a handful of requests (`BENCH_SMOKE=1`), whose figures say nothing.
// `npm run soak -- long` runs them with all their peers, and installs those of the API; `npm test` has the API beside one alone.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { probe, testDatabaseUrl } from '../../src/boot/test-database.js';
import { find } from '../bench/data-plane/processes.js';
import { root } from '../support/root.ts';
import { isLong } from '../support/shortened.ts';

/** A machine that has much else to do takes long for a start of a gateway, and npm for its packages. */
const TIMEOUT_MS = isLong ? 900_000 : 240_000;

/** @returns what it prints. @throws when a peer answers wrongly, or nothing at all. */
async function smokeOf(script: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_ENV: undefined, BENCH_SMOKE: '1', TEST_DATABASE_URL: testDatabaseUrl() };
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, script), ...args], { env, cwd: root });
  return stdout;
}

const smoke = (name: string, ...args: string[]) => smokeOf('src/boot/bench.js', name, ...args);

/** Why there is no PostgreSQL server, where there is none. */
const serverAbsent = await probe(testDatabaseUrl());

test('`npm run bench -- api` runs to its end', { timeout: TIMEOUT_MS }, async ({ skip }) => {
  skip(serverAbsent !== undefined, serverAbsent);
  const output = await smoke('api', ...(isLong ? [] : ['--peers', 'bare']));
  for (const title of ['REST get', 'REST create, 64 at once', 'REST create, embedded database', 'first calls'])
    expect(output).toContain(title);
  expect(output).toContain(isLong ? 'Mercurius' : 'node:http + pg');
});

describe.runIf(isLong)('to its end runs', { timeout: TIMEOUT_MS }, () => {
  test('`npm run bench -- data-plane`', async () => {
    const output = await smoke('data-plane');
    for (const title of ['19 B, 64 connections', 'One upload of', 'Load average after'])
      expect(output).toContain(title);
  });

  test('the way between places that are far apart', async () => {
    expect(await smokeOf('test/bench/data-plane/distance.js')).toContain('beside stalled neighbours');
  });

  test('`npm run bench -- events`, and every event arrives', async () => {
    const output = await smoke('events');
    expect(output).toContain('Traffic events of visits through an agent, to a file, embedded database');
    expect(output).toContain('Load afterwards');
  });

  test('`npm run bench -- policy`', async () => {
    const output = await smoke('policy');
    expect(output.match(/ten rules add/g)).toHaveLength(3);
    expect(output).toContain('Load average after');
  });

  test('`npm run bench -- weight`', async () => {
    const output = await smoke('weight');
    for (const title of ['device agent, one tunnel', 'Load average after']) expect(output).toContain(title);
  });

  test('`npm run bench -- dns`', async ({ skip }) => {
    skip(!find('dnsperf'), 'dnsperf is not installed');
    const output = await smoke('dns');
    for (const title of ['TXT over TCP', 'Load average after']) expect(output).toContain(title);
  });

  test('`npm run bench -- binds`', async ({ skip }) => {
    skip(serverAbsent !== undefined, serverAbsent);
    expect(await smoke('binds')).toMatch(/binds per second: [1-9]/);
  });

  test('`npm run bench -- hop`', async ({ skip }) => {
    skip(serverAbsent !== undefined, serverAbsent);
    expect((await smoke('hop')).match(/^\| another node \|/gm)).toHaveLength(2);
  });
});
