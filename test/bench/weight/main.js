// `npm run bench -- weight`: what the processes of a gateway weigh and how long they take to start, what a device agent weighs,
// and each agent at the gateway. On the embedded database and, where there is a server at TEST_DATABASE_URL, on PostgreSQL.
//
//   --rounds N       how often each start is measured (5)
//   --database NAME  embedded, postgres or both (both)
//
// BENCH_SMOKE=1 only tries whether everything works, with few agents, and waits for nothing to settle.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createDatabase } from '../api/data.js';
import { isSmoke } from '../api/processes.js';
import { median } from '../api/report.js';
import { family } from '../data-plane/processes.js';
import { STAGES, weighIdleAgents } from './agents.js';
import { IDLE_MS, memoryOf, Place } from './gateway.js';
import { forbidden, loadedPackages } from './packages.js';
import { memoryRow, packageList, table } from './report.js';

/** @typedef {'embedded' | 'postgres'} Database */

const WORKERS = 2;
/** So many packages are shown of processes that may load what they like. */
const LARGEST = 12;
/** Processes that have not ended by then are killed. */
const END_MS = 5000;
const END_LOOK_MS = 50;
const root = resolve(import.meta.dirname, '../../..');
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: isSmoke ? '1' : '5' }, database: { type: 'string', default: 'both' } },
});
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const directory = mkdtempSync(join(tmpdir(), 'gateway-weight-'));
/** Undone in the opposite order. @type {(() => unknown)[]} */
const undo = [() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })];
/** @type {import('./report.js').Row[]} */
const rows = [];
const brokenOff = new AbortController();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    brokenOff.abort();
    void close().finally(() => process.exit(130));
  });
try {
  await run();
} catch (error) {
  // What is under way fails when it is broken off, and need not say so.
  if (!brokenOff.signal.aborted) process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  if (!brokenOff.signal.aborted) await close();
}

async function run() {
  if (!(Number(options.rounds) >= 1)) throw new Error('--rounds must be at least 1');
  say(`Node ${process.versions.node}, ${cpus().length} CPUs. Load average before: ${loadavg()[0]?.toFixed(2)}`);
  const origin = await startOrigin();
  const databases = await openDatabases();
  const places = databases.map(([name, url]) => new Place(root, join(directory, name), url, brokenOff.signal));
  for (const [index, place] of places.entries()) {
    mkdirSync(place.directory);
    await (await place.start(1)).stop(); // Creates the tables.
    for (const workers of [1, WORKERS]) await weigh(place, databases[index]?.[0] ?? 'embedded', workers);
  }
  // A server, where there is one: an embedded database grows with what agents have written.
  const last = /** @type {Place} */ (places.at(-1));
  for (const workers of [1, WORKERS]) await weighAgents(last, workers, origin);
  say(`\n${table(rows)}`);
  await listPackages(last, origin);
  say(`\nLoad average after: ${loadavg()[0]?.toFixed(2)}`);
}

/** @returns {Promise<[Database, string][]>} those to be measured, and their URLs. */
async function openDatabases() {
  const isAsked = (/** @type {Database} */ name) => options.database === name || options.database === 'both';
  /** @type {[Database, string][]} */
  const found = isAsked('embedded') ? [['embedded', '']] : [];
  if (isAsked('postgres')) {
    try {
      const { url, drop } = await createDatabase(`gateway_weight_${process.pid}_${randomBytes(3).toString('hex')}`);
      undo.push(drop);
      found.push(['postgres', url]);
    } catch (error) {
      if (options.database !== 'both') throw error;
      say(`Left out: PostgreSQL. ${error instanceof Error ? error.message : error}`);
    }
  }
  if (found.length === 0) throw new Error('--database must be embedded, postgres or both');
  return found;
}

/**
 * Starts a gateway that has its data, time and again, and reads the memory of the last one when it is idle.
 * @param {Place} place @param {Database} database @param {number} workers
 */
async function weigh(place, database, workers) {
  const name = `${database}, WORKERS=${workers}`;
  let gateway = await place.start(workers);
  const starts = [gateway.startMs / 1000];
  while (starts.length < Number(options.rounds)) {
    await gateway.stop();
    gateway = await place.start(workers);
    starts.push(gateway.startMs / 1000);
  }
  const seconds = median(starts);
  const range = `${Math.min(...starts).toFixed(2)}–${Math.max(...starts).toFixed(2)} s`;
  rows.push({ what: `${name}: ready`, value: seconds, text: `${seconds.toFixed(2)} s`, more: range, target: 'ready' });
  await later(IDLE_MS);
  for (const { pid, role } of gateway.members()) {
    const target = { whole: undefined, primary: undefined, worker: 'worker', control: `control, ${database}` }[role];
    rows.push(memoryRow(`${name}: ${role === 'whole' ? 'the process' : role}`, memoryOf(pid), target));
  }
  await gateway.stop();
}

/** @param {Place} place @param {number} workers @param {number} origin the port. */
async function weighAgents(place, workers, origin) {
  const { each, control, device } = await weighIdleAgents(place, workers, origin);
  const [kB, controlkB] = [each, control].map((bytes) => bytes / 1000);
  rows.push({
    what: `${STAGES.few} to ${STAGES.many} idle agents, WORKERS=${workers}: each`,
    value: kB ?? Number.NaN,
    text: `${kB?.toFixed(1)} kB`,
    more: workers > 1 ? `${controlkB?.toFixed(1)} kB in control` : '',
    target: 'idle agent',
  });
  if (workers === 1) rows.push(memoryRow('device agent, one tunnel', device, 'device agent'));
}

/** @param {Place} place @param {number} origin the port. */
async function listPackages(place, origin) {
  const byRole = await loadedPackages(place, WORKERS, origin);
  const worker = byRole.get('worker') ?? new Map();
  const wrong = forbidden(worker);
  const verdict = wrong.length > 0 ? `MISSED: it has loaded ${wrong.join(', ')}` : 'met';
  say('\nPackages that a worker has loaded when it has served visitors of an agent:');
  say(packageList(worker));
  say(`No GraphQL, no client of a database, no SDK of a cloud: ${verdict}`);
  for (const role of /** @type {const} */ (['primary', 'control']))
    say(`\nThe largest of the ${role} process:\n${packageList(byRole.get(role) ?? new Map(), LARGEST)}`);
}

/** @returns {Promise<number>} its port. */
async function startOrigin() {
  const server = createServer((_, response) => response.end('hello from origin!\n'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  undo.push(() => server.close().closeAllConnections());
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

/** Ends and removes everything, also after a failure. */
async function close() {
  for (const step of [...undo.splice(0), endChildren].reverse())
    await Promise.resolve()
      .then(step)
      .catch((error) => process.stderr.write(`${error}\n`));
}

/** Ends all processes that this one has started, also those that are about to start. */
async function endChildren() {
  const children = () => family(process).filter((pid) => pid !== process.pid);
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    for (const pid of children())
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
  };
  end('SIGTERM');
  const until = performance.now() + END_MS;
  while (children().length > 0 && performance.now() < until) await later(END_LOOK_MS);
  end('SIGKILL');
}
