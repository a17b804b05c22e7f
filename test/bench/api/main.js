// `npm run bench -- api`: the gateway's API beside servers that do the same work on the same tables.
//
//   --quick           short rounds, for a look: about a minute
//   --rounds N        how often each pair of server and case is measured (5)
//   --seconds N       how long each time (2)
//   --case NAME       only this case; may be repeated: rest-get rest-list rest-create rest-update graphql-get graphql-list
//   --profile NAME    no comparison: where the gateway's time goes in this case
//   --bare            of the peers only node:http + pg, which needs no packages of its own
//   --dist DIR        the compiled gateway (dist)
//   --before DIR      no peers: beside the gateway of an earlier commit, of which this is the built checkout
//
// BENCH_SMOKE=1 only tries whether everything works, in a handful of requests each.

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import { BARE_FILE, cases, servers } from './cases.js';
import { gatewayProgram, isSmoke } from './processes.js';
import { describeProfile } from './profile.js';
import { median, tables, targets } from './report.js';

const root = resolve(import.meta.dirname, '../../..');
const PROFILE_SECONDS = 5;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    case: { type: 'string', multiple: true },
    profile: { type: 'string' },
    bare: { type: 'boolean', default: false },
    dist: { type: 'string', default: join(root, 'dist') },
    before: { type: 'string' },
  },
});
const [usualRounds, usualSeconds] = isSmoke ? [1, 0.1] : options.quick ? [2, 0.8] : [5, 2];
const rounds = Number(options.rounds ?? usualRounds);
const seconds = Number(options.seconds ?? usualSeconds);
/** After one round, not all that is called often has been optimised. */
const WARM_UPS = isSmoke ? 0 : 2;
const chosen = options.profile ? [options.profile] : (options.case ?? Object.keys(cases));

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const [gateway, ...others] = servers;
const bench = new Bench();

try {
  const unknown = chosen.find((name) => !(name in cases));
  if (unknown) throw new Error(`There is no case ${unknown}. There is: ${Object.keys(cases).join(', ')}`);
  gatewayProgram(options.dist);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => bench.close().finally(() => process.exit(130)));
  }
  await bench.open(resolve(options.dist));
  if (options.profile) await profile(options.profile);
  else if (options.before) await compareWith(resolve(options.before, 'dist'));
  else await compare();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await bench.close();
}

async function compare() {
  const running = [gateway];
  for (const server of others) {
    if (options.bare && server.file !== BARE_FILE) continue;
    if (!server.cases.some((name) => chosen.includes(name))) continue;
    if (await bench.startPeer(server)) running.push(server);
    else say(`Left out: ${server.name}, for which npm has no Node here.`);
  }
  const takingPart = (/** @type {string} */ name) => running.filter((server) => server.cases.includes(name));
  for (const name of chosen) for (const server of takingPart(name)) await bench.check(server, name, gateway);

  say(`${rounds} rounds of ${seconds} s, 16 connections, Node ${process.versions.node}, ${cpus().length} CPUs`);
  const busy = loadavg()[0] ?? 0;
  if (busy > 1) say(`Other work is going on here (load ${busy.toFixed(1)}): the figures will be less certain.`);
  /** @type {import('./report.js').Results} */
  const results = new Map();
  // One case after another: a process that goes from one to the next spends its time on compiling its code anew.
  for (const name of chosen) {
    const taking = takingPart(name);
    const figures = new Map(taking.map((server) => [server.name, /** @type {import('./report.js').Figures[]} */ ([])]));
    for (let warmUp = 0; warmUp < WARM_UPS; warmUp++)
      for (const server of taking) await bench.measure(server, name, seconds);
    for (let round = 0; round < rounds; round++) {
      // Every second round goes backwards, so that no server always follows the same one.
      for (const server of round % 2 ? taking.toReversed() : taking)
        figures.get(server.name)?.push(await bench.measure(server, name, seconds));
    }
    results.set(name, figures);
  }
  const { text, missed } = targets(results, gateway.name);
  say(`\n${tables(results)}\n\n${text}`);
  if (!isSmoke) for (const name of missed) await profile(name);
}

/**
 * Holds the gateway against an earlier one, which has a database of its own: its tables may be others.
 * @param {string} dist of the earlier one.
 */
async function compareWith(dist) {
  const earlier = new Bench();
  try {
    await earlier.open(dist);
    for (const one of [bench, earlier]) for (const name of chosen) await one.check(gateway, name, gateway);
    say(`${rounds} rounds of ${seconds} s, 16 connections, Node ${process.versions.node}, ${cpus().length} CPUs`);
    say(
      `Load average: ${loadavg()[0]?.toFixed(2)}. Microseconds of CPU for a request: medians, and the rounds' ratios.`,
    );
    for (const name of chosen) {
      /** @type {[import('./report.js').Figures[], import('./report.js').Figures[]]} */
      const [now, then] = [[], []];
      for (const one of [bench, earlier]) await one.measure(gateway, name, seconds);
      for (let round = 0; round < rounds; round++) {
        // Every second round goes backwards, so that neither always follows the other.
        const turns = [async () => now.push(await bench.measure(gateway, name, seconds))];
        turns.push(async () => then.push(await earlier.measure(gateway, name, seconds)));
        for (const turn of round % 2 ? turns.reverse() : turns) await turn();
      }
      const ratios = now.map(({ cpu }, round) => cpu / (then[round]?.cpu ?? Number.NaN));
      const micros = (/** @type {import('./report.js').Figures[]} */ figures) =>
        median(figures.map(({ cpu }) => cpu)).toFixed(1);
      const span = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
      say(
        `  ${name.padEnd(13)} ${micros(now)} µs, before ${micros(then)} µs: ${median(ratios).toFixed(2)} × (${span})`,
      );
    }
  } finally {
    await earlier.close();
  }
}

/**
 * Says where the gateway's time goes.
 * @param {string} name of the case.
 */
async function profile(name) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-profile-'));
  try {
    await bench.startGateway(['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${directory}`]);
    await bench.check(gateway, name, gateway);
    await bench.measure(gateway, name, PROFILE_SECONDS / 2);
    const from = Number(process.hrtime.bigint() / 1000n);
    await bench.measure(gateway, name, PROFILE_SECONDS);
    const to = Number(process.hrtime.bigint() / 1000n);
    await bench.stop(gateway.name);
    say(`\nProfile of ${cases[name]?.title}, the time that each took itself\n${describeProfile(directory, from, to)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
