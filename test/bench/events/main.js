// `npm run bench -- events`: how fast events reach their destinations, what they cost the gateway, and what they cost
// visitors. Events go to kinesalite, a Kinesis that this project did not write, and to a file.
//
//   --rounds N       how often each is measured with events and without (5)
//   --seconds N      how long requests are sent each time (4)
//   --share N        at which share of the highest rate visits are sent (0.5, as the targets are stated)
//   --only PART      audit, traffic or visits; several with commas
//   --database NAME  embedded, postgres or both (both); PostgreSQL at TEST_DATABASE_URL
//   --profile        no comparison: where the gateway's time goes
//   --dist DIR       the compiled gateway (dist)
//   --agent FILE     the built agent (agent/dist/agent.js)
//
// BENCH_SMOKE=1 only tries whether everything works, in a moment each. Events that did not arrive, or came twice, then make the
// exit code 1.

import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase } from '../api/data.js';
import { isSmoke } from '../api/processes.js';
import { Bench } from '../data-plane/bench.js';
import { Client, Receiver } from './children.js';
import { flow } from './flow.js';
import { Gateway } from './gateway.js';
import { profiles, profiling, record } from './profile.js';
import { visits } from './visits.js';

const root = resolve(import.meta.dirname, '../../..');
/** @type {Record<string, string>} */
const TITLES = {
  audit: 'Audit events of writes through REST',
  traffic: 'Traffic events of visits through an agent',
  visits: 'What events cost visitors',
};
const PARTS = Object.keys(TITLES);
const DATABASES = /** @type {const} */ (['embedded', 'postgres']);
const WRITERS = 16;
const VISITORS = 64;
/** How often the file is looked at: where the lag is asked for, and where only that all came, which is asked afterwards. */
const LOOK_MS = { lag: 5, count: 0 };

/** @typedef {import('./flow.js').Way} Way */
/** @typedef {typeof DATABASES[number]} Database */

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: isSmoke ? '1' : '5' },
    seconds: { type: 'string', default: isSmoke ? '0.1' : '4' },
    share: { type: 'string', default: '0.5' },
    only: { type: 'string', default: PARTS.join(',') },
    database: { type: 'string', default: 'both' },
    profile: { type: 'boolean', default: false },
    dist: { type: 'string', default: join(root, 'dist') },
    agent: { type: 'string', default: join(root, 'agent/dist/agent.js') },
  },
});
const length = { rounds: Number(options.rounds), seconds: Number(options.seconds), share: Number(options.share) };
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
/** The directory, and the origin. */
const bench = new Bench();
/** What the part under way has started, undone in the opposite order. @type {(() => Promise<unknown>)[]} */
const started = [];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => close().finally(() => process.exit(130)));
try {
  const { parts, databases } = await read();
  const origin = await bench.start();
  say(`Origin: ${origin}. Node ${process.versions.node}, ${cpus().length} CPUs. Load: ${loadavg()[0]?.toFixed(2)}`);
  say(`${length.rounds} rounds of ${length.seconds} s, with events and without by turns; medians (least–most).`);
  say('CPU is that of the gateway process, with the embedded database in it, and without a PostgreSQL server.');
  for (const database of databases) for (const part of parts) await run(part, database);
  say(`\nLoad afterwards: ${loadavg()[0]?.toFixed(2)}`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n${bench.logs().join('')}`);
  process.exitCode = 1;
} finally {
  await close();
}

async function close() {
  await endPart();
  await bench.close();
}

async function endPart() {
  for (const stop of started.splice(0).reverse()) await stop();
}

async function read() {
  const parts = options.only.split(',');
  const unknown = parts.find((part) => !PARTS.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}". There is: ${PARTS.join(', ')}`);
  const asked = DATABASES.filter((name) => name === options.database || options.database === 'both');
  if (asked.length === 0) throw new Error('--database must be embedded, postgres or both');
  if (!(length.rounds >= 1 && length.seconds > 0))
    throw new Error('--rounds must be at least 1, and --seconds more than 0');
  /** @type {Database[]} */
  const databases = [];
  for (const name of asked) {
    const missing = name === 'postgres' ? await missingServer() : undefined;
    if (missing && options.database !== 'both') throw new Error(missing);
    if (missing) say(`Left out: PostgreSQL. ${missing}`);
    else databases.push(name);
  }
  return { parts, databases };
}

/** Why there is no server to be used, if there is none. @returns {Promise<string | undefined>} */
async function missingServer() {
  try {
    await (await createDatabase(`gateway_events_probe_${process.pid}`)).drop();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} part @param {Database} database */
async function run(part, database) {
  const directory = join(bench.directory, `${database}-${part}`);
  mkdirSync(directory);
  const client = kept(new Client(directory));
  /** @type {Record<string, Receiver>} */
  const receivers = {};
  if (part !== 'visits') receivers.Kinesis = kept(await Receiver.kinesis(directory));
  if (part !== 'audit')
    receivers['a file'] = kept(await Receiver.file(directory, part === 'traffic' ? LOOK_MS.lag : LOOK_MS.count));
  const profileDirectory = join(directory, 'profile');
  const gateway = await Gateway.start({
    directory: join(directory, 'gateway'),
    database,
    dist: resolve(options.dist),
    env: Object.assign({}, ...Object.values(receivers).map(({ env }) => env)),
    nodeArgs: options.profile ? profiling(profileDirectory) : [],
  });
  started.push(() => gateway.close());
  const requests = part === 'audit' ? writes(gateway) : await visitsTo(gateway);
  const type = part === 'audit' ? 'tunnel_credential_created.v0' : 'http_request_complete.v0';
  /** @type {import('../data-plane/profile.js').Window[]} */
  const windows = [];
  for (const [place, receiver] of Object.entries(receivers)) {
    const title = `${TITLES[part]}, to ${place}, ${database} database`;
    const way = { gateway, client, receiver, type, requests };
    if (options.profile) windows.push(await record(way, title, length.seconds));
    else {
      const { text, astray } = await (part === 'visits' ? visits : flow)(way, length);
      say(`\n${title}\n${text}`);
      if (isSmoke && astray > 0) throw new Error(`${title}: ${astray} events did not arrive, or came twice`);
    }
  }
  await endPart();
  if (options.profile) say(`\n${profiles(profileDirectory, windows)}`);
}

/** @template {{ stop(): Promise<unknown> }} T @param {T} child @returns {T} */
function kept(child) {
  started.push(() => child.stop());
  return child;
}

/** @param {Gateway} gateway */
function writes(gateway) {
  const request = gateway.request('POST', '/credentials', '{"description":"n=%N%"}');
  return { port: gateway.apiPort, request, status: 201, connections: WRITERS };
}

/** @param {Gateway} gateway */
async function visitsTo(gateway) {
  const host = await gateway.startAgent(bench.origin, resolve(options.agent));
  const request = `GET /small?n=%N% HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`;
  return { port: gateway.httpPort, request, status: 200, connections: VISITORS };
}
