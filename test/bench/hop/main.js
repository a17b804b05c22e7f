// `npm run bench -- hop`: what it costs a visitor to come to another node than the one that has the agent, and whether visits to a
// node's own agents cost more when nodes are linked. Needs a PostgreSQL server (TEST_DATABASE_URL).
//
//   --rounds N     how often each way is measured in each case, in alternation (5)
//   --seconds N    how long requests are sent each time (3)
//   --before DIR   a checkout of an earlier commit, built: its gateway and agent are one more way
//
// BENCH_SMOKE=1 only tries whether everything works, in a handful of requests each.

import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase } from '../../../src/boot/demo/database.js';
import { gatewayProgram, isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';
import { Bench } from '../data-plane/bench.js';
import { startAgent } from '../data-plane/gateway.js';
import { launch } from '../data-plane/processes.js';

/** @typedef {{ name: string, port: number, host: string, pids: number[][] }} Way */
/** @typedef {import('../data-plane/report.js').Figures} Figures */

const CASES = ['small-64', 'small-1'];
const root = resolve(import.meta.dirname, '../../..');
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: isSmoke ? '1' : '5' },
    seconds: { type: 'string', default: isSmoke ? '0.1' : '3' },
    before: { type: 'string' },
  },
});
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const bench = new Bench();
/** @type {(() => Promise<void>)[]} */
const drops = [];

try {
  bench.closeWhenAsked();
  const origin = await bench.start();
  const load = loadavg().map((value) => value.toFixed(2));
  say(`Origin: ${origin}. Requests: ${bench.visitors}. Node ${process.versions.node}, ${cpus().length} CPUs.`);
  say(`Load average before: ${load.join(' ')}`);
  await compare(await openWays());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${bench.logs().join('')}`);
  process.exitCode = 1;
} finally {
  await bench.close();
  for (const drop of drops) await drop();
}

/** @returns {Promise<Way[]>} what the others are held against comes first. */
async function openWays() {
  const linked = { NODE_ADDR: '127.0.0.1', NODE_PORT: '0' };
  const shared = await newDatabase();
  const owner = await startNode('owner', root, shared, linked);
  const entry = await startNode('entry', root, shared, linked);
  const agent = await agentOf(owner, root);
  const alone = await startNode('alone', root, await newDatabase());
  const ways = [await wayTo('own node, no links', alone, root)];
  if (options.before) {
    const checkout = resolve(options.before);
    ways.push(await wayTo('the build before', await startNode('before', checkout, await newDatabase()), checkout));
  }
  const agentPids = [agent.process.pid ?? 0];
  ways.push(
    { name: 'own node, linked', port: owner.httpPort, host: agent.host, pids: [[owner.pid], agentPids] },
    { name: 'another node', port: entry.httpPort, host: agent.host, pids: [[entry.pid, owner.pid], agentPids] },
  );
  return ways;
}

async function newDatabase() {
  const { url, drop } = await createDatabase();
  drops.push(drop);
  return { DATABASE_URL: url, SERVER_KEY: Buffer.alloc(32, 7).toString('base64') };
}

/** @param {string} name @param {Awaited<ReturnType<typeof startNode>>} node @param {string} checkout @returns {Promise<Way>} */
async function wayTo(name, node, checkout) {
  const agent = await agentOf(node, checkout);
  return { name, port: node.httpPort, host: agent.host, pids: [[node.pid], [agent.process.pid ?? 0]] };
}

/** @param {string} name @param {string} checkout @param {Record<string, string>[]} envs */
async function startNode(name, checkout, ...envs) {
  const directory = join(bench.directory, name);
  const ports = Object.fromEntries(['API', 'ADMIN', 'AGENT', 'HTTP', 'HTTPS'].map((port) => [`${port}_PORT`, '0']));
  const env = Object.assign({ ...ports, TCP_PORTS: '0', LOG_LEVEL: 'warn', DATA_DIR: directory }, ...envs);
  const { process: child, lines } = await launch(process.execPath, [gatewayProgram(join(checkout, 'dist'))], {
    env,
    logFile: `${directory}.log`,
    until: /^ready /,
  });
  bench.keep(child);
  const text = lines.join('\n');
  return {
    process: child,
    pid: child.pid ?? 0,
    address: /^ready .*\bagent=(\S+)/m.exec(text)?.[1] ?? '',
    httpPort: Number(/^ready .*\bhttp=\S*:(\d+)/m.exec(text)?.[1]),
    httpsPort: 0,
    // Only the first gateway of a database prints one.
    authtoken: /^Authtoken: (\S+)/m.exec(text)?.[1] ?? '',
    ca: join(directory, 'ca.pem'),
    directory,
  };
}

/** @param {Awaited<ReturnType<typeof startNode>>} gateway @param {string} checkout */
async function agentOf(gateway, checkout) {
  const directory = `${gateway.directory}-agent`;
  mkdirSync(directory);
  const file = join(checkout, 'agent/dist/agent.js');
  const agent = await startAgent({ directory, gateway, port: bench.origin, keep: bench.keep, file });
  if (typeof agent === 'string') throw new Error(agent);
  return agent;
}

/** @param {Way[]} ways */
async function compare(ways) {
  for (const name of CASES) {
    /** @type {Map<Way, Figures[]>} */
    const results = new Map(ways.map((way) => [way, []]));
    if (!isSmoke) for (const way of ways) await bench.send(way, name, 1); // Warm.
    for (let round = 0; round < Number(options.rounds); round++)
      for (const way of ways) results.get(way)?.push(await bench.send(way, name, Number(options.seconds)));
    print(name, results);
  }
}

/** @param {string} name @param {Map<Way, Figures[]>} results */
function print(name, results) {
  const all = [...results];
  const first = all[0]?.[1] ?? [];
  const own = all.find(([way]) => way.name === 'own node, linked')?.[1] ?? [];
  say(
    `\n${name}: medians of ${options.rounds} rounds; each ratio and difference is the median of those of the rounds.\n`,
  );
  say(
    '| visitor at | CPU µs/request | gateways | agent | p50 ms | requests/s | CPU, times the first | CPU µs more than own node | p50 ms more |',
  );
  say('|---|---|---|---|---|---|---|---|---|');
  for (const [way, figures] of all) {
    const of = (/** @type {(one: Figures, index: number) => number} */ value) => median(figures.map(value));
    const cells = [
      of(({ cpu }) => cpu).toFixed(1),
      of(({ parts }) => parts[0] ?? Number.NaN).toFixed(1),
      of(({ parts }) => parts[1] ?? Number.NaN).toFixed(1),
      of(({ p50 }) => p50).toFixed(3),
      of(({ perSecond }) => perSecond).toFixed(0),
      of(({ cpu }, i) => cpu / (first[i]?.cpu ?? Number.NaN)).toFixed(2),
      of(({ cpu }, i) => cpu - (own[i]?.cpu ?? Number.NaN)).toFixed(1),
      of(({ p50 }, i) => p50 - (own[i]?.p50 ?? Number.NaN)).toFixed(3),
    ];
    say(`| ${way.name} | ${cells.join(' | ')} |`);
  }
}
