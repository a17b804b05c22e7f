// The tables and the targets, as text.

import { cases, notes } from './cases.js';

/** @typedef {{ cpu: number, perSecond: number, p99: number }} Figures of one round: CPU microseconds per request. */
/** @typedef {Map<string, Map<string, Figures[]>>} Results by case, then by server; rounds are in the same order. */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/**
 * How many times as much CPU one server takes as another: the median of the rounds, each held against the same round
 * of the other, so that what slows a whole round slows both.
 * @param {Figures[]} own
 * @param {Figures[]} other
 */
const ratio = (own, other) => median(own.map(({ cpu }, round) => cpu / (other[round]?.cpu ?? Number.NaN)));

/** @param {Results} results @returns {string} */
export function tables(results) {
  const parts = [...results].map(([name, servers]) => table(name, servers));
  return [...parts, notes.join('\n')].join('\n\n');
}

/** @param {string} name @param {Map<string, Figures[]>} servers */
function table(name, servers) {
  const { title, against } = /** @type {import('./cases.js').Case} */ (cases[name]);
  const references = against.filter((reference) => servers.has(reference));
  const head = [
    title,
    'CPU µs/request',
    'min–max',
    ...references.map((one) => `× ${one.split(', ')[1] ?? one.split(/ [+j]/)[0]}`),
    'req/s',
    'p99 ms',
  ];
  const rows = [...servers].map(([server, rounds]) => {
    const cpu = rounds.map((round) => round.cpu);
    return [
      server,
      median(cpu).toFixed(0),
      `${Math.min(...cpu).toFixed(0)}–${Math.max(...cpu).toFixed(0)}`,
      ...references.map((reference) => ratio(rounds, servers.get(reference) ?? []).toFixed(2)),
      median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
      median(rounds.map(({ p99 }) => p99)).toFixed(1),
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
 * @returns {{ text: string, missed: string[] }} a line each, and the cases that miss one.
 */
export function targets(results, gateway) {
  const lines = [];
  const missed = new Set();
  for (const [name, servers] of results) {
    for (const { against, times, below } of cases[name]?.targets ?? []) {
      const own = servers.get(gateway);
      const other = servers.get(against);
      if (!own || !other) continue;
      const found = ratio(own, other);
      const met = below ? found < times : found <= times;
      if (!met) missed.add(name);
      const goal = `${below ? 'below' : 'at most'} ${times} × ${against}`;
      const verdict = met ? 'met' : `MISSED by ${(100 * (found / times - 1)).toFixed(0)} %`;
      lines.push(`${cases[name]?.title}: ${goal} — ${found.toFixed(2)}, ${verdict}`);
    }
  }
  return { text: lines.join('\n'), missed: [...missed] };
}
