// `npm run bench -- dns`: questions that the DNS responder answers in a second, and the CPU time that each costs. The load is
// from dnsperf (Debian's package of that name).
//
//   --rounds N     how often each kind of question is measured (3)
//   --seconds N    how long questions are sent each time (3)
//
// BENCH_SMOKE=1 only tries whether everything works, in one second each.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { cpuTime, isSmoke, stop } from '../api/processes.js';
import { median } from '../api/report.js';
import { find, launch } from '../data-plane/processes.js';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: isSmoke ? '1' : '3' },
    seconds: { type: 'string', default: isSmoke ? '1' : '3' },
  },
});
const rounds = Number(options.rounds);
/** So many names that their look-ups are seldom shared. */
const NAMES = 1000;

/** @type {{ what: string, name: string, type: string, args?: string[] }[]} */
const cases = [
  { what: 'TXT, two values', name: 'v$.tunnel.test', type: 'TXT' },
  { what: 'A', name: 'app$.tunnel.test', type: 'A' },
  { what: 'NXDOMAIN', name: 'x$.tunnel.test', type: 'A' },
  { what: 'REFUSED', name: 'x$.example.com', type: 'A' },
  { what: 'TXT over TCP', name: 'v$.tunnel.test', type: 'TXT', args: ['-m', 'tcp'] },
];
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
const program = find('dnsperf');
if (program) await run(program);
else {
  process.stderr.write('The benchmark needs dnsperf (Debian: apt-get install dnsperf).\n');
  process.exitCode = 1;
}

/** @param {string} dnsperf */
async function run(dnsperf) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-dns-'));
  try {
    say(`Node ${process.versions.node}, ${cpus().length} CPUs, load average before: ${loadavg()[0]?.toFixed(2)}`);
    say(`Medians of ${rounds} rounds of ${options.seconds} s; 64 questions at once.`);
    for (const one of cases) await measure(dnsperf, directory, one);
    say(`Load average after: ${loadavg()[0]?.toFixed(2)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {string} dnsperf @param {string} directory @param {typeof cases[number]} one */
async function measure(dnsperf, directory, { what, name, type, args = [] }) {
  const questions = join(directory, 'questions');
  const lines = Array.from({ length: NAMES }, (_, i) => `${name.replace('$', `${i}`)} ${type}\n`);
  writeFileSync(questions, lines.join(''));
  const server = await launch(process.execPath, [join(import.meta.dirname, 'server.js')], {
    logFile: join(directory, 'log'),
    until: /^port/,
  });
  const { pid } = server.process;
  if (pid === undefined) throw new Error('the responder did not start');
  const port = server.lines.join().replace(/\D+/g, '');
  const load = ['-s', '127.0.0.1', '-p', port, '-d', questions, '-e', '-c', '4', '-q', '64', ...args];
  const figures = [];
  try {
    if (!isSmoke) await promisify(execFile)(dnsperf, [...load, '-l', '1']);
    for (let round = 0; round < rounds; round++) {
      const before = cpuTime(pid);
      const { stdout } = await promisify(execFile)(dnsperf, [...load, '-l', options.seconds]);
      const numberOf = (/** @type {RegExp} */ pattern) => Number(pattern.exec(stdout)?.[1]);
      const sent = numberOf(/Queries sent:\s+(\d+)/);
      const lost = numberOf(/Queries lost:\s+(\d+)/);
      const seconds = numberOf(/Run time \(s\):\s+([\d.]+)/);
      figures.push({ perSecond: sent / seconds, cpu: (cpuTime(pid) - before) / sent, lost: lost / sent });
    }
  } finally {
    await stop(server.process);
  }
  const of = (/** @type {'perSecond' | 'cpu' | 'lost'} */ key) => median(figures.map((round) => round[key]));
  say(
    `  ${what.padEnd(16)} ${Math.round(of('perSecond')).toString().padStart(7)} questions/s` +
      ` ${of('cpu').toFixed(1).padStart(6)} µs of CPU each, ${(100 * of('lost')).toFixed(1)} % unanswered`,
  );
}
