// `npm test`: what it prints at its end, and that files that failed run once more, alone. `.ci/run` passes this on.

import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesToRepeat, optionsToRepeat } from '../../src/boot/repeated-files.js';
import { root as real } from '../support/root.ts';

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-test-runs-')));
  cpSync(join(real, 'src/boot'), join(root, 'src/boot'), { recursive: true });
  cpSync(join(real, '.ci/run'), join(root, '.ci/run'));
  cpSync(join(real, 'test/budget.json'), join(root, 'test/budget.json'));
  write('package.json', '{ "type": "module" }');
  symlinkSync(join(real, 'node_modules'), join(root, 'node_modules'), 'junction');
  // `npm test` without the preparation.
  write(
    'npm-test.js',
    `import { printSummaryAtExit, runTests } from './src/boot/tests.js';
    printSummaryAtExit();
    await runTests(process.argv.slice(2), { repeatsFailed: true, hasBudget: process.env.HAS_BUDGET === '1' });`,
  );
  write(
    'vitest.config.js',
    `export default { test: { pool: 'threads', isolate: false, projects: [
      { extends: true, test: { name: 'embedded', include: ['test/*.test.js'] } },
      { extends: true, test: { name: 'workers', include: ['test/steady.test.js'] } },
    ] } };`,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Runs a program with PostgreSQL out of reach; its status, and the lines of its standard output. */
async function run(command: string, args: string[], env: Record<string, string>) {
  const { VITEST, VITEST_WORKER_ID, VITEST_POOL_ID, VITEST_MODE, ...outer } = process.env;
  const ended = promisify(execFile)(command, args, {
    cwd: root,
    env: { ...outer, TEST_DATABASE_URL: 'postgres://127.0.0.1:1/none', NO_COLOR: '1', ...env },
  });
  const { code, stdout } = await ended.then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  return { status: code, lines: stdout.trim().split('\n') };
}

/** A file of tests that notes each of its runs; `body` is that of its second test. */
const file = (name: string, body: string) =>
  write(
    `test/${name}.test.js`,
    `import { appendFileSync, readFileSync } from 'node:fs';
    import { test, expect } from 'vitest';
    appendFileSync('runs', '${name}\\n');
    const runs = readFileSync('runs', 'utf8').split('\\n').filter((name) => name === '${name}').length;
    test('passes', () => {});
    test('counts', async () => { ${body} });`,
  );

test('a file that failed runs once more, alone; the run ends with what was slow, what it cost and what it came to', async () => {
  file('by-chance', 'expect(runs, "no luck").toBe(2);');
  file(
    'broken',
    'setImmediate(() => { throw new Error("late"); }); await new Promise((done) => setImmediate(() => setImmediate(done)));',
  );
  file('steady', '');
  const { status, lines } = await run(process.execPath, ['npm-test.js', '--maxWorkers=1', 'test/'], { CI: 'true' });
  expect(lines.slice(-9)).toEqual([
    'Slowest files, wall time:',
    ...Array(4).fill(expect.stringMatching(/^ +\d+\.\d s {2}(embedded|workers) test\/[\w-]+\.test\.js$/)),
    expect.stringMatching(
      process.platform === 'linux'
        ? /^CPU time [1-9]\d*\.\d s, with all child processes; wall time \d+\.\d s$/
        : /^CPU time not known/,
    ),
    'FLAKY embedded test/by-chance.test.js: counts: no luck: expected 1 to be 2 // Object.is equality',
    'FAILED embedded test/broken.test.js > outside of tests: late',
    '8 passed, 1 failed',
  ]);
  expect(status).toBe(1);
  const runs = readFileSync(join(root, 'runs'), 'utf8').trim().split('\n');
  expect(runs.sort()).toEqual(['broken', 'broken', 'by-chance', 'by-chance', 'steady', 'steady']);
});

describe('with a stand-in for vitest', () => {
  const ofFile = (file: string, failures: number, passed = 1) => ({
    ...{ project: 'embedded', file, seconds: 1, isLoaded: passed + failures > 0, passed, skipped: 0 },
    failures: Array(failures).fill({ test: 'one', message: 'no luck' }),
  });
  /** Runs the tests; each run of vitest has the next of `results`, and the rest must not come. */
  const runWith = async (results: object[], env: Record<string, string>, ...args: string[]) => {
    rmSync(join(root, 'arguments'), { force: true });
    write('results.json', JSON.stringify(results));
    const { status, lines } = await run(process.execPath, ['npm-test.js', ...args], env);
    const file = join(root, 'arguments');
    const calls = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    return { status, end: lines.slice(lines.findIndex((line) => line.startsWith('CPU')) + 1), calls };
  };
  beforeAll(() => {
    // Programs in node_modules/.bin come first; the rest of node_modules is the real one.
    rmSync(join(root, 'node_modules'));
    mkdirSync(join(root, 'node_modules'));
    for (const name of readdirSync(join(real, 'node_modules')).filter((name) => !name.startsWith('.')))
      symlinkSync(join(real, 'node_modules', name), join(root, 'node_modules', name), 'junction');
    write(
      'node_modules/.bin/vitest',
      `#!/usr/bin/env node
      const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
      appendFileSync('arguments', process.argv.slice(5).join(' ') + '\\n');
      const [result, ...rest] = JSON.parse(readFileSync('results.json', 'utf8'));
      writeFileSync('results.json', JSON.stringify(rest));
      writeFileSync(process.env.GATEWAY_TEST_SUMMARY, JSON.stringify(result));
      process.exitCode = result.outside.length + result.files.flatMap(({ failures }) => failures).length ? 1 : 0;`,
    );
    chmodSync(join(root, 'node_modules/.bin/vitest'), 0o755);
  });
  const flaky = [
    { files: [ofFile('a', 1), ofFile('b', 0)], outside: [] },
    { files: [ofFile('a', 0, 2)], outside: [] },
  ];

  test('a flaky file counts as passed in CI, and runs with the same options', async () => {
    const args = ['--project', 'embedded', 'a', '--retry=1', '-t', 'one', '--shard=1/2'];
    const { status, end, calls } = await runWith(flaky, { CI: 'true' }, ...args);
    expect([status, end]).toEqual([0, ['FLAKY embedded a: one: no luck', '3 passed, 0 failed']]);
    expect(calls[1]).toBe(`--retry=1 -t one --project=embedded --maxWorkers=1 ${join(root, 'a')}`);
  });

  test('elsewhere it fails the run, which says that it is flaky', async () => {
    const { status, end } = await runWith(flaky, { CI: '' });
    const lines = ['FLAKY embedded a: one: no luck', 'FAILED embedded a > one: no luck', '2 passed, 1 failed'];
    expect([status, end]).toEqual([1, lines]);
  });

  test('nothing runs once more when the run stopped at its first failure', async () => {
    expect(await optionsToRepeat(['--bail=1'])).toBeUndefined();
    expect(await optionsToRepeat(['--retry=1'])).toEqual(['--retry=1']);
  });

  test('nothing runs once more when no file could be loaded, more than ten failed, or something outside of tests', () => {
    const files = Array.from({ length: 11 }, (_, at) => ofFile(`${at}`, 1));
    expect(filesToRepeat({ files: files.slice(1), outside: [] })).toEqual(files.slice(1));
    expect(filesToRepeat({ files, outside: [] })).toEqual([]);
    expect(filesToRepeat({ files: [ofFile('a', 1)], outside: ['late'] })).toEqual([]);
    expect(filesToRepeat({ files: [{ ...ofFile('a', 1, 0), isLoaded: false }], outside: [] })).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('CPU time is held against the budget where that is asked for', async () => {
    const budget = { cpuSecondsOfTests: 540, wallSecondsOfRun: 480, cpuSecondsOfLoop: 1 };
    write('test/budget.json', JSON.stringify({ ...budget, enforcedCpuSecondsOfTests: 1e6 }));
    const one = [{ files: [ofFile('a', 0)], outside: [] }];
    const { status, end } = await runWith(one, { HAS_BUDGET: '1' });
    expect([status, end]).toEqual([
      0,
      [expect.stringMatching(/^Budget: CPU time \d+ s; budget \d+ s/), '1 passed, 0 failed'],
    ]);
  });

  test('a run without tests fails', async () => {
    const none = [{ files: [], outside: [] }];
    expect(await runWith(none, {})).toMatchObject({ status: 1, end: ['0 passed, 1 failed'] });
  });

  describe('--changed', () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], { cwd: root });
    const one = [{ files: [ofFile('a', 0)], outside: [] }];
    beforeAll(() => {
      write('.gitignore', 'node_modules\narguments\nresults.json\nruns\n');
      write('src/one.js', '');
      write('test/a/one.test.js', "import '../../src/one.js';");
      write('test/b/two.test.js', "import '../../src/one.js';");
      git('init', '--quiet');
      git('add', '.');
      git('commit', '--quiet', '--message', 'first');
      write('src/one.js', '// another');
    });

    test('hands over the files that import what changed, those of the words if there are any', async () => {
      const [a, b] = ['test/a/one.test.js', 'test/b/two.test.js'].map((name) => join(root, name));
      const { calls } = await runWith(one, {}, '--changed', '--retry=1');
      expect(calls).toEqual([expect.stringMatching(new RegExp(`--retry=1 --passWithNoTests ${a} ${b}$`))]);
      const chosen = await runWith(one, {}, 'two', '--changed', 'HEAD');
      expect(chosen.calls).toEqual([expect.stringMatching(new RegExp(`workers --passWithNoTests ${b}$`))]);
    });

    test('is content with no test, and not with a commit that is none', async () => {
      expect(await runWith(one, {}, 'neither', '--changed')).toMatchObject({
        status: 0,
        end: ['No test depends on what has changed', '0 passed, 0 failed'],
        calls: [],
      });
      const none = await runWith(one, {}, '--changed=neither');
      expect(none).toMatchObject({ status: 1, end: ['0 passed, 1 failed'], calls: [] });
    });
  });
});

test('.ci/run prints FLAKY and FAILED lines once more, what its parts cost, and a sum', async () => {
  write(
    'bin/npm',
    `#!/bin/sh
    case "$*" in
      *check) ;;
      *test\\ --\\ --budget)
        printf 'FLAKY embedded a: b: c\\nBudget: CPU time 9 s\\nFAILED budget: CPU time 9 s\\n3 passed, 1 failed\\n'; exit 1 ;;
      *) printf 'FLAKY embedded d: e\\nFAILED embedded f: g\\n2 passed, 1 failed, 4 skipped\\n'; exit 1 ;;
    esac`,
  );
  chmodSync(join(root, 'bin/npm'), 0o755);
  // With all of them there, it installs nothing.
  for (const program of ['promtool', 'pebble', 'unbound', 'dig', 'kdig', 'drill']) {
    write(`bin/${program}`, '#!/bin/sh');
    chmodSync(join(root, 'bin', program), 0o755);
  }
  const { status, lines } = await run('bash', ['.ci/run'], {
    PATH: [join(root, 'bin'), process.env.PATH].join(delimiter),
  });
  expect([status, lines.slice(-7)]).toEqual([
    1,
    [
      'FLAKY embedded a: b: c',
      'FLAKY embedded d: e',
      'FAILED budget: CPU time 9 s',
      'FAILED embedded f: g',
      'Budget: CPU time 9 s',
      expect.stringMatching(/^check \d+ s, tools \d+ s more, test \d+ s, newest Node \d+ s; \d+ s of 480 s$/),
      '5 passed, 2 failed',
    ],
  ]);
});
