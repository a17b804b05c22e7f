// One run: the database, the gateway, its peers and the load generator, and what is asked of them.

import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { BARE_FILE, cases, essence, PGBENCH_FILE } from './cases.js';
import { backendTimes, createDatabase, fill, removeMade, timeBetween } from './data.js';
import { commitsOfPgbench, hasPgbench } from './pgbench.js';
import { cpuTime, emptyLog, gatewayProgram, isSmoke, Load, newerNode, start, stop } from './processes.js';

export const CONNECTIONS = 16;
/** The first calls of a process, which are measured apart, and for how long it may have them to itself before it is asked. */
const FIRST_CALLS = isSmoke ? 20 : 1000;
const SETTLE_MS = isSmoke ? 0 : 1500;
const SIX_DIGITS = '000000';
/** Connections to the database, of each server; a smoke test leaves those of the PostgreSQL server to other tests. */
const DATABASE_POOL = isSmoke ? 2 : 10;
/** Those of pgbench: a server allows 100 by default, and the measured servers keep theirs. */
const PGBENCH_CONNECTIONS_MAX = 48;
const peers = join(import.meta.dirname, '../peers');

/** @typedef {import('./cases.js').Server} Server */
/** @typedef {import('./processes.js').Child} Child */
/** @typedef {import('./report.js').Figures} Figures */

/** A database, and the servers on it. */
export class Bench {
  /** Undone in the opposite order. @type {(() => unknown)[]} */
  #undo = [];
  #directory = '';
  #dist = '';
  /** @type {Record<string, string>} */
  #env = {};
  #key = '';
  /** @type {string[]} */
  #ids = [];
  #url = '';
  #load = /** @type {Load} */ (/** @type {unknown} */ (undefined));
  /** To the database; undefined for an embedded one. @type {pg.Client | undefined} */
  #client;
  /** @type {Map<string, { child: Child, port: number }>} */
  #running = new Map();
  /** The body's length of each server's checked answer, by case. @type {Map<string, number>} */
  #lengths = new Map();

  /**
   * @param {Server} gateway which starts first, and fills the database.
   * @param {string} dist the compiled gateway.
   * @param {boolean} isEmbedded whether the gateway has a database of its own, so that there can be no peers.
   */
  async open(gateway, dist, isEmbedded = false) {
    this.#dist = dist;
    this.#directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    this.#undo.push(() => rmSync(this.#directory, { recursive: true, force: true }));
    this.#env = {
      NODE_ENV: 'production',
      SERVER_KEY: randomBytes(32).toString('base64'),
      BENCH_DIST: dist,
      DATABASE_POOL: `${DATABASE_POOL}`,
    };
    this.#load = new Load();
    this.#undo.push(() => this.#load.stop());
    if (!isEmbedded) {
      const database = await createDatabase(`gateway_bench_${process.pid}_${randomBytes(3).toString('hex')}`);
      this.#undo.push(database.drop);
      this.#env.DATABASE_URL = this.#url = database.url;
    }
    const { lines } = await this.startGateway(gateway);
    this.#key = lines.find((line) => line.startsWith('API key: '))?.slice('API key: '.length) ?? '';
    if (isEmbedded) return;
    const client = new pg.Client({ connectionString: this.#url });
    await client.connect();
    this.#undo.push(() => client.end());
    this.#client = client;
    this.#ids = await fill(client, dist);
  }

  /** Stops and removes everything, also after a failure. */
  async close() {
    for (const step of this.#undo.splice(0).reverse()) await Promise.resolve(step()).catch(console.error);
  }

  /**
   * Starts the gateway as `npm start` would, or starts it anew.
   * @param {Server} gateway
   * @param {string[]} nodeArgs
   */
  async startGateway({ name }, nodeArgs = []) {
    // Any free port: an earlier build may run beside this one.
    const ports = { API_PORT: '0', ADMIN_PORT: '0', AGENT_PORT: '0', HTTP_PORT: '0', HTTPS_PORT: '0', TCP_PORTS: '0' };
    const env = { HOST: '127.0.0.1', ...ports, RATE_LIMIT: '1000000000', LOG_LEVEL: 'info' };
    await this.stop(name);
    return this.#start(name, process.execPath, [...nodeArgs, gatewayProgram(this.#dist)], env);
  }

  /**
   * Starts a server, or starts it anew; installs all peers when they are not there.
   * @param {Server} server
   * @returns {Promise<boolean>} whether it runs: one that needs what cannot be had does not.
   */
  async start(server) {
    if (server.file === '') return (await this.startGateway(server)) !== undefined;
    if (server.file === PGBENCH_FILE) return hasPgbench;
    if (server.file !== BARE_FILE) await installPeers();
    const node = server.newerNode ? await newerNode() : process.execPath;
    await this.stop(server.name);
    if (node) await this.#start(server.name, node, [join(peers, server.file)], server.env ?? {});
    return node !== null;
  }

  /** @param {string} name @param {string} node @param {string[]} args @param {Record<string, string>} env */
  async #start(name, node, args, env) {
    const dataDir = join(this.#directory, 'data');
    mkdirSync(dataDir, { recursive: true });
    const logFile = join(this.#directory, `${this.#running.size}-${this.#undo.length}.log`);
    const child = await start(node, args, { env: { ...this.#env, DATA_DIR: dataDir, ...env }, logFile });
    this.#undo.push(() => stop(child.process));
    const port = Number(/http:\/\/[^ ]*:(\d+)/.exec(child.lines.at(-1) ?? '')?.[1]);
    this.#running.set(name, { child, port });
    return child;
  }

  /** @param {string} name of a server. */
  async stop(name) {
    const running = this.#running.get(name);
    if (running) await stop(running.child.process);
    this.#running.delete(name);
  }

  /**
   * Compares a server's answer with another's.
   * @param {Server} server
   * @param {string} name of the case.
   * @param {Server} model on the same database; the server itself where there is no other.
   * @throws {Error} when they say different things.
   */
  async check(server, name, model) {
    if (server.file === PGBENCH_FILE) return;
    const own = await this.#ask(server, name);
    const expected = await this.#ask(model, name);
    await this.#removeMade();
    assert.deepEqual(own, expected, `${server.name} answers ${name} differently from ${model.name}`);
  }

  /** @param {Server} server @param {string} name */
  async #ask(server, name) {
    const { port } = this.#of(server);
    const { head, body } = this.#request(server, name);
    const [method, path = ''] = head[0]?.split(' ') ?? [];
    const id = this.#ids[this.#ids.length >> 1] ?? '';
    const origin = `http://127.0.0.1:${port}`;
    const headers = Object.fromEntries(head.slice(1).map((line) => line.split(': ')));
    delete headers['Content-Length'];
    const answer = await fetch(origin + path.replaceAll('%ID%', id), {
      method,
      headers,
      body: body ? body.replaceAll('%ID%', id).replaceAll('%N%', SIX_DIGITS) : undefined,
    });
    const text = await answer.text();
    const where = `${server.name}, ${name}`;
    assert.equal(answer.status, cases[name]?.status, `${where}: ${text.slice(0, 500)}`);
    this.#lengths.set(`${server.name} ${name}`, Buffer.byteLength(text));
    try {
      return essence(name, text, origin);
    } catch (error) {
      throw new Error(`${where}: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * What the first calls of a new process cost: starts the server anew, and leaves it running.
   * @param {Server} server
   * @param {string} name of the case.
   * @returns {Promise<Figures | undefined>} undefined where there is no process.
   */
  async measureFirst(server, name) {
    if (server.file === PGBENCH_FILE) return undefined;
    if (!isSmoke) await this.start(server);
    await wait(SETTLE_MS);
    return this.#measure(server, name, { ms: 60_000, calls: FIRST_CALLS });
  }

  /**
   * Loads a server with a case for a while.
   * @param {Server} server
   * @param {string} name of the case.
   * @param {number} seconds
   * @returns {Promise<Figures>}
   */
  async measure(server, name, seconds) {
    if (server.file !== PGBENCH_FILE) return this.#measure(server, name, { ms: seconds * 1000 });
    const clients = isSmoke ? 2 : Math.min(cases[name]?.connections ?? CONNECTIONS, PGBENCH_CONNECTIONS_MAX);
    const hasNotice = server.env?.BENCH_NOTICE !== undefined;
    const { perSecond } = await commitsOfPgbench({
      ...{ url: this.#url, directory: this.#directory },
      ...{ hasNotice, clients, seconds },
    });
    await this.#removeMade();
    return { cpu: Number.NaN, databaseCpu: Number.NaN, perSecond, p99: Number.NaN };
  }

  /** @param {Server} server @param {string} name @param {{ ms: number, calls?: number }} extent @returns {Promise<Figures>} */
  async #measure(server, name, extent) {
    const { child, port } = this.#of(server);
    const { head, body } = this.#request(server, name);
    const database = await this.#backendTimes();
    const before = cpuTime(child.process.pid);
    const job = {
      port,
      request: `${head.join('\r\n')}\r\n\r\n${body}`,
      ids: this.#ids,
      status: cases[name]?.status ?? 200,
      leastBytes: (this.#lengths.get(`${server.name} ${name}`) ?? 0) / 2,
      connections: isSmoke ? DATABASE_POOL : (cases[name]?.connections ?? CONNECTIONS),
      ...extent,
    };
    const { requests, seconds, p99 } = await this.#load.run(job).catch((error) => {
      throw new Error(`${server.name}, ${name}: ${error.message}`);
    });
    const cpu = (cpuTime(child.process.pid) - before) / requests;
    const databaseCpu = timeBetween(database, await this.#backendTimes()) / requests;
    emptyLog(child.logFile);
    if (cases[name]?.writes) await this.#removeMade();
    return { cpu, databaseCpu: this.#client ? databaseCpu : Number.NaN, perSecond: requests / seconds, p99 };
  }

  async #backendTimes() {
    return this.#client ? backendTimes(this.#client) : new Map();
  }

  async #removeMade() {
    if (this.#client) await removeMade(this.#client);
  }

  /** @param {Server} server */
  #of(server) {
    const running = this.#running.get(server.name);
    if (!running) throw new Error(`${server.name} does not run`);
    return running;
  }

  /** @param {Server} server @param {string} name @returns {{ head: string[], body: string }} */
  #request(server, name) {
    const { method, path, body } = server.requests?.[name] ?? cases[name]?.request ?? assert.fail(`no case ${name}`);
    const text = body === undefined ? '' : JSON.stringify(body);
    // Ids are as long as each other, and as long as this.
    const length = Buffer.byteLength(text.replaceAll('%ID%', this.#ids[0] ?? '').replaceAll('%N%', SIX_DIGITS));
    const head = [
      `${method} ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${this.#of(server).port}`,
      `Authorization: Bearer ${this.#key}`,
      'Service-Version: 2',
      'Accept: application/json',
      ...(text ? ['Content-Type: application/json', `Content-Length: ${length}`] : []),
    ];
    return { head, body: text };
  }
}

async function installPeers() {
  const lock = join(peers, 'package-lock.json');
  const stamp = join(peers, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8')) return;
  process.stderr.write('Installing the peers (npm ci in test/bench/peers)\n');
  const args = ['ci', '--ignore-scripts', '--loglevel=error'];
  const child = spawn('npm', args, { cwd: peers, stdio: ['ignore', 2, 2] });
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  if (code !== 0) throw new Error('The peers could not be installed');
  copyFileSync(lock, stamp);
}
