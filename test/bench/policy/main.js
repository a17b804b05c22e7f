// `npm run bench -- policy`: what a traffic policy costs the gateway, and whether endpoints without one pay for it.
//
//   --rounds N     how often each path is measured (5)
//   --seconds N    how long requests are sent each time (3)
//   --before DIR   a checkout of an earlier commit, built, to hold plain endpoints against
//
// BENCH_SMOKE=1 only tries whether everything works, in a handful of requests each.

import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';
import { Bench } from '../data-plane/bench.js';
import { startAgent, startGateway } from '../data-plane/gateway.js';
import { family } from '../data-plane/processes.js';

/** Microseconds of the gateway's CPU that ten rules may add to a request. */
const TARGET = 30;
const root = resolve(import.meta.dirname, '../../..');
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: isSmoke ? '1' : '5' },
    seconds: { type: 'string', default: isSmoke ? '0.1' : '3' },
    before: { type: 'string' },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const bench = new Bench();

/** @typedef {{ port: number, host: string, pids: number[][] }} Path */

try {
  bench.closeWhenAsked();
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${bench.logs().join('')}`);
  process.exitCode = 1;
} finally {
  await bench.close();
}

async function run() {
  const origin = await bench.start();
  say(`Origin: ${origin}. Requests: ${bench.visitors}. Node ${process.versions.node}, ${cpus().length} CPUs.`);
  say(`Load average before: ${loadavg()[0]?.toFixed(2)}`);
  const now = await gatewayOf('now', join(root, 'dist'));
  const agent = join(root, 'agent/dist/agent.js');
  /** @type {Record<string, Path>} */
  const paths = {
    plain: await pathTo(now, 'plain', agent),
    policy: await pathTo(now, 'policy', agent, ['--policy', join(import.meta.dirname, 'ten-rules.json')]),
  };
  if (options.before) {
    const before = await gatewayOf('before', resolve(options.before, 'dist'));
    paths.before = await pathTo(before, 'before-agent', resolve(options.before, 'agent/dist/agent.js'));
  }
  for (const caseName of ['small-64', 'small-1', 'connect']) await compare(caseName, paths);
  say(`Load average after: ${loadavg()[0]?.toFixed(2)}`);
}

/** @param {string} name @param {string} dist */
function gatewayOf(name, dist) {
  return startGateway(join(bench.directory, `gateway-${name}`), dist, bench.keep);
}

/**
 * @param {import('../data-plane/gateway.js').Gateway} gateway
 * @param {string} name
 * @param {string} file
 * @param {string[]} [args]
 * @returns {Promise<Path>}
 */
async function pathTo(gateway, name, file, args) {
  const directory = join(bench.directory, name);
  mkdirSync(directory);
  const started = await startAgent({ directory, gateway, port: bench.origin, keep: bench.keep, file, args });
  if (typeof started === 'string') throw new Error(`There is nothing to measure, as ${started}`);
  return { port: gateway.httpPort, host: started.host, pids: [gateway.process, started.process].map(family) };
}

/** @param {string} caseName @param {Record<string, Path>} paths */
async function compare(caseName, paths) {
  const names = Object.keys(paths);
  /** @type {Record<string, import('../data-plane/report.js').Figures[]>} */
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  if (!isSmoke) for (const name of names) await bench.send(pathOf(paths, name), caseName, 1);
  for (let round = 0; round < rounds; round++) {
    // Every second round goes backwards, so that no path always follows the same one.
    for (const name of round % 2 ? names.toReversed() : names)
      figures[name]?.push(await bench.send(pathOf(paths, name), caseName, seconds));
  }
  const gateway = (/** @type {string} */ name, /** @type {number} */ round) => figures[name]?.[round]?.parts[0] ?? 0;
  const each = (/** @type {(round: number) => number} */ of) => median(Array.from({ length: rounds }, (_, i) => of(i)));
  say(`\n${caseName}: CPU of the gateway for a request, medians of ${rounds} rounds`);
  for (const name of names) say(`  ${name.padEnd(7)} ${each((i) => gateway(name, i)).toFixed(1)} µs`);
  const added = each((i) => gateway('policy', i) - gateway('plain', i));
  say(`  ten rules add ${added.toFixed(1)} µs (<= ${TARGET}: ${added <= TARGET ? 'met' : 'MISSED'})`);
  if (paths.before)
    say(`  plain is ${each((i) => gateway('plain', i) / gateway('before', i)).toFixed(2)} × what it was before`);
}

/** @param {Record<string, Path>} paths @param {string} name */
function pathOf(paths, name) {
  const path = paths[name];
  if (!path) throw new Error(`there is no path ${name}`);
  return path;
}
