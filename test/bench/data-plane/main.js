// `npm run bench -- data-plane`: a visitor's way through the gateway beside other ways to the same origin. README.md
// says what is measured and how.
//
//   --rounds N     how often each path is measured in each case (5)
//   --seconds N    how long requests are sent each time (3)
//   --only A,B     only these paths (direct nginx haproxy ssh agent sdk before) and cases (small-1 small-64 page-1 page-64
//                  connect down up https-up h2-up h2-small idle); of the kind that none is named of, all
//   --profile      no comparison: where the time of gateway and agent goes, by kind (small-64, down and up, or --only)
//   --dist DIR     the compiled gateway (dist)
//   --agent FILE   the built agent (agent/dist/agent.js)
//   --before DIR   a checkout of an earlier commit, built: its gateway and agent are one more path, named "before"
//
// BENCH_SMOKE=1 only tries whether everything works, in a handful of requests each, and small uploads and downloads.

import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isSmoke } from '../api/processes.js';
import { Bench } from './bench.js';
import { cases, IDLE, PATHS } from './cases.js';
import { measureIdle } from './idle.js';
import { describe, profileClock } from './profile.js';
import { idleTable, table, verdicts } from './report.js';

const root = resolve(import.meta.dirname, '../../..');

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: isSmoke ? '1' : '5' },
    seconds: { type: 'string', default: isSmoke ? '0.1' : '3' },
    only: { type: 'string', default: '' },
    profile: { type: 'boolean', default: false },
    dist: { type: 'string', default: join(root, 'dist') },
    agent: { type: 'string', default: join(root, 'agent/dist/agent.js') },
    before: { type: 'string' },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const before = options.before && {
  dist: resolve(options.before, 'dist'),
  agent: resolve(options.before, 'agent/dist/agent.js'),
};
const programs = { dist: resolve(options.dist), agent: resolve(options.agent), before: before || undefined };

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const load = () =>
  loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');
const bench = new Bench();

try {
  const { paths, chosen } = read(options.only);
  bench.closeWhenAsked();
  const origin = await bench.start();
  say(`Origin: ${origin}. Requests: ${bench.visitors}. Node ${process.versions.node}, ${cpus().length} CPUs.`);
  say(`Load average before: ${load()}`);
  if (options.profile) await profile(chosen);
  else await compare(paths, chosen);
  say(`\nLoad average after: ${load()}`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${bench.logs().join('')}`);
  process.exitCode = 1;
} finally {
  await bench.close();
}

/** @param {string} only */
function read(only) {
  const names = only.split(',').filter(Boolean);
  const known = [...PATHS, ...Object.keys(cases), IDLE];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new Error(`There is no path or case "${unknown}". There is: ${known.join(', ')}`);
  if (!(rounds >= 1 && seconds > 0)) throw new Error('--rounds must be at least 1, and --seconds more than 0');
  const some = (/** @type {string[]} */ all) => {
    const named = all.filter((name) => names.includes(name));
    return named.length > 0 ? named : undefined;
  };
  const paths = some(PATHS) ?? PATHS.filter((name) => name !== 'before' || before);
  return { paths, chosen: some([...Object.keys(cases), IDLE]) };
}

/** @param {string[]} paths @param {string[] | undefined} chosen cases. */
async function compare(paths, chosen = [...Object.keys(cases), IDLE]) {
  bench.speaksTls = chosen.some(isInTls);
  for (const name of paths) {
    const missing = await bench.open(name, programs);
    if (missing) say(`Left out: ${name}, as ${missing}.`);
  }
  say(`${rounds} rounds, requests for ${seconds} s each time; medians; a ratio is that of the same round.`);
  /** @type {import('./report.js').Results} */
  const results = new Map();
  // One case after another: a process that goes from one to the next spends its time on compiling its code anew.
  for (const name of chosen.filter((one) => one !== IDLE)) {
    const lacking = bench.lacks(name);
    if (lacking) {
      say(`\nLeft out: ${name}, as ${lacking} is not installed.`);
      continue;
    }
    const taking = bench.taking(name);
    const figures = new Map(taking.map((path) => [path, /** @type {import('./report.js').Figures[]} */ ([])]));
    if (!isSmoke) for (const path of taking) await bench.measure(path, name, Math.min(seconds, 1));
    for (let round = 0; round < rounds; round++) {
      // Every second round goes backwards, so that no path always follows the same one.
      for (const path of round % 2 ? taking.toReversed() : taking)
        figures.get(path)?.push(await bench.measure(path, name, seconds));
    }
    results.set(name, figures);
    say(`\n${table(name, figures)}`);
  }
  /** @type {Map<string, import('./idle.js').Idle>} */
  const idle = new Map();
  if (chosen.includes(IDLE)) {
    const ours = /** @type {const} */ ([
      ['agent', 'own'],
      ['sdk', 'sdk'],
    ]);
    for (const [path, kind] of ours)
      if (bench.isOpen(path)) idle.set(path, await measureIdle(bench, kind, programs.dist));
    say(`\n${idleTable(idle, bench.sshdMemory())}`);
  }
  say(`\nTargets, of the gateway with our agent\n${verdicts(results, idle)}`);
}

/** Whether visitors speak TLS. @param {string} name of a case. */
function isInTls(name) {
  return (cases[name]?.over ?? 'http') !== 'http';
}

/** @param {string[] | undefined} chosen cases. */
async function profile(chosen = ['small-64', 'down', 'up']) {
  bench.speaksTls = chosen.some(isInTls);
  const directories = {
    gateway: join(bench.directory, 'profile-gateway'),
    agent: join(bench.directory, 'profile-agent'),
  };
  const args = (/** @type {string} */ directory) => {
    mkdirSync(directory);
    return ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${directory}`];
  };
  const missing = await bench.open('agent', programs, {
    gateway: args(directories.gateway),
    agent: args(directories.agent),
  });
  if (missing) throw new Error(`There is nothing to profile, as ${missing}`);
  say('Under the profiler, which costs time itself: the figures are for orientation.');
  /** @type {import('./profile.js').Window[]} */
  const windows = [];
  for (const name of chosen) {
    const { title = name } = cases[name] ?? {};
    await bench.measure('agent', name, seconds);
    const from = profileClock();
    const figures = await bench.measure('agent', name, seconds);
    windows.push({ title, from, to: profileClock() });
    say(`\n${table(name, new Map([['agent', [figures]]]))}`);
  }
  await bench.stopGateway();
  for (const window of windows)
    for (const [side, directory] of Object.entries(directories))
      say(`\n${window.title}: the ${side}\n${describe(directory, window)}`);
}
