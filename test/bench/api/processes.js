// Child processes: started, asked for their CPU time, stopped.

import { fork, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const START_MS = 30_000;
const STOP_MS = 5000;
/** Linux counts CPU time in hundredths of a second, whatever the processor. */
const TICK_US = 10_000;

/**
 * Whether this run only tries whether everything works: `BENCH_SMOKE=1`, which the processes of a run inherit. Each case has a
 * handful of requests, and the figures say nothing. As in any run, one wrong answer ends it with exit code 1.
 */
export const isSmoke = process.env.BENCH_SMOKE === '1';

/**
 * @typedef {object} Child
 * @property {import('node:child_process').ChildProcess} process
 * @property {string[]} lines that it had printed when it was ready.
 * @property {string} logFile its standard error.
 */

/**
 * Starts a server, and waits for the line that says it is ready.
 * @param {string} node the executable.
 * @param {string[]} args
 * @param {object} options
 * @param {Record<string, string>} options.env
 * @param {string} options.logFile
 * @returns {Promise<Child>}
 */
export async function start(node, args, { env, logFile }) {
  const log = openSync(logFile, 'a');
  const child = spawn(node, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  const output = createInterface(/** @type {import('node:stream').Readable} */ (child.stdout));
  /** @type {string[]} */
  const lines = [];
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  const isReady = await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    output.once('close', () => resolve(false));
    output.on('line', (line) => {
      lines.push(line);
      if (line.startsWith('ready ')) resolve(true);
    });
  });
  clearTimeout(timer);
  if (!isReady) {
    await stop(child);
    throw new Error(`${args.join(' ')} did not start:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
  }
  return { process: child, lines, logFile };
}

/**
 * Asks a process to end, and makes it.
 * @param {import('node:child_process').ChildProcess} child
 */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}

/**
 * The CPU time that a process has used so far, user and system, all its threads. Microseconds; NaN where that cannot
 * be known.
 * @param {number | undefined} pid
 */
export function cpuTime(pid) {
  if (process.platform !== 'linux') return Number.NaN;
  // The second field is the name, in parentheses, and may hold anything; utime and stime are the 14th and 15th.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Empties a server's log: it is opened for appending. @param {string} logFile */
export const emptyLog = (logFile) => truncateSync(logFile, 0);

/** The load generator. */
export class Load {
  #child = fork(join(import.meta.dirname, 'load.js'));

  /** @param {import('./load.js').Job} job @returns {Promise<{ requests: number, seconds: number, p99: number }>} */
  async run(job) {
    const outcome = await new Promise((resolve, reject) => {
      this.#child.once('message', resolve);
      this.#child.once('exit', () => reject(new Error('the load generator ended')));
      this.#child.send(job);
    });
    this.#child.removeAllListeners();
    if ('error' in outcome) throw new Error(outcome.error);
    return outcome;
  }

  stop() {
    return stop(this.#child);
  }
}

/**
 * An executable of Node 22 or newer: this one, or what npm has under the name; null when there is none to be had. The
 * package is the one that `node@22` would fetch with an install script.
 * @returns {Promise<string | null>}
 */
export async function newerNode() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const { platform, arch } = process;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}@22`;
  const args = ['--yes', '-p', name, 'node', '-p', 'process.versions.node > "22" ? process.execPath : ""'];
  const child = spawn('npx', args, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'ignore'], timeout: 120_000 });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('close', resolve));
  return code === 0 && text.trim() ? text.trim() : null;
}

/**
 * What `node` runs as the gateway of a build; those before November 2026 had no bundle.
 * @param {string} dist its directory of compiled code.
 * @throws when there is none.
 */
export function gatewayProgram(dist) {
  const found = ['bundle/main.js', 'main.js'].map((file) => join(dist, file)).find((file) => existsSync(file));
  if (!found) throw new Error(`there is no compiled gateway in ${dist}`);
  return found;
}
