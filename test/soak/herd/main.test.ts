// `npm run soak -- herd`: thousands of agents come all at once, again and again, and come back after a kill -9 of the
// gateway, on both databases, beside an honest visitor. HERD_AGENTS says how many (3,000), HERD_MANNERS how they come again
// (`impolite`, `sdk`, `polite`; impolite), HERD_PROFILE is a directory for a profile of the CPU of the gateway that is restarted.

import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manners } from '../../support/agents/herd-agent.ts';
import { newPlace, onServer, type Place } from '../../support/gateway/place.ts';
import { type GatewayProcess, portsOf, startProcess } from '../../support/gateway/process.ts';
import { openWorld, residentMemory, type World } from '../../support/load/honest-world.ts';
import { root } from '../../support/root.ts';
import { type Herd, startHerd } from './herd.ts';
import { startVisitor, type Visitor } from './visitor.ts';

const AGENTS = Number(process.env.HERD_AGENTS || 3000);
const MANNERS = (process.env.HERD_MANNERS || 'impolite') as Manners;
const PROFILE = process.env.HERD_PROFILE;
/** All are to be back within so long of a kill -9; milliseconds. */
const BACK_MS = 30_000;
const PATIENCE_MS = 90_000;
const TEST_MS = 200_000;
const LOOK_MS = 50;

describe(`${AGENTS} ${MANNERS} agents, on ${onServer ? 'a PostgreSQL server' : 'the embedded database'}`, () => {
  let place: Place;
  let world: World;
  let gateway: GatewayProcess;
  let herd: Herd;
  let visitor: Visitor;
  const profiling = { NODE_OPTIONS: `--import=${join(root, 'test/support/profile.mjs')}`, PROFILE_DIR: PROFILE ?? '' };
  const settings = { LOG_LEVEL: 'warn', ...(PROFILE && profiling) };
  beforeAll(async () => {
    place = await newPlace();
    world = await openWorld(place, async (key) => {
      gateway = await startProcess({ ...settings, INITIAL_API_KEY: key }, place, key);
      return gateway;
    });
    visitor = startVisitor(world);
  }, TEST_MS);
  afterAll(async () => {
    await herd?.stop();
    await visitor?.stop();
    await world?.close();
    await gateway?.kill('SIGTERM');
    await place?.remove();
  }, TEST_MS);

  test('all come in when they come at once', { timeout: TEST_MS }, async () => {
    const { agent, ca } = world.target;
    const [host = '', port] = agent.split(':');
    const began = performance.now();
    herd = await startHerd(AGENTS, MANNERS, { host, port: Number(port), ca, authtoken: world.tenant.authtoken });
    const took = await allOnline(began);
    print('came in', took, began);
    expect(leasesLost()).toBe(0);
    expect(took).toBeLessThan(BACK_MS);
  });

  test('all are back after a kill -9', { timeout: TEST_MS }, async () => {
    const ports = portsOf(gateway);
    const began = performance.now();
    await gateway.kill('SIGKILL');
    gateway = await gateway.restart(ports);
    const started = performance.now();
    const took = await allOnline(began);
    print(`were back (the gateway's start took ${seconds(started - began)})`, took, started);
    expect(leasesLost()).toBe(0);
    expect(took).toBeLessThan(BACK_MS);
  });

  /** @returns milliseconds from then until all were online; those who are not after `PATIENCE_MS` never are. */
  async function allOnline(from: number): Promise<number> {
    let told = from;
    for (;;) {
      const now = performance.now();
      const { online } = herd.standing();
      // That the gateway is gone, the workers tell a moment later.
      if (online === AGENTS && now - from > 1000) return now - from;
      if (now - from > PATIENCE_MS) {
        print('did NOT come in', Number.POSITIVE_INFINITY, from);
        throw new Error(`${online} of ${AGENTS} are online after ${seconds(PATIENCE_MS)}`);
      }
      if (now - told > 5000) {
        told = now;
        process.stdout.write(`  after ${seconds(now - from)}: ${online} online\n`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  const aboutLease = () => gateway.stderr.filter((line) => line.includes('lease'));
  const leasesLost = () => aboutLease().length;

  function print(what: string, took: number, visitsFrom: number): void {
    const { failed, lost, toldWhen, cpu } = herd.standing();
    const { count, failures, p95, longest } = visitor.since(visitsFrom);
    const top = (counts: Record<string, number>) =>
      Object.entries(counts)
        .sort(([, a], [, b]) => b - a)
        .slice(0, 8)
        .map(([why, number]) => `\n    ${number} ${why}`)
        .join('');
    process.stdout.write(
      [
        `${onServer ? 'server' : 'embedded'}: ${AGENTS} ${MANNERS} agents ${what} after ${seconds(took)}; ${leasesLost()} leases lost; ${Math.round(residentMemory(gateway.pid))} MB, ${cpuSeconds(gateway.pid)} s of CPU (the herd since it began: ${cpu.toFixed(1)} s), load ${loadavg()[0]?.toFixed(1)}`,
        `  the visitor: ${count} visits, ${failures} failed, p95 ${Math.round(p95)} ms, longest ${Math.round(longest)} ms`,
        `  attempts that failed:${top(failed)}`,
        `  sessions lost:${top(lost)}`,
        `  told when to come back: ${toldWhen}`,
        ...aboutLease(),
        '',
      ].join('\n'),
    );
  }
});

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** CPU time of a process since its start; the clock ticks 100 times a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
