// What an agent costs the gateway that has nothing to do but be there: memory, after the garbage is collected.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { isSmoke } from '../api/processes.js';
import { IDLE_AGENTS } from './cases.js';
import { startGateway } from './gateway.js';
import { launch } from './processes.js';

/** These come first: with them the gateway loads and compiles what every agent needs. */
const FIRST = 10;
/** Memory has settled when it changed by no more than this from one look to the next, that long apart. */
const SETTLED_BYTES = 256 * 1024;
const SETTLE_MS = isSmoke ? 50 : 1000;
const LOOKS_MAX = isSmoke ? 1 : 20;

/**
 * @typedef {object} Idle bytes of resident memory.
 * @property {number} empty the gateway alone.
 * @property {number} first with the first agents.
 * @property {number} all with so many more.
 * @property {number} each what one of those takes.
 * @property {number} heap of that, JavaScript objects.
 */

/**
 * @param {import('./bench.js').Bench} bench
 * @param {'own' | 'sdk'} kind of the agents.
 * @param {string} dist the compiled gateway.
 * @returns {Promise<Idle>}
 */
export async function measureIdle(bench, kind, dist) {
  const directory = join(bench.directory, `idle-${kind}`);
  const probe = new URL('memory-probe.js', import.meta.url).href;
  const gateway = await startGateway(directory, dist, bench.keep, {
    nodeArgs: ['--expose-gc', `--import=${probe}`],
    ipc: true,
  });
  const { address, authtoken } = gateway;
  const agents = await startIdleAgents(
    { kind, dist, address, authtoken, ca: readFileSync(gateway.ca, 'utf8') },
    directory,
  );
  bench.keep(agents.process);

  const empty = await settled(gateway.process);
  await ask(agents.process, FIRST);
  const first = await settled(gateway.process);
  await ask(agents.process, IDLE_AGENTS);
  const all = await settled(gateway.process);
  const { alive } = await ask(agents.process, 0);
  if (alive !== FIRST + IDLE_AGENTS) throw new Error(`only ${alive} of the idle agents have kept their session`);
  return {
    empty: empty.rss,
    first: first.rss,
    all: all.rss,
    each: (all.rss - first.rss) / IDLE_AGENTS,
    heap: (all.heapUsed - first.heapUsed) / IDLE_AGENTS,
  };
}

/**
 * Starts the process of the idle agents. It adds as many as the number says that it is sent.
 * @param {import('./idle-agents.js').Job} job
 * @param {string} name of its log, with the path.
 */
export const startIdleAgents = (job, name) =>
  launch(process.execPath, [join(import.meta.dirname, 'idle-agents.js')], {
    logFile: `${name}-agents.log`,
    until: /^ready/,
    env: { IDLE_JOB: JSON.stringify(job) },
    ipc: true,
  });

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<NodeJS.MemoryUsage>} */
async function settled(child) {
  let last = await ask(child, 'memory');
  for (let look = 0; look < LOOKS_MAX; look++) {
    await later(SETTLE_MS);
    const now = await ask(child, 'memory');
    if (Math.abs(now.rss - last.rss) <= SETTLED_BYTES) return now;
    last = now;
  }
  return last;
}

/** Sends a message and waits for its answer. @param {import('node:child_process').ChildProcess} child @param {unknown} message */
export async function ask(child, message) {
  const answer = await new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('a process ended that was to be measured'));
    child.once('exit', onExit);
    child.once('message', (value) => {
      child.off('exit', onExit);
      resolve(value);
    });
    child.send(/** @type {import('node:child_process').Serializable} */ (message));
  });
  if (answer.error) throw new Error(answer.error);
  return answer;
}
