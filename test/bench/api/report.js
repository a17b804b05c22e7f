// The tables and the targets, as text.

import { cases, FIRST_CALLS_TIMES } from './cases.js';

/**
 * @typedef {object} Figures of one round.
 * @property {number} cpu microseconds per request, of the server's process.
 * @property {number} databaseCpu likewise, of the database's processes; NaN where that is not known.
 * @property {number} perSecond
 * @property {number} p99 milliseconds.
 */
/** @typedef {{ first: Figures | undefined, rounds: Figures[] }} Measured the first calls of a new process, and then the steady state. */
/** @typedef {Map<string, Map<string, Measured>>} Results by case, then by server; rounds are in the same order. */
/** @typedef {import('./cases.js').Case} Case */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/**
 * How many times as much CPU one server takes as another, or how many times as many requests it answers in a second: the median of
 * the rounds, each held against the same round of the other, so that what slows a whole round slows both.
 * @param {Case} of
 * @param {Measured} own
 * @param {Measured} other
 */
function ratio({ byRate }, own, other) {
  const figure = (/** @type {Figures | undefined} */ round) => (byRate ? round?.perSecond : round?.cpu) ?? Number.NaN;
  return median(own.rounds.map((round, index) => figure(round) / figure(other.rounds[index])));
}

/** How many times as much as in the steady state a call costs among the first. @param {Measured} measured */
const firstTimes = ({ first, rounds }) => (first?.cpu ?? Number.NaN) / median(rounds.map(({ cpu }) => cpu));

/** @param {number} value @param {number} digits */
const shown = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : '–');

/** @param {string} name of a case. @param {Results} results */
export function table(name, results) {
  const of = /** @type {Case} */ (cases[name]);
  const servers = /** @type {Map<string, Measured>} */ (results.get(name));
  const references = of.against.filter((reference) => servers.has(reference));
  const head = [
    of.title,
    'CPU µs/request',
    'min–max',
    ...references.map((one) => `${of.byRate ? 'req/s ×' : '×'} ${one.split(', ')[1] ?? one.split(/ [+j]/)[0]}`),
    'first µs',
    '× steady',
    'database µs',
    'req/s',
    'p99 ms',
  ];
  const rows = [...servers].map(([server, measured]) => {
    const { first, rounds } = measured;
    const cpu = rounds.map((round) => round.cpu);
    return [
      server,
      shown(median(cpu)),
      `${shown(Math.min(...cpu))}–${shown(Math.max(...cpu))}`,
      ...references.map((one) => shown(ratio(of, measured, /** @type {Measured} */ (servers.get(one))), 2)),
      shown(first?.cpu ?? Number.NaN),
      shown(firstTimes(measured), 1),
      shown(median(rounds.map(({ databaseCpu }) => databaseCpu))),
      shown(median(rounds.map(({ perSecond }) => perSecond))),
      shown(median(rounds.map(({ p99 }) => p99)), 1),
    ];
  });
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => row.map((cell, i) => (i ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('   '))
    .join('\n');
}

/**
 * Holds the gateway against the targets.
 * @param {Results} results
 * @param {string} gateway its name among the servers.
 * @returns {string} a line each.
 */
export function targets(results, gateway) {
  const lines = [];
  for (const [name, servers] of results) {
    const of = /** @type {Case} */ (cases[name]);
    const own = servers.get(gateway);
    if (!own) continue;
    for (const { against, atMost, below, atLeast } of of.targets) {
      const other = servers.get(against);
      if (!other) continue;
      const found = ratio(of, own, other);
      if (atLeast !== undefined)
        lines.push(`${of.title}: at least ${atLeast} × ${against} — ${verdict(found, found >= atLeast, atLeast)}`);
      else if (below !== undefined)
        lines.push(`${of.title}: below ${below} × ${against} — ${verdict(found, found < below, below)}`);
      else if (atMost !== undefined)
        lines.push(`${of.title}: at most ${atMost} × ${against} — ${verdict(found, found <= atMost, atMost)}`);
    }
    if (!own.first) continue;
    const times = firstTimes(own);
    const goal = `at most ${FIRST_CALLS_TIMES} × the steady state`;
    lines.push(`${of.title}, first calls: ${goal} — ${verdict(times, times <= FIRST_CALLS_TIMES, FIRST_CALLS_TIMES)}`);
  }
  return lines.join('\n');
}

/** @param {number} found @param {boolean} isMet @param {number} goal */
const verdict = (found, isMet, goal) =>
  `${shown(found, 2)}, ${isMet ? 'met' : `MISSED by ${(100 * Math.abs(found / goal - 1)).toFixed(0)} %`}`;
