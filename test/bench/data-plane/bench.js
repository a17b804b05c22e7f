// One run: a directory, an origin, the paths to it, and visitors that are sent over them.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stop } from '../api/processes.js';
import { cases, PATHS } from './cases.js';
import { Visitors } from './load.js';
import { startOrigin } from './nginx.js';
import { Starter } from './paths.js';
import { cpuOf, launch } from './processes.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {import('./paths.js').Way} Way @typedef {import('./paths.js').Path} Path */
/** @typedef {import('./paths.js').Builds} Builds */

const LOG_END = 1500;

export class Bench {
  /** Undone in the opposite order. @type {(() => unknown)[]} */
  #undo = [];
  #visitors = new Visitors();
  /** @type {Map<string, Path>} */
  #paths = new Map();
  /** @type {Starter | undefined} */
  #starter;
  /** The port of the origin. */
  origin = 0;
  /** Whether there are cases in which visitors speak TLS. To be set before paths are opened. */
  speaksTls = false;
  directory = mkdtempSync(join(tmpdir(), 'gateway-data-plane-'));

  constructor() {
    this.#undo.push(() => rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 }));
    this.#undo.push(() => this.#visitors.stop());
  }

  /** Leaves nothing behind when the run is broken off, or nobody reads what it says any more. */
  closeWhenAsked() {
    const end = () => this.close().finally(() => process.exit(130));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, end);
    process.stdout.once('error', end);
  }

  /** Stops and removes everything, also after a failure. */
  async close() {
    for (const step of this.#undo.splice(0).reverse())
      await Promise.resolve()
        .then(step)
        .catch((error) => process.stderr.write(`${error}\n`));
  }

  /** @param {ChildProcess} child is stopped at the end. */
  keep = (child) => {
    this.#undo.push(() => stop(child));
  };

  /** The end of what each process has said on standard error: where something failed, it may tell why. */
  logs() {
    const files = readdirSync(this.directory, { recursive: true, encoding: 'utf8' });
    const ends = files
      .filter((file) => file.endsWith('log'))
      .map((file) => [file, readFileSync(join(this.directory, file), 'utf8').trim().slice(-LOG_END)]);
    return ends.filter(([, text]) => text).map(([file, text]) => `${file}:\n${text}\n`);
  }

  /** Starts the origin. @returns {Promise<string>} what it is. */
  async start() {
    const nginx = await startOrigin(join(this.directory, 'origin'));
    if (nginx) {
      this.keep(nginx.process);
      this.origin = nginx.port;
      return 'nginx, 1 worker';
    }
    await this.startNodeOrigin();
    return 'node:http (nginx is not installed)';
  }

  async startNodeOrigin() {
    const args = [join(import.meta.dirname, 'node-origin.js')];
    const logFile = join(this.directory, 'origin.log');
    const child = await launch(process.execPath, args, { logFile, until: /^ready / });
    this.keep(child.process);
    this.origin = Number(child.lines.at(-1)?.split(' ')[1]);
  }

  get visitors() {
    return this.#visitors.name;
  }

  /** The program that a case takes, where it is absent. @param {string} caseName */
  lacks(caseName) {
    const one = cases[caseName];
    return one && this.#visitors.lacks(one);
  }

  /**
   * Opens a path to the origin.
   * @param {string} name one of `PATHS`.
   * @param {Builds} programs
   * @param {{ gateway?: string[], agent?: string[] }} [nodeArgs] for gateway and agent.
   * @returns {Promise<string | undefined>} why it is left out, when it is.
   */
  async open(name, programs, nodeArgs = {}) {
    const { directory, keep, origin, speaksTls } = this;
    this.#starter ??= new Starter({ directory, keep, origin, speaksTls });
    const path = await this.#starter.start(name, programs, nodeArgs);
    if (typeof path === 'string') return path;
    this.#paths.set(name, path);
    await this.#check(name);
    return undefined;
  }

  /** @param {string} name of a path. */
  isOpen(name) {
    return this.#paths.has(name);
  }

  /** Opened paths that can take a case, in the order of `PATHS`. @param {string} caseName */
  taking(caseName) {
    const isPlain = (cases[caseName]?.over ?? 'http') === 'http';
    return PATHS.filter((name) => (isPlain ? this.#paths.has(name) : this.#paths.get(name)?.tls));
  }

  /** Bytes that sshd's process for its client has to itself, and its part of what is shared; undefined without one. */
  sshdMemory() {
    const session = this.#paths.get('ssh')?.pids[0]?.at(-1);
    const text = session ? readFileSync(`/proc/${session}/smaps_rollup`, 'utf8') : '';
    return session ? Number(/^Pss: *(\d+) kB/m.exec(text)?.[1]) * 1024 : undefined;
  }

  /** Stops gateway and agents, which then write their profiles. */
  async stopGateway() {
    await this.#starter?.stopGateway();
  }

  /** Sees that a path leads to the origin. @param {string} name */
  async #check(name) {
    const { port, host } = this.#of(name);
    for (const path of ['/small', '/page']) {
      const { bytes } = /** @type {import('./cases.js').Case} */ (
        Object.values(cases).find((one) => one.path === path)
      );
      await this.#visitors.check({ port, host, path, bytes, over: 'http' }).catch((error) => {
        throw new Error(`The path ${name} does not lead to the origin: ${error.message}`);
      });
    }
  }

  /** @param {string} name */
  #of(name) {
    const path = this.#paths.get(name);
    if (!path) throw new Error(`there is no path ${name}`);
    return path;
  }

  /**
   * Sends visitors over an opened path.
   * @param {string} name of the path.
   * @param {string} caseName
   * @param {number} seconds how long, where the case is one of requests.
   * @returns {Promise<import('./report.js').Figures>}
   */
  measure(name, caseName, seconds) {
    const path = this.#of(name);
    const way = (cases[caseName]?.over ?? 'http') === 'http' ? path : path.tls;
    return this.send(/** @type {Way} */ (way), caseName, seconds).catch((error) => {
      throw new Error(`${name}, ${caseName}: ${error.message}`);
    });
  }

  /**
   * Sends visitors anywhere.
   * @param {{ port: number, host: string, pids?: number[][] }} to
   * @param {string} caseName
   * @param {number} seconds
   * @returns {Promise<import('./report.js').Figures>}
   */
  async send({ port, host, pids = [] }, caseName, seconds) {
    const {
      kind,
      path,
      bytes,
      connections = 1,
      close = false,
      over = 'http',
    } = /** @type {import('./cases.js').Case} */ (cases[caseName]);
    const before = pids.map(cpuOf);
    const outcome = await this.#visitors.run({ kind, port, host, path, bytes, connections, close, seconds, over });
    const isBulk = kind !== 'requests';
    // Microseconds for a request; seconds for a gigabyte.
    const perUnit = isBulk ? 1e9 / bytes / 1e6 : 1 / outcome.requests;
    const parts = pids.map((side, i) => (cpuOf(side) - (before[i] ?? 0)) * perUnit);
    const cpu = parts.reduce((sum, part) => sum + part, 0);
    const perSecond = isBulk ? bytes / 1e6 / outcome.seconds : outcome.requests / outcome.seconds;
    return { cpu, parts, perSecond, p50: outcome.p50, p99: outcome.p99 };
  }
}
