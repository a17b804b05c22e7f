// The processes beside the gateway: the one that sends requests, and the one where events arrive.

import { fork } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stop } from '../api/processes.js';

/** @typedef {import('./requests.js').Job} Job @typedef {import('./requests.js').Outcome} Outcome */
/** @typedef {import('./receiver.js').Arrivals} Arrivals */

/** A process that answers one question at a time. */
class Child {
  #child;
  #logFile;

  /** @param {string} file of this folder. @param {string[]} args @param {string} logFile */
  constructor(file, args, logFile) {
    const log = openSync(logFile, 'a');
    this.#child = fork(join(import.meta.dirname, file), args, {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', log, 'ipc'],
    });
    closeSync(log);
    this.#logFile = logFile;
  }

  /** The first line that it prints. @returns {Promise<string>} */
  printed() {
    return new Promise((resolve, reject) => {
      this.#child.stdout?.once('data', (data) => resolve(String(data).trim()));
      this.#child.once('exit', () => reject(this.#ended()));
    });
  }

  /** @param {object} question @returns {Promise<any>} */
  async ask(question) {
    const answer = await new Promise((resolve, reject) => {
      this.#child.once('message', resolve);
      this.#child.once('exit', () => reject(this.#ended()));
      this.#child.send(question);
    }).finally(() => this.#child.removeAllListeners('message').removeAllListeners('exit'));
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  #ended() {
    return new Error(`a process of the benchmark ended: ${readFileSync(this.#logFile, 'utf8').slice(-1000)}`);
  }

  stop() {
    return stop(this.#child);
  }
}

/** Sends numbered requests. */
export class Client {
  #child;

  /** @param {string} directory for its log. */
  constructor(directory) {
    this.#child = new Child('requests.js', [], join(directory, 'client.log'));
  }

  /** @param {Job} job @returns {Promise<Outcome>} @throws {Error} at the first wrong answer. */
  send(job) {
    return this.#child.ask(job);
  }

  stop() {
    return this.#child.stop();
  }
}

/** Where events arrive. */
export class Receiver {
  #child;
  /** Of an event destination, as REST takes it. @type {object} */
  target;
  /** What a gateway's environment needs to find it. @type {Record<string, string>} */
  env;

  /** @param {Child} child @param {object} target @param {Record<string, string>} env */
  constructor(child, target, env) {
    this.#child = child;
    this.target = target;
    this.env = env;
  }

  /** @param {string} directory for its log. */
  static async kinesis(directory) {
    const child = new Child('receiver.js', ['kinesis'], join(directory, 'kinesis.log'));
    const [, endpoint = ''] = (await child.printed()).split(' ');
    const creds = { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: 'a-secret-of-the-benchmark' };
    const target = {
      kinesis: { auth: { creds }, stream_arn: 'arn:aws:kinesis:us-east-1:123456789012:stream/events' },
    };
    return new Receiver(child, target, { EVENT_ENDPOINTS: `kinesis=${endpoint}` });
  }

  /** @param {string} directory where the file is. @param {number} lookMs how often the file is looked at. */
  static async file(directory, lookMs) {
    const name = 'events.log';
    const child = new Child('receiver.js', ['file', join(directory, name), `${lookMs}`], join(directory, 'file.log'));
    await child.printed();
    return new Receiver(child, { file: { name } }, { EVENT_FILE_DIR: directory });
  }

  /**
   * Waits for the events of an outcome's requests, until nothing has come for some time.
   * @param {Outcome} outcome
   * @returns {Promise<Arrivals>}
   */
  arrivals({ first, answeredAt }) {
    return this.#child.ask({ first, count: answeredAt.length, quietMs: 5000 });
  }

  stop() {
    return this.#child.stop();
  }
}
