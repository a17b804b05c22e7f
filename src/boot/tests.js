// Runs vitest with the embedded database, and also with a PostgreSQL server when one responds.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './command.js';
import { probe, testDatabaseUrl } from './test-database.js';

/** The projects of vitest.config.ts that need no server. Several exclusions would include each other's projects. */
const WITHOUT_SERVER = ['--project=embedded', '--project=yoga', '--project=workers'];

/** The code that is tested was compiled just before: see vitest.config.ts. */
const ENVIRONMENT = { NODE_ENV: 'test', GATEWAY_TEST_COMPILED: '1' };

/**
 * The result before vitest has counted: one failure, for whatever keeps it from running.
 * @type {import('./summary-reporter.js').Summary}
 */
let summary = { passed: 0, failed: 1, skipped: 0, failures: [] };

/** Prints a line for each failure, and `N passed, N failed` as the last line of standard output, when the process exits. */
export function printSummaryAtExit() {
  process.on('exit', () => {
    const { passed, failed, skipped, failures } = summary;
    for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
    process.stdout.write(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`);
  });
}

/**
 * Runs the tests and sets the exit code, also to 1 when no test ran.
 * @param {string[]} args the arguments of vitest.
 * @param {Record<string, string>} [env]
 */
export async function runTests(args, env = {}) {
  const url = testDatabaseUrl();
  const absent = await probe(url);
  if (absent) process.stdout.write(`PostgreSQL tests are skipped: ${absent} (TEST_DATABASE_URL)\n`);

  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const file = join(directory, 'summary.json');
  const reporter = fileURLToPath(new URL('./summary-reporter.js', import.meta.url));
  const code = await run(
    'vitest',
    ['run', '--reporter=default', `--reporter=${reporter}`, ...(absent ? WITHOUT_SERVER : []), ...args],
    { env: { ...ENVIRONMENT, TEST_DATABASE_URL: url, GATEWAY_TEST_SUMMARY: file, ...env } },
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
