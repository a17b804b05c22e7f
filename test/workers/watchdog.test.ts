// A process that stands still is killed by the primary, and another takes its place.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { samples } from '../support/load/metrics.ts';
import { CONTROL, LONG, type ProcessGroup, startProcessGroup, type Which } from './support.ts';

/** Healthy processes of a busy machine are silent for less, and the test does not wait for long. */
const WATCHDOG_MS = 4000;
let group: ProcessGroup;

beforeAll(async () => {
  group = await startProcessGroup({ WATCHDOG_MS: String(WATCHDOG_MS) });
});
afterAll(() => group?.close());

const kills = async () => {
  const series = (await samples(group.gateway.admin)).series('gateway_watchdog_kills_total');
  return Object.fromEntries(series.map(({ labels, value }) => [labels.process, value]));
};

/** Stops a process, and waits until another has its place. */
async function standStill(which: Which, name: string): Promise<void> {
  const pid = group.kill(which, 'SIGSTOP');
  await eventually(() => expect([undefined, pid]).not.toContain(group.pid(which)), { timeout: 60_000 });
  await group.settled();
  const said = group.gateway.stderr.find((line) => line.includes(`"pid":${pid},`) && line.includes('no heartbeat'));
  expect(JSON.parse(said ?? '{}')).toMatchObject({ process: name, level: 'error' });
}

test('a worker, and then the control process, that stands still is killed, counted and replaced', LONG, async () => {
  expect(await kills()).toMatchObject({ control: 0, 'worker-1': 0, 'worker-2': 0 });
  await standStill(1, 'worker 2');
  expect((await kills())['worker-2']).toBeGreaterThanOrEqual(1);

  await standStill(CONTROL, 'control');
  // The control process that is new is told of the kills before it.
  await eventually(async () => {
    const counted = await kills();
    expect(counted.control).toBeGreaterThanOrEqual(1);
    expect(counted['worker-2']).toBeGreaterThanOrEqual(1);
  });
});

test('each process has a title that says which it is', async () => {
  const titleOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0.*/s, '');
  expect(titleOf(group.gateway.pid)).toBe('tunnel-gateway: primary');
  expect(group.pids().map(titleOf).sort()).toEqual(
    ['control', 'worker 1', 'worker 2'].map((name) => `tunnel-gateway: ${name}`),
  );
});
