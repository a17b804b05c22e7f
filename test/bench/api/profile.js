// Where the time of a process went, from a `.cpuprofile` that Node wrote.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FUNCTIONS = 15;
const PACKAGES = 12;

/**
 * @typedef {object} Profile
 * @property {{ id: number, callFrame: { functionName: string, url: string, lineNumber: number } }[]} nodes
 * @property {number} startTime microseconds, on the clock of `process.hrtime`.
 * @property {number[]} samples
 * @property {number[]} timeDeltas
 */

/**
 * @param {string} directory that holds one profile.
 * @param {number} from when measuring began, and ended, in microseconds of `process.hrtime`: starting up is left out.
 * @param {number} to
 * @returns {string} the packages and the functions that took the most time themselves.
 */
export function describeProfile(directory, from, to) {
  const file = readdirSync(directory).find((name) => name.endsWith('.cpuprofile'));
  if (!file) throw new Error('Node wrote no profile');
  /** @type {Profile} */
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8'));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  /** @type {Map<string, number>} */
  const functions = new Map();
  /** @type {Map<string, number>} */
  const packages = new Map();
  let total = 0;
  let time = startTime;
  samples.forEach((id, index) => {
    const took = timeDeltas[index] ?? 0;
    time += took;
    const frame = frames.get(id);
    if (!frame || time < from || time > to || frame.functionName === '(idle)') return;
    total += took;
    const owner = packageOf(frame);
    const place = frame.url ? `${frame.url.split('/').at(-1)}:${frame.lineNumber + 1}` : '';
    add(packages, owner, took);
    add(functions, `${owner.padEnd(28)}${frame.functionName || '(anonymous)'}  ${place}`, took);
  });
  const share = (/** @type {[string, number]} */ [name, took]) =>
    `${((100 * took) / total).toFixed(1).padStart(6)} %  ${name}`;
  return [...top(packages, PACKAGES).map(share), '', ...top(functions, FUNCTIONS).map(share)].join('\n');
}

/** @param {Profile['nodes'][0]['callFrame']} frame */
function packageOf({ url, functionName }) {
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (installed) return installed;
  if (url.startsWith('node:')) return 'node';
  const [, file] = /\/dist\/(.*)$/.exec(url) ?? [];
  if (file) return `gateway ${file}`;
  if (url) return 'compiled (graphql-jit …)';
  return functionName.startsWith('(') ? functionName : 'native';
}

/** @param {Map<string, number>} sums @param {string} key @param {number} value */
const add = (sums, key, value) => sums.set(key, (sums.get(key) ?? 0) + value);

/** @param {Map<string, number>} sums @param {number} count */
const top = (sums, count) => [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
