// Processes that stand still, are killed, or are replaced by an upgrade: others take their places, and the primary answers load balancers
// and Prometheus all the time.

import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { samples } from '../support/load/metrics.ts';
import { nextVersion } from '../support/upgrade/next-version.ts';
import { sampleAdmin } from './admin-samples.ts';
import { CONTROL, LONG, type ProcessGroup, startProcessGroup, type Which } from './support.ts';
import { startVisitors } from './visitors.ts';

/** Healthy processes of a busy machine are silent for less, and the test does not wait for long. */
const WATCHDOG_MS = 4000;
/** A busy machine finds a version that dies within it. */
const SETTLE_MS = 5000;
let group: ProcessGroup;

beforeAll(async () => {
  group = await startProcessGroup({ WATCHDOG_MS: String(WATCHDOG_MS), UPGRADE_SETTLE_MS: String(SETTLE_MS) });
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

test('each process has a title that says which it is', async () => {
  const titleOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0.*/s, '');
  expect(titleOf(group.gateway.pid)).toBe('tunnel-gateway: primary');
  expect(group.pids().map(titleOf).sort()).toEqual(
    ['control', 'worker 1', 'worker 2'].map((name) => `tunnel-gateway: ${name}`),
  );
});

test('a worker, and then the control process, that stands still is killed, counted and replaced', LONG, async () => {
  const admin = sampleAdmin(group.gateway.admin);
  expect(await kills()).toMatchObject({ control: 0, 'worker-1': 0, 'worker-2': 0 });
  await standStill(1, 'worker 2');
  expect((await kills())['worker-2']).toBeGreaterThanOrEqual(1);

  await standStill(CONTROL, 'control');
  const counted = await kills();
  expect(counted.control).toBeGreaterThanOrEqual(1);
  expect(counted['worker-2']).toBeGreaterThanOrEqual(1);
  await admin.stop();
  // Meanwhile it was told what those processes had said last, and for how long they had said nothing.
  expect(admin.ages.control).toBeGreaterThan(1);
  expect(admin.ages['worker-2']).toBeGreaterThan(1);
  expect(admin).toMatchObject({ failures: [], decreases: [] });
});

/** Starts the next processes, and waits until they have settled. */
async function upgrade(): Promise<void> {
  const settled = () => group.gateway.stderr.filter((line) => line.includes('those before drain')).length;
  const before = settled();
  process.kill(group.gateway.pid, 'SIGHUP');
  await eventually(() => expect(settled()).toBe(before + 1), { timeout: 60_000 });
}

test(
  'no probe is refused and no counter goes back while processes are killed, and while upgrades replace all of them',
  LONG,
  async () => {
    const name = 'counted.tunnel.localhost';
    await serve(await group.agentAt(0), await service((_, response) => void response.end(name)), { domain: name });
    const visitors = startVisitors(group.gateway.http, { [name]: name }, 2);
    const admin = sampleAdmin(group.gateway.admin);
    const again = async (which: Which) => {
      const pid = group.kill(which, 'SIGKILL');
      await eventually(() => expect([undefined, pid]).not.toContain(group.pid(which)), { timeout: 60_000 });
      await group.settled();
      await admin.more();
    };
    await visitors.more(20);
    await again(CONTROL);
    await visitors.more(20);
    await again(1);
    await upgrade();
    await visitors.more(20);
    await upgrade();
    await admin.more();
    await Promise.all([visitors.stop(), admin.stop()]);
    expect(visitors.answered).toBeGreaterThanOrEqual(60);
    const { value } = await samples(group.gateway.admin);
    expect(value('gateway_http_requests_total', { listener: 'http', code_class: '2xx' })).toBeGreaterThanOrEqual(60);
    expect(value('gateway_upgrades_total', { outcome: 'done' })).toBe(2);
    expect(admin).toMatchObject({ failures: [], decreases: [] });
  },
);

test(
  'a version that dies before it has settled is taken back, and the command says what it logged last',
  LONG,
  async () => {
    const name = 'goes-on.tunnel.localhost';
    await serve(await group.agentAt(0), await service((_, response) => void response.end(name)), { domain: name });
    const { gateway } = group;
    // Versions beside each other, as they are installed.
    const parent = mkdtempSync(join(inject('run'), 'versions-'));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    const current = join(parent, 'current');
    mkdirSync(join(parent, 'earlier/dist/bundle'), { recursive: true });
    writeFileSync(join(parent, 'earlier/dist/bundle/main.js'), '');
    symlinkSync('earlier', current);
    const fault = join(parent, 'fault');
    const code = `import { existsSync as has } from 'node:fs';
    if (process.env.GATEWAY_WORKER === '1')
      setInterval(() => {
        if (!has(${JSON.stringify(fault)})) return;
        process.emitWarning('this version is broken');
        setTimeout(() => process.exit(7), 100);
      }, 20);`;
    const version = await nextVersion({}, { parent, code });
    const env = { WORKERS: '2', ...gateway.place.env };
    const visitors = startVisitors(gateway.http, { [name]: name }, 2);
    const admin = sampleAdmin(gateway.admin);
    await visitors.more(20);
    const upgraded = version.upgrade(env);
    await eventually(
      () => expect(gateway.stderr.findLast((line) => line.includes('upgrade: '))).toContain('until they have settled'),
      { timeout: 60_000 },
    );
    writeFileSync(fault, '');
    const { code: exitCode, printed } = await upgraded;
    await visitors.more(20);
    await Promise.all([visitors.stop(), admin.stop()]);
    expect(exitCode).toBe(1);
    expect(printed).toContain('The version was taken back');
    expect(printed).toContain('worker 2 has ended (7)');
    expect(printed).toContain('this version is broken');
    expect(readlinkSync(current)).toBe('earlier');
    // Of each visitor, at most the visit that the process had.
    expect(visitors.failures.length).toBeLessThanOrEqual(2);
    expect(admin).toMatchObject({ failures: [], decreases: [] });
    await group.settled();
    const { value } = await samples(gateway.admin);
    expect(value('gateway_upgrades_total', { outcome: 'taken_back' })).toBe(1);

    // Mended, it holds, and it is what starts from then on.
    rmSync(fault);
    const held = await version.upgrade(env);
    expect(held).toEqual({ code: 0, printed: expect.stringContaining(`${current} leads to it.`) });
    expect(readlinkSync(current)).toBe(basename(version.directory));
  },
);
