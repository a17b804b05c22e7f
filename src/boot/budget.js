// What `npm test` may cost, which `.ci/run` enforces: test/budget.json has the figures. A machine that is slow has a larger budget, and
// one that others use, too, is not judged. `node src/boot/budget.js` prints how fast it is.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './command.js';

/** How far above the budget is still within it: runs differ by a tenth. */
const TOLERANCE = 0.25;
/** Parts of the CPU time: of other processes, to which the tests' PostgreSQL server counts, and of other machines of the same host. */
const MOST_OF_OTHERS = 0.2;
const MOST_STOLEN = 0.05;
/** Of the loop of {@link secondsOfLoop}, which takes about a second. The fastest round counts: the first compiles, or others disturb. */
const ROUNDS = 3;
const TURNS_OF_ROUND = 700;
/** See proc_stat(5). */
const TICKS_PER_SECOND = 100;

/**
 * @typedef {object} Budget
 * @property {number} cpuSecondsOfTests what `npm test` shall come to.
 * @property {number} enforcedCpuSecondsOfTests what it may come to until then.
 * @property {number} wallSecondsOfRun what `.ci/run` shall come to.
 * @property {number} cpuSecondsOfLoop of {@link secondsOfLoop}, on the machine of these figures.
 *
 * @typedef {{ busy: number, stolen: number }} MachineTime seconds, of all processors.
 *
 * @typedef {object} Figures seconds of CPU time during the run.
 * @property {number} tests
 * @property {MachineTime} machine
 * @property {number} loop of {@link secondsOfLoop}, on this machine.
 */

/** @returns {Budget} */
export const readBudget = () => JSON.parse(readFileSync(join(root, 'test/budget.json'), 'utf8'));

/**
 * @param {Figures} figures
 * @param {Budget} budget
 * @returns {{ line: string, isFailed: boolean }}
 */
export function judge({ tests, machine: { busy, stolen }, loop }, budget) {
  const slowness = loop / budget.cpuSecondsOfLoop;
  const [allowed, aim] = [budget.enforcedCpuSecondsOfTests * slowness, budget.cpuSecondsOfTests * slowness];
  const scaled = `both times ${slowness.toFixed(2)} for the speed of this machine`;
  const line = `CPU time ${tests.toFixed()} s; budget ${allowed.toFixed()} s, aim ${aim.toFixed()} s (${scaled})`;
  const others = (busy - tests) / busy;
  const shareStolen = stolen / (busy + stolen);
  if (others > MOST_OF_OTHERS || shareStolen > MOST_STOLEN) {
    const why = `others had ${percent(others)} of its CPU time, and the host took ${percent(shareStolen)}`;
    return { line: `${line}; not judged, as the machine was not quiet: ${why}`, isFailed: false };
  }
  return { line, isFailed: tests > allowed * (1 + TOLERANCE) };
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed()} %`;

/** @returns {MachineTime | undefined} since it started; undefined where the system does not tell. */
export function machineTime() {
  try {
    const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = first
      .split(/ +/)
      .slice(1)
      .map(Number);
    return { busy: (user + nice + system + irq + softirq) / TICKS_PER_SECOND, stolen: steal / TICKS_PER_SECOND };
  } catch {
    return undefined;
  }
}

/** The CPU time of a fixed piece of work that is like that of tests: objects, texts, sorting and hashes. */
export function secondsOfLoop() {
  return ROUNDS * Math.min(...Array.from({ length: ROUNDS }, secondsOfRound));
}

function secondsOfRound() {
  const before = process.cpuUsage();
  for (let turn = 0; turn < TURNS_OF_ROUND; turn++) {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ id: `${(at * 7919) % 1009}-${turn}`, at, name: 'row' }));
    rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.write(`The loop takes ${secondsOfLoop().toFixed(2)} s of CPU time\n`);
}
