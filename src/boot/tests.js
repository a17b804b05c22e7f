// Runs vitest with the embedded database, and also with a PostgreSQL server when one responds; prints what it came to, which
// files took longest, and what it cost.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge, machineTime, readBudget, secondsOfLoop } from './budget.js';
import { CHANGED, withChanged } from './changed.js';
import { run } from './command.js';
import { filesToRepeat, optionsToRepeat, repeat } from './repeated-files.js';
import { probe, testDatabaseUrl } from './test-database.js';

/** The projects of vitest.config.ts that need no server. Several exclusions would include each other's projects. */
const WITHOUT_SERVER = ['--project=embedded', '--project=yoga', '--project=workers'];

/** The code that is tested was compiled just before: see vitest.config.ts. */
const ENVIRONMENT = { NODE_ENV: 'test', GATEWAY_TEST_COMPILED: '1' };

/** How many of the slowest files are named. */
const SLOWEST = 10;

/** The unit of times in /proc, USER_HZ: so many in a second on every architecture that has a Node. */
const TICKS_PER_SECOND = 100;

/** @typedef {import('./summary-reporter.js').Results} Results */
/** @typedef {import('./summary-reporter.js').FileResult} FileResult */

/** The result before vitest has counted: one failure, for whatever keeps it from running. */
let summary = { passed: 0, failed: 1, skipped: 0, failures: /** @type {string[]} */ ([]) };

/** @type {string[]} */
const flaky = [];

/**
 * Prints a line for each file that passed only when it ran once more, one for each failure, and `N passed, N failed` as the last
 * line of standard output, when the process exits.
 */
export function printSummaryAtExit() {
  process.on('exit', () => {
    const { passed, failed, skipped, failures } = summary;
    for (const line of flaky) process.stdout.write(`FLAKY ${line}\n`);
    for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
    process.stdout.write(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}\n`);
  });
}

/**
 * Runs the tests and sets the exit code, also to 1 when no test ran.
 * @param {string[]} args the arguments of vitest.
 * @param {object} [options]
 * @param {Record<string, string>} [options.env]
 * @param {boolean} [options.repeatsFailed] runs files that failed once more, each alone, and names those that pass then. Their
 * tests count as passed where CI=true: a run must not be lost to chance there. Elsewhere they stay failed, for whoever made the
 * change is the one who can find out why.
 * @param {boolean} [options.hasBudget] fails when it costs more CPU time than test/budget.json allows.
 */
export async function runTests(args, { env = {}, repeatsFailed = false, hasBudget = false } = {}) {
  const onlyChanged = args.some((arg) => CHANGED.test(arg));
  const chosen = onlyChanged ? await withChanged(args) : args;
  if (!chosen) {
    process.stdout.write('No test depends on what has changed\n');
    summary = { passed: 0, failed: 0, skipped: 0, failures: [] };
    return;
  }
  const url = testDatabaseUrl();
  const absent = await probe(url);
  if (absent) process.stdout.write(`PostgreSQL tests are skipped: ${absent} (TEST_DATABASE_URL)\n`);
  /** @param {string[]} args */
  const vitest = (args) => runVitest(args, { TEST_DATABASE_URL: url, ...env });

  const loop = hasBudget ? secondsOfLoop() : 0;
  const before = { wall: performance.now(), cpu: cpuSecondsOfChildren(), machine: machineTime() };
  const { code, results } = await vitest([...(absent ? WITHOUT_SERVER : []), ...chosen]);
  if (results) {
    // A failure outside of tests, and a run without tests, count as one failure. With --changed there may be none to run.
    summary = sumOf(results, code === 0 && onlyChanged);
    if (code !== 0 && summary.failed === 0) summary.failed = 1;
    const files = repeatsFailed ? filesToRepeat(results) : [];
    const options = files.length > 0 ? await optionsToRepeat(chosen) : undefined;
    for (const file of options ? files : []) {
      const repeated = await repeat(file, options ?? [], vitest);
      if (!repeated) continue;
      const [{ test = '', message = '' } = {}] = file.failures;
      flaky.push([`${file.project} ${file.file}`, ...(test ? [test] : []), message].join(': '));
      if (process.env.CI !== 'true') continue;
      results.files.splice(results.files.indexOf(file), 1, repeated);
      summary = sumOf(results);
    }
    if (results.files.length > 0) printSlowest(results.files);
  }
  const cpu = before.cpu === undefined ? undefined : (cpuSecondsOfChildren() ?? Number.NaN) - before.cpu;
  const wall = (performance.now() - before.wall) / 1000;
  process.stdout.write(
    `CPU time ${cpu?.toFixed(1) ?? 'not known:'} s, with all child processes; wall time ${wall.toFixed(1)} s\n`,
  );
  const machine = machineTime();
  if (hasBudget && cpu !== undefined && machine && before.machine) {
    const spent = { busy: machine.busy - before.machine.busy, stolen: machine.stolen - before.machine.stolen };
    const { line, isFailed } = judge({ tests: cpu, machine: spent, loop }, readBudget());
    process.stdout.write(`Budget: ${line}\n`);
    if (isFailed)
      summary = { ...summary, failed: summary.failed + 1, failures: [...summary.failures, `budget: ${line}`] };
  }
  process.exitCode = summary.failed > 0 ? 1 : 0;
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number, results?: Results }>} no results when vitest ended before it could count.
 */
async function runVitest(args, env) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const file = join(directory, 'summary.json');
  const reporter = fileURLToPath(new URL('./summary-reporter.js', import.meta.url));
  const code = await run('vitest', ['run', '--reporter=default', `--reporter=${reporter}`, ...args], {
    env: { ...ENVIRONMENT, GATEWAY_TEST_SUMMARY: file, ...env },
  });
  try {
    return { code, results: JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return { code };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * @param {Results} results
 * @param {boolean} [mayBeEmpty]
 */
function sumOf({ files, outside }, mayBeEmpty = false) {
  const failures = outside.map((message) => `outside of tests: ${message}`);
  for (const { project, file, failures: ofFile } of files) {
    for (const { test, message } of ofFile) {
      failures.push(`${project} ${file}${test ? ` > ${test}` : ''}: ${message}`);
    }
  }
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const skipped = files.reduce((sum, file) => sum + file.skipped, 0);
  const isEmpty = passed + failures.length === 0 && !mayBeEmpty;
  return { passed, failed: isEmpty ? 1 : failures.length, skipped, failures };
}

/** @param {FileResult[]} files */
function printSlowest(files) {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  const lines = slowest.map(({ seconds, project, file }) => `${seconds.toFixed(1).padStart(7)} s  ${project} ${file}`);
  process.stdout.write(['Slowest files, wall time:', ...lines, ''].join('\n'));
}

/**
 * Returns the CPU seconds, user and system, of all child processes that have ended and been waited for, and of theirs; undefined
 * where the system does not tell. Node's own `resourceUsage` has those of this process alone. See proc_pid_stat(5).
 */
function cpuSecondsOfChildren() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program, in parentheses, is the second field and may contain spaces; cutime and cstime are 16 and 17.
    const [cutime, cstime] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number);
    return ((cutime ?? 0) + (cstime ?? 0)) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
}
