// The gateway of one part: started for real on a database of its own, with an account's API key and an agent where visits are
// what makes events.

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '../api/data.js';
import { gatewayProgram, stop } from '../api/processes.js';
import { startAgent } from '../data-plane/gateway.js';
import { cpuOf, family, launch } from '../data-plane/processes.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * @typedef {object} Options
 * @property {string} directory for all files of the part; must not exist.
 * @property {'embedded' | 'postgres'} database
 * @property {string} dist the compiled gateway.
 * @property {Record<string, string>} [env]
 * @property {string[]} [nodeArgs]
 */

/** Nothing of a part is left when it is closed. */
export class Gateway {
  #directory;
  /** @type {(() => Promise<unknown>)[]} Undone in the opposite order. */
  #undo = [];
  /** @type {ChildProcess | undefined} */
  #process;
  /** @type {number[]} */
  #pids = [];
  #api = '';
  #key = '';
  #agentAddress = '';
  #authtoken = '';
  apiPort = 0;
  httpPort = 0;

  /** @param {string} directory */
  constructor(directory) {
    this.#directory = directory;
  }

  /** @param {Options} options @returns {Promise<Gateway>} */
  static async start(options) {
    const gateway = new Gateway(options.directory);
    try {
      await gateway.#start(options);
      return gateway;
    } catch (error) {
      await gateway.close();
      throw error;
    }
  }

  /** @param {Options} options */
  async #start({ directory, database, dist, env = {}, nodeArgs = [] }) {
    mkdirSync(directory, { recursive: true });
    const own = {
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      API_PORT: '0',
      ADMIN_PORT: '0',
      AGENT_PORT: '0',
      HTTP_PORT: '0',
      HTTPS_PORT: '0',
      TCP_PORTS: '0',
      RATE_LIMIT: '1000000000',
      LOG_LEVEL: 'warn',
      DATA_DIR: join(directory, 'data'),
      DATABASE_URL: '',
    };
    if (database === 'postgres') {
      const made = await createDatabase(`gateway_events_${process.pid}_${randomBytes(3).toString('hex')}`);
      this.#undo.push(made.drop);
      own.DATABASE_URL = made.url;
    }
    const file = gatewayProgram(dist);
    const logFile = join(directory, 'gateway.log');
    const options = { env: { ...own, ...env }, logFile, until: /^ready / };
    const child = await launch(process.execPath, [...nodeArgs, file], options);
    this.#process = child.process;
    this.#undo.push(() => stop(child.process));
    this.#pids = family(child.process);
    const text = child.lines.join('\n');
    const said = (/** @type {RegExp} */ pattern) => pattern.exec(text)?.[1] ?? '';
    this.#api = said(/^ready .*\bapi=(\S+)/m);
    this.apiPort = Number(new URL(this.#api).port);
    this.httpPort = Number(said(/^ready .*\bhttp=\S*:(\d+)/m));
    this.#agentAddress = said(/^ready .*\bagent=(\S+)/m);
    this.#key = said(/^API key: (\S+)/m);
    this.#authtoken = said(/^Authtoken: (\S+)/m);
  }

  /** Microseconds of CPU so far, all threads: with the embedded database that of the database, too. */
  get cpu() {
    return cpuOf(this.#pids);
  }

  /**
   * Starts an agent in front of an origin.
   * @param {number} port
   * @param {string} file the agent's program.
   * @returns {Promise<string>} what visitors put into the Host header.
   */
  async startAgent(port, file) {
    const directory = join(this.#directory, 'agent');
    mkdirSync(directory);
    const gateway = {
      process: /** @type {ChildProcess} */ (this.#process),
      address: this.#agentAddress,
      httpPort: this.httpPort,
      authtoken: this.#authtoken,
      ca: join(this.#directory, 'data', 'ca.pem'),
    };
    const keep = (/** @type {ChildProcess} */ started) => void this.#undo.push(() => stop(started));
    const agent = await startAgent({ directory, gateway, port, keep, file });
    if (typeof agent === 'string') throw new Error(`There is nothing to measure, as ${agent}`);
    return agent.host;
  }

  /** Calls the REST API. @param {string} method @param {string} path @param {object} [body] */
  async call(method, path, body) {
    const answer = await fetch(this.#api + path, {
      method,
      headers: { ...this.#headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : undefined,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  get #headers() {
    return { authorization: `Bearer ${this.#key}`, 'service-version': '2' };
  }

  /** A request of the API as it goes over a socket. @param {string} method @param {string} path @param {string} body */
  request(method, path, body) {
    const headers = Object.entries({
      Host: `127.0.0.1:${this.apiPort}`,
      ...this.#headers,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body.replaceAll('%N%', '000000000')),
    });
    return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
  }

  /** @param {object} target @returns {Promise<string>} the id of the destination. */
  async createDestination(target) {
    return (await this.call('POST', '/event_destinations', { format: 'json', target })).id;
  }

  /** @param {string} type @param {string} destinationId @returns {Promise<() => Promise<unknown>>} ends the subscription. */
  async subscribe(type, destinationId) {
    const subscription = { sources: [{ type }], destination_ids: [destinationId] };
    const { id } = await this.call('POST', '/event_subscriptions', subscription);
    return () => this.call('DELETE', `/event_subscriptions/${id}`);
  }

  /** Stops and removes everything. */
  async close() {
    for (const step of this.#undo.splice(0).reverse()) await step();
    rmSync(join(this.#directory, 'data'), { recursive: true, force: true });
  }
}
