// Runs vitest with the embedded database, and also with a PostgreSQL server when one responds.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './command.js';

const PROBE_MS = 1000;
const DEFAULT_URL = 'postgresql://postgres@127.0.0.1:5432/test';

/** The result before vitest has counted: one failure, for whatever keeps it from running. */
let summary = { passed: 0, failed: 1, skipped: 0 };

/** Prints `N passed, N failed` as the last line of standard output when the process exits. */
export function printSummaryAtExit() {
  process.on('exit', () => {
    const { passed, failed, skipped } = summary;
    process.stdout.write(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`);
  });
}

/**
 * Runs the tests and sets the exit code, also to 1 when no test ran.
 * @param {string[]} args the arguments of vitest.
 * @param {Record<string, string>} [env]
 */
export async function runTests(args, env = {}) {
  const url = process.env.TEST_DATABASE_URL || DEFAULT_URL;
  const absent = await probe(url);
  if (absent) process.stdout.write(`PostgreSQL tests are skipped: ${absent} (TEST_DATABASE_URL)\n`);

  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const file = join(directory, 'summary.json');
  const reporter = fileURLToPath(new URL('./summary-reporter.js', import.meta.url));
  const code = await run(
    'vitest',
    ['run', '--reporter=default', `--reporter=${reporter}`, ...(absent ? ['--project=!postgres'] : []), ...args],
    { env: { NODE_ENV: 'test', TEST_DATABASE_URL: url, GATEWAY_TEST_SUMMARY: file, ...env } },
  );
  try {
    summary = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Vitest ended before it could count; the summary stays at one failure.
  }
  rmSync(directory, { recursive: true });

  const ran = summary.passed + summary.failed > 0;
  // A failure outside of tests, and a run without tests, count as one failure.
  if (summary.failed === 0 && (code !== 0 || !ran)) summary.failed = 1;
  process.exitCode = summary.failed > 0 ? 1 : 0;
}

/**
 * @param {string} url
 * @returns {Promise<string | undefined>} the reason why there is no PostgreSQL server for tests; undefined when there is one.
 */
async function probe(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_MS });
  // A connection that breaks later emits an error event, which would end the process without a listener.
  client.on('error', () => {});
  const server = `${client.host}:${client.port}`;
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    // A refusal of the server has an SQLSTATE.
    const refusal = error instanceof pg.DatabaseError ? error.message : undefined;
    return refusal ? `${server} refuses: ${refusal}` : `nothing answers at ${server}`;
  }
}
