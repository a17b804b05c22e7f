// Where the time of gateway and agent went, by kind, from the `.cpuprofile` files that Node wrote.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FUNCTIONS = 12;
/** Functions of Node's C++ that hand bytes to the kernel, through TLS where there is one. */
const WRITES = /^(write|writev|writeBuffer|write(Utf8|Latin1|Ascii|Ucs2)String|shutdown|encryptedWrite|destroySSL)$/;

/**
 * @typedef {object} Profile
 * @property {{ id: number, callFrame: Frame }[]} nodes
 * @property {number} startTime microseconds, on the clock of `process.hrtime`.
 * @property {number[]} samples
 * @property {number[]} timeDeltas
 */
/** @typedef {{ functionName: string, url: string, lineNumber: number }} Frame */
/** @typedef {{ title: string, from: number, to: number }} Window microseconds of `process.hrtime`. */

/** Now, on the clock of profiles. */
export const profileClock = () => Number(process.hrtime.bigint() / 1000n);

/**
 * @param {string} directory that holds the profiles of processes of one kind, of which one is busy.
 * @param {Window} window what happened outside of it is left out.
 * @returns {string}
 */
export function describe(directory, { from, to }) {
  const files = readdirSync(directory).filter((name) => name.endsWith('.cpuprofile'));
  if (files.length === 0) throw new Error(`Node wrote no profile to ${directory}: was the process killed?`);
  /** @type {Map<string, number>} */
  const kinds = new Map();
  /** @type {Map<string, number>} */
  const functions = new Map();
  let busy = 0;
  for (const file of files) {
    /** @type {Profile} */
    const { nodes, startTime, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    let time = startTime;
    samples.forEach((id, index) => {
      const took = timeDeltas[index] ?? 0;
      time += took;
      const frame = frames.get(id);
      if (!frame || time < from || time > to || frame.functionName === '(idle)') return;
      busy += took;
      add(kinds, kindOf(frame), took);
      add(functions, `${frame.functionName || '(anonymous)'}  ${placeOf(frame)}`, took);
    });
  }
  const share = (/** @type {[string, number]} */ [name, took]) =>
    `${((100 * took) / busy).toFixed(1).padStart(6)} %  ${name}`;
  const largest = (/** @type {Map<string, number>} */ sums) => [...sums].sort(([, a], [, b]) => b - a);
  const busyShare = `busy ${((100 * busy) / (to - from)).toFixed(0)} % of the time`;
  return [busyShare, ...largest(kinds).map(share), '', ...largest(functions).slice(0, FUNCTIONS).map(share)].join('\n');
}

/** @param {Frame} frame */
function kindOf({ url, functionName }) {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'native: reading, TLS of what comes, event loop';
  if (url.startsWith('node:')) return 'internals of Node';
  if (/\/node_modules\/(?!@gateway\/)/.test(url)) return 'packages';
  if (url.startsWith('wasm:')) return 'the embedded database';
  if (url) return 'ours';
  return WRITES.test(functionName) ? 'native: writing, TLS of what goes' : 'native: other';
}

/** @param {Frame} frame */
const placeOf = ({ url, lineNumber }) => (url ? `${url.split('/').slice(-2).join('/')}:${lineNumber + 1}` : 'native');

/** @param {Map<string, number>} sums @param {string} key @param {number} value */
const add = (sums, key, value) => sums.set(key, (sums.get(key) ?? 0) + value);
