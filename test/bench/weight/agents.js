// What agents weigh that have nothing to do: each in the gateway's processes, and one as a process of its own.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { isSmoke, stop } from '../api/processes.js';
import { startAgent } from '../data-plane/gateway.js';
import { ask, startIdleAgents } from '../data-plane/idle.js';
import { IDLE_MS, memoryOf } from './gateway.js';

/** @typedef {import('./gateway.js').Place} Place @typedef {import('./gateway.js').Gateway} Gateway */

/** The agents that are connected when memory is read. */
export const STAGES = isSmoke ? { few: 10, many: 20 } : { few: 1000, many: 3000 };
/** Memory has settled when it changed by no more than this from one look to the next, that long apart. */
const SETTLED_BYTES = 512 * 1024;
const SETTLE_MS = 1000;
const LOOKS_MAX = isSmoke ? 1 : 10;
/** Collects garbage when it gets SIGWINCH. */
const COLLECTOR = new URL('../../support/full-collections.mjs', import.meta.url).href;

/**
 * @param {Place} place
 * @param {number} workers
 * @param {number} origin the port.
 * @returns {Promise<{ each: number, control: number, device: import('./gateway.js').Memory }>} bytes for each agent in the
 *   processes that carry agents, and in the control process; and what a device agent beside them takes.
 */
export async function weighIdleAgents(place, workers, origin) {
  const gateway = await place.start(workers, {}, [`--import=${COLLECTOR}`]);
  const device = await startDevice(place, gateway, origin);
  const isIdle = later(IDLE_MS);
  const { dist, directory, authtoken, ca } = place;
  const job = { kind: /** @type {const} */ ('own'), dist, address: gateway.address, authtoken, ca };
  const agents = await startIdleAgents(job, join(directory, `${workers}`));
  const members = gateway.members();
  const carriers = members.filter(({ role }) => role === 'whole' || role === 'worker').map(({ pid }) => pid);
  const control = members.filter(({ role }) => role === 'control').map(({ pid }) => pid);

  await ask(agents.process, STAGES.few);
  const few = [await settled(carriers), await settled(control)];
  await ask(agents.process, STAGES.many - STAGES.few);
  const many = [await settled(carriers), await settled(control)];
  const { alive } = await ask(agents.process, 0);
  if (alive !== STAGES.many) throw new Error(`only ${alive} of the idle agents have kept their session`);
  await stop(agents.process);
  await isIdle;
  const weight = memoryOf(device.process.pid);
  await stop(device.process);
  await gateway.stop();
  const [each = 0, inControl = 0] = many.map((bytes, i) => (bytes - (few[i] ?? 0)) / (STAGES.many - STAGES.few));
  return { each, control: inControl, device: weight };
}

/** Resident memory of all of them, when the garbage is collected. @param {number[]} pids */
async function settled(pids) {
  let last = Number.NaN;
  for (let look = 0; look < LOOKS_MAX; look++) {
    for (const pid of pids) process.kill(pid, 'SIGWINCH');
    await later(SETTLE_MS);
    const now = pids.reduce((sum, pid) => sum + memoryOf(pid).rss, 0);
    if (Math.abs(now - last) <= SETTLED_BYTES * pids.length) return now;
    last = now;
  }
  return last;
}

/**
 * Starts the device agent with one tunnel.
 * @param {Place} place @param {Gateway} gateway @param {number} port of its origin.
 */
export async function startDevice(place, gateway, port) {
  const directory = join(place.directory, `device-${gateway.process.pid}`);
  mkdirSync(directory);
  const agent = await startAgent({
    directory,
    gateway: {
      process: gateway.process,
      address: gateway.address,
      httpPort: gateway.httpPort,
      httpsPort: 0,
      authtoken: place.authtoken,
      ca: join(place.data, 'ca.pem'),
    },
    port,
    keep: () => {},
    file: place.agent,
  });
  if (typeof agent === 'string') throw new Error(`There is nothing to measure, as ${agent}`);
  return agent;
}
