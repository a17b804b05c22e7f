// The targets, and the tables as text.

import { aligned } from '../data-plane/report.js';

/** Of resident memory in MB, of a start in seconds, of an idle agent in kB. @type {Record<string, number>} */
export const TARGETS = {
  worker: 90,
  'control, embedded': 220,
  'control, postgres': 160,
  'device agent': 50,
  ready: 2,
  'idle agent': 40,
};

/**
 * @typedef {object} Row
 * @property {string} what
 * @property {number} value what the target is about.
 * @property {string} text as it is shown.
 * @property {string} [more] shown behind it.
 * @property {string} [target] a name of `TARGETS`.
 */

/** @param {string} what @param {import('./gateway.js').Memory} memory @param {string} [target] @returns {Row} */
export function memoryRow(what, { rss, pss }, target) {
  const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(0);
  return { what, value: rss / 1e6, text: `${megabytes(rss)} MB`, more: `PSS ${megabytes(pss)} MB`, target };
}

/** @param {Row} row */
const isMissed = ({ value, target }) => target !== undefined && !(value <= (TARGETS[target] ?? Number.NaN));

/** @param {Row[]} rows @returns {string} with the missed targets below. */
export function table(rows) {
  const units = { ready: 's', 'idle agent': 'kB' };
  const unit = (/** @type {string} */ target) => units[/** @type {keyof typeof units} */ (target)] ?? 'MB';
  const goal = (/** @type {string} */ target) => `<= ${TARGETS[target]} ${unit(target)}`;
  const lines = rows.map((row) => [
    row.what,
    row.text,
    row.more ?? '',
    row.target ? goal(row.target) : '',
    row.target ? (isMissed(row) ? 'MISSED' : 'met') : '',
  ]);
  const missed = rows.filter(isMissed).map(({ what, text, target }) => `  ${what}: ${text}, not ${goal(target ?? '')}`);
  const verdict = missed.length > 0 ? ['Missed targets:', ...missed] : ['All targets are met.'];
  return [aligned([['', 'figure', 'beside', 'target', ''], ...lines]), '', ...verdict].join('\n');
}

/** @param {import('./packages.js').Packages} packages @param {number} [count] of the largest, which come first. */
export function packageList(packages, count = packages.size) {
  const sorted = [...packages].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, count);
  const rows = sorted.map(([name, { scripts, bytes }]) => [name, `${scripts}`, (bytes / 1000).toFixed(0)]);
  return aligned([['', 'files', 'kB of code'], ...rows]);
}
