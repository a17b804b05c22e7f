// The tables and the targets, as text.

import { median } from '../api/report.js';
import { cases, IDLE_AGENTS, IDLE_MAX, targets } from './cases.js';

/**
 * @typedef {object} Figures of one round.
 * @property {number} cpu of all processes on the path: microseconds for a request, seconds for a gigabyte of bulk.
 * @property {number[]} parts of that, by side.
 * @property {number} perSecond requests, or megabytes of bulk.
 * @property {number} p50 milliseconds.
 * @property {number} p99
 */
/** @typedef {Map<string, Map<string, Figures[]>>} Results by case, then by path; rounds are in the same order. */
/** @typedef {import('./idle.js').Idle} Idle */

/** @type {Record<string, string>} */
const titles = {
  direct: 'direct',
  nginx: 'nginx, reverse proxy',
  haproxy: 'HAProxy, reverse proxy',
  ssh: 'ssh -R (sshd + ssh)',
  agent: 'gateway + our agent',
  sdk: 'gateway + SDK',
  before: 'the build before',
};
/** References that get a column. */
const AGAINST = ['nginx', 'haproxy', 'ssh', 'before'];

/**
 * How many times as much: the median of the rounds, each held against the same round of the other, so that what slows a
 * whole round slows both.
 * @param {Figures[]} own
 * @param {Figures[]} other
 * @param {keyof Figures} figure
 */
const ratio = (own, other, figure) =>
  median(own.map((round, i) => Number(round[figure]) / Number(other[i]?.[figure] ?? Number.NaN)));

/** @param {string} name of a case. @param {Map<string, Figures[]>} paths @returns {string} */
export function table(name, paths) {
  const { title, kind } = /** @type {import('./cases.js').Case} */ (cases[name]);
  const isBulk = kind !== 'requests';
  const references = AGAINST.filter((path) => paths.has(path));
  const cpuTitle = isBulk ? 'CPU s/GB' : 'CPU µs/req';
  const rate = isBulk ? ['MB/s', 'min–max'] : ['req/s', 'min–max', 'p50 ms', 'p99 ms'];
  const head = [title, cpuTitle, 'min–max', 'each side', ...references.map((path) => `× ${path}`), ...rate];
  const cell = isBulk ? 2 : 1;
  const rows = [...paths].map(([path, rounds]) => {
    const of = (/** @type {'cpu' | 'perSecond' | 'p50' | 'p99'} */ figure) => rounds.map((round) => round[figure]);
    const sides = (rounds[0]?.parts ?? []).map((_, i) =>
      median(rounds.map(({ parts }) => parts[i] ?? 0)).toFixed(cell),
    );
    const counted = sides.length > 0;
    const times = references.map((other) => ratio(rounds, paths.get(other) ?? [], 'cpu').toFixed(2));
    return [
      titles[path] ?? path,
      counted ? median(of('cpu')).toFixed(cell) : '',
      counted ? range(of('cpu'), cell) : '',
      sides.length > 1 ? sides.join(' + ') : '',
      ...(counted ? times : references.map(() => '')),
      median(of('perSecond')).toFixed(0),
      range(of('perSecond'), 0),
      ...(isBulk ? [] : [median(of('p50')).toFixed(2), median(of('p99')).toFixed(2)]),
    ];
  });
  return aligned([head, ...rows]);
}

/** @param {number[]} values @param {number} digits */
const range = (values, digits) => `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;

/** @param {Map<string, Idle>} idle by path. @param {number | undefined} sshd bytes of its process for a client. */
export function idleTable(idle, sshd) {
  const kB = (/** @type {number} */ bytes) => (bytes / 1000).toFixed(0);
  const head = [`${IDLE_AGENTS} idle agents`, 'kB each', 'heap of that', 'empty MB', '10 agents', 'all'];
  const rows = [...idle].map(([path, { each, heap, ...rss }]) => [
    titles[path] ?? path,
    kB(each),
    kB(heap),
    ...[rss.empty, rss.first, rss.all].map((bytes) => (bytes / 1e6).toFixed(1)),
  ]);
  if (sshd) rows.push([titles.ssh ?? '', kB(sshd), '', '', '', '']);
  return aligned([head, ...rows]);
}

/** Columns side by side, the first to the left and the others to the right. @param {string[][]} rows the head first. */
export function aligned(rows) {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

const words = { cpu: 'CPU', perSecond: 'rate', p50: 'p50', p99: 'p99', parts: '' };
const compare = {
  '<': (/** @type {number} */ a, /** @type {number} */ b) => a < b,
  '<=': (/** @type {number} */ a, /** @type {number} */ b) => a <= b,
  '>': (/** @type {number} */ a, /** @type {number} */ b) => a > b,
  '>=': (/** @type {number} */ a, /** @type {number} */ b) => a >= b,
};

/**
 * Holds our gateway with our agent against the targets.
 * @param {Results} results
 * @param {Map<string, Idle>} idle
 * @returns {string} a line for each that could be looked at, and how many were met.
 */
export function verdicts(results, idle) {
  const lines = targets.flatMap(({ case: name, figure, against, than = name, is, times }) => {
    const own = results.get(name)?.get('agent');
    const other = results.get(than)?.get(against);
    if (!own || !other) return [];
    const found = ratio(own, other, figure);
    const met = compare[is](found, times);
    const verdict = met ? 'met' : `MISSED by ${(100 * Math.abs(found / times - 1)).toFixed(0)} %`;
    const word = cases[name]?.kind === 'requests' && figure === 'perSecond' ? 'requests per second' : words[figure];
    const whose = than === name ? against : `that of ${than}`;
    return [`${cases[name]?.title}: ${word} ${is} ${times} × ${whose}: ${found.toFixed(2)}, ${verdict}`];
  });
  const each = idle.get('agent')?.each;
  if (each !== undefined) {
    const verdict = each < IDLE_MAX ? 'met' : `MISSED by ${(100 * (each / IDLE_MAX - 1)).toFixed(0)} %`;
    lines.push(
      `An idle agent: < ${IDLE_MAX / 1000} kB of the gateway's memory: ${(each / 1000).toFixed(0)}, ${verdict}`,
    );
  }
  if (lines.length === 0) return 'No target could be looked at: it takes the path "agent", and one to hold it against.';
  return [...lines, `${lines.filter((line) => line.endsWith(', met')).length} of ${lines.length} targets met`].join(
    '\n',
  );
}
