// Child processes of a run: found, started, waited for, their CPU time added up.

import { spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as later } from 'node:timers/promises';
import { cpuTime, stop } from '../api/processes.js';

const START_MS = 60_000;
const RETRY_MS = 20;

/**
 * @typedef {object} Child
 * @property {import('node:child_process').ChildProcess} process
 * @property {string[]} lines of standard output, as far as they have come.
 */

/**
 * The file of a program, or undefined where it is not installed. Servers are often kept off a user's PATH.
 * @param {string} name
 */
export function find(name) {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a program and waits until it is ready: until it prints a line, or takes connections.
 * @param {string} command
 * @param {string[]} args
 * @param {object} options
 * @param {string} options.logFile gets its standard error.
 * @param {RegExp | number} options.until what a line has in it, or a port of 127.0.0.1.
 * @param {Record<string, string>} [options.env] on top of ours.
 * @param {boolean} [options.ipc] whether messages can be sent to it.
 * @returns {Promise<Child>}
 * @throws {Error} with the end of its log, when it ends before it is ready, or is not within a minute.
 */
export async function launch(command, args, { logFile, until, env = {}, ipc = false }) {
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', log, ...(ipc ? [/** @type {const} */ ('ipc')] : [])],
  });
  closeSync(log);
  /** @type {string[]} */
  const lines = [];
  const waiting = new AbortController();
  const output = createInterface(/** @type {import('node:stream').Readable} */ (child.stdout));
  const ready = new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', () => reject(new Error('ended')));
    later(START_MS, undefined, waiting).then(
      () => reject(new Error('is not ready after a minute')),
      () => undefined,
    );
    output.on('line', (line) => {
      lines.push(line);
      if (until instanceof RegExp && until.test(line)) resolve(undefined);
    });
    if (typeof until === 'number') accepts(until, waiting.signal).then(resolve, () => undefined);
  });
  try {
    await ready;
  } catch (error) {
    await stop(child);
    const said = readFileSync(logFile, 'utf8').slice(-2000);
    throw new Error(`${[command, ...args].join(' ')}: ${error instanceof Error ? error.message : error}\n${said}`);
  } finally {
    waiting.abort();
  }
  return { process: child, lines };
}

/** Waits until somebody listens: programs that are not ours do not say when. @param {number} port @param {AbortSignal} signal */
async function accepts(port, signal) {
  while (!(await tryConnect(port))) await later(RETRY_MS, undefined, { signal });
}

/** @param {number} port @returns {Promise<boolean>} */
function tryConnect(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

/** A port that is free now, for programs that cannot choose one themselves. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * A process and all below it: servers leave the work to processes that they start.
 * @param {{ pid?: number }} root
 * @returns {number[]}
 */
export function family({ pid }) {
  if (pid === undefined) return [];
  if (process.platform !== 'linux') return [pid];
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => /** @type {const} */ ([Number(name), parentOf(name)]));
  const found = [pid];
  for (const one of found) found.push(...parents.filter(([, parent]) => parent === one).map(([child]) => child));
  return found;
}

/** @param {string} pid @returns {number} NaN when it has ended meanwhile. */
function parentOf(pid) {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  } catch {
    return Number.NaN;
  }
}

/** Microseconds of CPU, user and system, of all of them so far. @param {number[]} pids */
export const cpuOf = (pids) => pids.reduce((sum, pid) => sum + cpuTime(pid), 0);
