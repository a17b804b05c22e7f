// One run: the database, the gateway, its peers and the load generator, and what is asked of them.

import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { BARE_FILE, cases, essence, servers } from './cases.js';
import { createDatabase, fill, removeMade } from './data.js';
import { cpuTime, emptyLog, gatewayProgram, isSmoke, Load, newerNode, start, stop } from './processes.js';

const CONNECTIONS = 16;
const SIX_DIGITS = '000000';
/** Connections to the database, of each server; a smoke test leaves those of the PostgreSQL server to other tests. */
const DATABASE_POOL = isSmoke ? 2 : 10;
const peers = join(import.meta.dirname, '../peers');

/** @typedef {import('./cases.js').Server} Server */
/** @typedef {import('./processes.js').Child} Child */

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
  #load = /** @type {Load} */ (/** @type {unknown} */ (undefined));
  #client = /** @type {pg.Client} */ (/** @type {unknown} */ (undefined));
  /** @type {Map<string, { child: Child, port: number }>} */
  #running = new Map();
  /** The body's length of each server's checked answer, by case. @type {Map<string, number>} */
  #lengths = new Map();

  /** @param {string} dist the compiled gateway. */
  async open(dist) {
    this.#dist = dist;
    this.#directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
    this.#undo.push(() => rmSync(this.#directory, { recursive: true, force: true }));
    const database = await createDatabase(`gateway_bench_${process.pid}_${randomBytes(3).toString('hex')}`);
    this.#undo.push(database.drop);
    this.#env = {
      NODE_ENV: 'production',
      DATABASE_URL: database.url,
      SERVER_KEY: randomBytes(32).toString('base64'),
      BENCH_DIST: dist,
      DATABASE_POOL: `${DATABASE_POOL}`,
    };
    const { lines } = await this.startGateway();
    this.#key = lines.find((line) => line.startsWith('API key: '))?.slice('API key: '.length) ?? '';
    this.#client = new pg.Client({ connectionString: database.url });
    await this.#client.connect();
    this.#undo.push(() => this.#client.end());
    this.#ids = await fill(this.#client, dist);
    this.#load = new Load();
    this.#undo.push(() => this.#load.stop());
  }

  /** Stops and removes everything, also after a failure. */
  async close() {
    for (const step of this.#undo.splice(0).reverse()) await Promise.resolve(step()).catch(console.error);
  }

  /**
   * Starts the gateway as `npm start` would, or starts it anew.
   * @param {string[]} nodeArgs
   */
  async startGateway(nodeArgs = []) {
    // Any free port: an earlier build may run beside this one.
    const ports = { API_PORT: '0', ADMIN_PORT: '0', AGENT_PORT: '0', HTTP_PORT: '0', HTTPS_PORT: '0', TCP_PORTS: '0' };
    const env = { HOST: '127.0.0.1', ...ports, RATE_LIMIT: '1000000000', LOG_LEVEL: 'info' };
    const { name } = /** @type {Server} */ (servers[0]);
    await this.stop(name);
    return this.#start(name, process.execPath, [...nodeArgs, gatewayProgram(this.#dist)], env);
  }

  /**
   * Starts a peer; installs them all when they are not there.
   * @param {Server} server
   * @returns {Promise<boolean>} whether it runs: one that needs a Node that cannot be had does not.
   */
  async startPeer(server) {
    if (server.file !== BARE_FILE) await installPeers();
    const node = server.newerNode ? await newerNode() : process.execPath;
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
   * @param {Server} model
   * @throws {Error} when they say different things.
   */
  async check(server, name, model) {
    const own = await this.#ask(server, name);
    const expected = await this.#ask(model, name);
    await removeMade(this.#client);
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
   * Loads a server with a case for a while.
   * @param {Server} server
   * @param {string} name
   * @param {number} seconds
   * @returns {Promise<import('./report.js').Figures>}
   */
  async measure(server, name, seconds) {
    const { child, port } = this.#of(server);
    const { head, body } = this.#request(server, name);
    const before = cpuTime(child.process.pid);
    const {
      requests,
      seconds: took,
      p99,
    } = await this.#load
      .run({
        port,
        request: `${head.join('\r\n')}\r\n\r\n${body}`,
        ids: this.#ids,
        status: cases[name]?.status ?? 200,
        leastBytes: (this.#lengths.get(`${server.name} ${name}`) ?? 0) / 2,
        connections: CONNECTIONS,
        ms: seconds * 1000,
      })
      .catch((error) => {
        throw new Error(`${server.name}, ${name}: ${error.message}`);
      });
    const cpu = (cpuTime(child.process.pid) - before) / requests;
    emptyLog(child.logFile);
    if (cases[name]?.writes) await removeMade(this.#client);
    return { cpu, perSecond: requests / took, p99 };
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
