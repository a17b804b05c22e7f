// `npm run bench -- api`: the gateway's API beside servers that do the same work on the same tables.
//
//   --quick           short rounds, for a look: about two minutes
//   --rounds N        how often each pair of server and case is measured (5)
//   --seconds N       how long each time (1.5)
//   --case NAME       only this case; may be repeated: rest-get rest-list rest-create rest-update graphql-get graphql-list
//                     concurrent-create embedded-create
//   --peers WHICH     all; bare: only those on node:http, which need no packages of their own; none
//   --before DIR      one peer more: the gateway of an earlier commit, of which this is the built checkout, on a database of its own
//   --no-first        without the first 1,000 calls, for each of which the servers are started anew
//   --profile NAME    no comparison: where the gateway's time goes in this case
//   --dist DIR        the compiled gateway (dist)
//
// BENCH_SMOKE=1 only tries whether everything works, in a handful of requests each.

import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Bench, CONNECTIONS } from './bench.js';
import { BARE_FILE, before, cases, notes, servers } from './cases.js';
import { gatewayProgram, isSmoke } from './processes.js';
import { describeProfile } from './profile.js';
import { table, targets } from './report.js';

const root = resolve(import.meta.dirname, '../../..');
const PROFILE_SECONDS = 5;
const PEERS = ['all', 'bare', 'none'];

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    case: { type: 'string', multiple: true },
    peers: { type: 'string', default: 'all' },
    before: { type: 'string' },
    'no-first': { type: 'boolean', default: false },
    profile: { type: 'string' },
    dist: { type: 'string', default: join(root, 'dist') },
  },
});
const [usualRounds, usualSeconds] = isSmoke ? [1, 0.1] : options.quick ? [2, 0.8] : [5, 1.5];
const rounds = Number(options.rounds ?? usualRounds);
const seconds = Number(options.seconds ?? usualSeconds);
/** After one round, not all that is called often has been optimised. */
const WARM_UPS = isSmoke ? 0 : 2;
const chosen = options.profile ? [options.profile] : (options.case ?? Object.keys(cases));

/** @typedef {import('./cases.js').Server} Server */
/** @typedef {{ bench: Bench, server: Server }} Participant */

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const [gateway, ...others] = /** @type {[Server, ...Server[]]} */ (servers);
const dist = resolve(options.dist);
/** Benches that are open. @type {Set<Bench>} */
const open = new Set();

try {
  const unknown = chosen.find((name) => !(name in cases));
  if (unknown) throw new Error(`There is no case ${unknown}. There is: ${Object.keys(cases).join(', ')}`);
  if (!PEERS.includes(options.peers)) throw new Error(`--peers takes one of: ${PEERS.join(', ')}`);
  gatewayProgram(dist);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => closeAll().finally(() => process.exit(130)));
  }
  if (options.profile) await profile(options.profile);
  else await compare();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await closeAll();
}

/** @param {Server} server a gateway. @param {boolean} [isEmbedded] */
async function openBench(server, isEmbedded) {
  const bench = new Bench();
  open.add(bench);
  const ofServer = server === before ? resolve(options.before ?? '', 'dist') : dist;
  await bench.open(server, ofServer, isEmbedded);
  return bench;
}

async function closeAll() {
  for (const bench of open) await bench.close();
  open.clear();
}

async function compare() {
  say(
    `${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections, Node ${process.versions.node}, ${cpus().length} CPUs`,
  );
  const busy = loadavg()[0] ?? 0;
  if (busy > 1) say(`Other work is going on here (load ${busy.toFixed(1)}): the figures will be less certain.`);
  /** @type {import('./report.js').Results} */
  const results = new Map();
  const onServer = chosen.filter((name) => !cases[name]?.embedded);
  if (onServer.length > 0) await compareOn(onServer, await participants(onServer), results);
  await closeAll();
  const embedded = chosen.filter((name) => cases[name]?.embedded);
  if (embedded.length > 0) await compareOn(embedded, await gateways(true), results);
  say(`\n${notes.join('\n')}\n\n${targets(results, gateway.name)}`);
  say(`\nLoad average after it: ${loadavg()[0]?.toFixed(1)}. Where the time of a case goes: --profile NAME`);
}

/** Each gateway on a database of its own: the tables of an earlier one may be others. @param {boolean} isEmbedded */
async function gateways(isEmbedded) {
  /** @type {Participant[]} */
  const running = [];
  for (const server of options.before ? [gateway, before] : [gateway])
    running.push({ server, bench: await openBench(server, isEmbedded) });
  return running;
}

/** The gateways, and the peers of some cases on the database of the first one. @param {string[]} names */
async function participants(names) {
  const running = await gateways(false);
  const [{ bench }] = /** @type {[Participant]} */ (running);
  for (const server of others) {
    if (options.peers === 'none' || (options.peers === 'bare' && server.file !== BARE_FILE)) continue;
    if (!server.cases.some((name) => names.includes(name))) continue;
    if (await bench.start(server)) running.push({ bench, server });
    else say(`Left out: ${server.name}, which cannot be had here.`);
  }
  return running;
}

/** @param {string[]} names of cases. @param {Participant[]} running @param {import('./report.js').Results} results */
async function compareOn(names, running, results) {
  const takingPart = (/** @type {string} */ name) => running.filter(({ server }) => server.cases.includes(name));
  for (const name of names)
    for (const { bench, server } of takingPart(name))
      await bench.check(server, name, server === before ? before : gateway);
  for (const name of names)
    results.set(name, new Map(takingPart(name).map(({ server }) => [server.name, { first: undefined, rounds: [] }])));
  const of = (/** @type {string} */ name, /** @type {Server} */ server) =>
    /** @type {import('./report.js').Measured} */ (results.get(name)?.get(server.name));
  if (!options['no-first'])
    for (const name of names)
      for (const { bench, server } of takingPart(name)) of(name, server).first = await bench.measureFirst(server, name);
  // One case after another: a process that goes from one to the next spends its time on compiling its code anew.
  for (const [index, name] of names.entries()) {
    const taking = takingPart(name);
    // The server of the database has connections for those that are measured, and for the many of pgbench.
    const later = names.slice(index);
    for (const { bench, server } of running)
      if (!later.some((one) => server.cases.includes(one))) await bench.stop(server.name);
    for (let warmUp = 0; warmUp < WARM_UPS; warmUp++)
      for (const { bench, server } of taking) await bench.measure(server, name, seconds);
    for (let round = 0; round < rounds; round++) {
      // Every second round goes backwards, so that no server always follows the same one.
      for (const { bench, server } of round % 2 ? taking.toReversed() : taking)
        of(name, server).rounds.push(await bench.measure(server, name, seconds));
    }
    say(`\n${table(name, results)}`);
  }
}

/**
 * Says where the gateway's time goes.
 * @param {string} name of the case.
 */
async function profile(name) {
  const bench = await openBench(gateway, cases[name]?.embedded);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-profile-'));
  try {
    await bench.startGateway(gateway, ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${directory}`]);
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
