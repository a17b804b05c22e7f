// `npm run bench -- binds`: binds per second of several gateways on one PostgreSQL server, 64 at once.
//
//   --gateways N      how many gateways share the database (4)
//   --binds N         how many binds are under way at once, over all gateways (64)
//   --rounds N        how often it is measured (5)
//   --seconds N       how long each time (3)
//   --dist DIR        the compiled gateway (dist)
//   --commit-ms N     how long a commit waits for others to be written with it, as with a synchronous standby (0)
//   --bus URL         sets BUS_URL
//   --before DIR      beside the gateway of an earlier commit, of which this is the built checkout, in alternating rounds
//
// BENCH_SMOKE=1 only tries whether everything works, in a tenth of a second.

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase } from '../api/data.js';
import { isSmoke, stop } from '../api/processes.js';
import { median } from '../api/report.js';

const root = resolve(import.meta.dirname, '../../..');
const { values: options } = parseArgs({
  options: {
    gateways: { type: 'string', default: isSmoke ? '2' : '4' },
    binds: { type: 'string', default: '64' },
    rounds: { type: 'string', default: isSmoke ? '1' : '5' },
    seconds: { type: 'string', default: isSmoke ? '0.1' : '3' },
    dist: { type: 'string', default: join(root, 'dist') },
    'commit-ms': { type: 'string', default: '0' },
    bus: { type: 'string' },
    before: { type: 'string' },
  },
});
const count = Number(options.gateways);
const each = Math.ceil(Number(options.binds) / count);
const ms = Number(options.seconds) * 1000;
const ports = { API_PORT: '0', ADMIN_PORT: '0', AGENT_PORT: '0', HTTP_PORT: '0', HTTPS_PORT: '0', TCP_PORTS: '0' };

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);

/** Gateways of one revision on a database of their own. */
class Cluster {
  /** Undone in the opposite order. @type {(() => unknown)[]} */
  #undo = [];
  /** @type {import('node:child_process').ChildProcess[]} */
  #gateways = [];

  /** @param {string} dist @param {Record<string, string>} env */
  async open(dist, env) {
    const database = await createDatabase(`gateway_bench_${process.pid}_${randomBytes(3).toString('hex')}`);
    this.#undo.push(database.drop);
    await slowDown(database.url);
    const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    this.#undo.push(() => rmSync(directory, { recursive: true, force: true }));
    // One after the other: the first one creates the tables and the account.
    for (let index = 0; index < count; index++) {
      const child = fork(join(import.meta.dirname, 'gateway.js'), [dist], {
        env: { ...process.env, ...ports, LOG_LEVEL: 'error', DATABASE_URL: database.url, DATA_DIR: directory, ...env },
      });
      this.#undo.push(() => stop(child));
      const ended = once(child, 'exit').then(() => Promise.reject(new Error('a gateway did not start')));
      await Promise.race([once(child, 'message'), ended]);
      ended.catch(() => undefined); // It ends when it is stopped.
      this.#gateways.push(child);
    }
  }

  /** @returns {Promise<number>} binds per second of all gateways. */
  async measure() {
    const outcomes = this.#gateways.map((child) => once(child, 'message'));
    for (const child of this.#gateways) child.send({ binds: each, ms });
    const figures = await Promise.all(outcomes);
    return figures.reduce((sum, [{ bound, ms: took }]) => sum + bound / (took / 1000), 0);
  }

  /** Stops and removes everything, also after a failure. */
  async close() {
    for (const step of this.#undo.splice(0).reverse()) await Promise.resolve(step()).catch(console.error);
  }
}

/** Makes commits of a database take longer. @param {string} url */
async function slowDown(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const name = `"${new URL(url).pathname.slice(1)}"`;
  await client.query(`ALTER DATABASE ${name} SET commit_delay = ${Number(options['commit-ms']) * 1000}`);
  await client.query(`ALTER DATABASE ${name} SET commit_siblings = 0`);
  await client.end();
}

/** @param {number[]} values */
const span = (values, digits = 0) =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;

const now = new Cluster();
const before = new Cluster();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => Promise.all([now.close(), before.close()]).finally(() => process.exit(130)));
try {
  await now.open(resolve(options.dist), options.bus ? { BUS_URL: options.bus } : {});
  if (options.before) await before.open(resolve(options.before, 'dist'), {});
  const clusters = options.before ? [now, before] : [now];
  say(`${count} gateways, ${each} binds at once at each, ${options.rounds} rounds of ${options.seconds} s`);
  say(`Node ${process.versions.node}, ${cpus().length} CPUs, load average ${loadavg()[0]?.toFixed(2)}`);
  if (!isSmoke) for (const cluster of clusters) await cluster.measure(); // The code is compiled, and the connections are opened.
  /** @type {Map<Cluster, number[]>} */
  const figures = new Map(clusters.map((cluster) => [cluster, []]));
  for (let round = 0; round < Number(options.rounds); round++) {
    // Every second round goes backwards, so that neither always follows the other.
    for (const cluster of round % 2 ? clusters.toReversed() : clusters)
      figures.get(cluster)?.push(await cluster.measure());
  }
  const [own = [], earlier = []] = clusters.map((cluster) => figures.get(cluster) ?? []);
  say(`  binds per second: ${span(own)}`);
  if (options.before) {
    say(`  before:           ${span(earlier)}`);
    say(
      `  ratio of rounds:  ${span(
        own.map((value, round) => value / (earlier[round] ?? Number.NaN)),
        2,
      )}`,
    );
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await Promise.all([now.close(), before.close()]);
}
