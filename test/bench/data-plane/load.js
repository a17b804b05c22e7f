// The visitors: wrk where it is installed, for requests; a small client in a process of its own for the rest.

import { fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { isSmoke, stop } from '../api/processes.js';
import { Curl } from './curl.js';
import { find } from './processes.js';

/**
 * @typedef {object} Job
 * @property {'requests' | 'down' | 'up'} kind
 * @property {number} port of 127.0.0.1.
 * @property {string} host what the Host header says.
 * @property {string} path
 * @property {number} bytes that the answer has to have; of an upload, that the request has.
 * @property {number} connections
 * @property {boolean} close whether each request gets a connection of its own.
 * @property {number} seconds how long requests are sent.
 * @property {import('./cases.js').Over} over
 */

/**
 * @typedef {object} Outcome
 * @property {number} requests that were answered.
 * @property {number} seconds
 * @property {number} p50 milliseconds from a request to the end of its answer.
 * @property {number} p99
 */

export class Visitors {
  /** It takes a second at least for each case and path. */
  #wrk = isSmoke ? undefined : find('wrk');
  #curl = this.#findCurl();
  #client = fork(join(import.meta.dirname, 'client.js'));

  /** What sends the requests. */
  get name() {
    return this.#wrk ? 'wrk' : `a client in Node (${isSmoke ? 'wrk takes too long' : 'wrk is not installed'})`;
  }

  /** @param {import('./cases.js').Case} one @returns {string | undefined} the program that it takes, where it is absent. */
  lacks({ kind, over = 'http' }) {
    return kind === 'up' && over !== 'http' && !this.#curl ? 'curl' : undefined;
  }

  /** @param {Job} job @returns {Promise<Outcome>} @throws {Error} at the first wrong answer. */
  run(job) {
    if (this.#curl && job.kind === 'up' && job.over !== 'http') return this.#curl.upload(job);
    return this.#wrk && job.kind === 'requests' && job.over === 'http' ? runWrk(this.#wrk, job) : this.#ask(job);
  }

  /** Sends one request, and looks at all of the answer. @param {Pick<Job, 'port' | 'host' | 'path' | 'bytes' | 'over'>} job */
  check(job) {
    return this.#ask({ ...job, kind: 'down', connections: 1, close: true, seconds: 0 });
  }

  /** @param {Job} job @returns {Promise<Outcome>} */
  async #ask(job) {
    /** @type {Outcome | { error: string }} */
    const outcome = await new Promise((resolve, reject) => {
      this.#client.once('message', resolve);
      this.#client.once('exit', () => reject(new Error('the client ended')));
      this.#client.send(job);
    });
    this.#client.removeAllListeners();
    if ('error' in outcome) throw new Error(outcome.error);
    return outcome;
  }

  stop() {
    this.#curl?.stop();
    return stop(this.#client);
  }

  #findCurl() {
    const program = find('curl');
    return program && new Curl(program);
  }
}

/** @param {string} wrk @param {Job} job @returns {Promise<Outcome>} */
async function runWrk(wrk, { port, host, path, bytes, connections, close, seconds }) {
  const headers = [`Host: ${host}`, ...(close ? ['Connection: close'] : [])].flatMap((header) => ['-H', header]);
  const script = join(import.meta.dirname, 'wrk.lua');
  const args = ['-t1', `-c${connections}`, `-d${Math.max(1, Math.round(seconds))}s`, '-s', script, ...headers];
  const child = spawn(wrk, [...args, `http://127.0.0.1:${port}${path}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  const result = /^RESULT (.*)$/m.exec(text)?.[1];
  if (code !== 0 || !result) throw new Error(`wrk failed: ${text}`);
  const { requests, time, p50, p99, errors, read } = JSON.parse(result);
  if (errors > 0 || requests === 0) throw new Error(`wrk saw ${errors} errors and ${requests} answers: ${text}`);
  if (read < requests * bytes) throw new Error(`answers are shorter than ${bytes} bytes: ${text}`);
  return { requests, seconds: time / 1e6, p50: p50 / 1000, p99: p99 / 1000 };
}
