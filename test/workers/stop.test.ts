// The end of a gateway with workers: what is under way is finished, and nothing is left.

import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { type Visit, visit } from '../support/visit.ts';
import { CONTROL, type ProcessGroup, runs, startProcessGroup, WORKERS } from './support.ts';

/** Longer than a worker may take that has nothing to finish, and shorter than the longest drain. */
const DRAIN_MS = '20000';
const SOON_MS = 15_000;

async function start(): Promise<ProcessGroup> {
  const group = await startProcessGroup({ DRAIN_MS });
  onTestFinished(() => group.close());
  return group;
}

/** Visits at both workers whose answers wait. @returns the visits, and what lets the answers go. */
async function underWay(group: ProcessGroup): Promise<{ visits: Promise<Visit>[]; answer(): void }> {
  const responses: ServerResponse[] = [];
  const visits: Promise<Visit>[] = [];
  for (const worker of WORKERS) {
    const name = `held-${worker}.tunnel.localhost`;
    const port = await service((_, response) => {
      responses.push(response);
    });
    await serve(await group.agentAt(worker), port, { domain: name });
    visits.push(visit(`http://${name}/`, group.gateway.http, { agent: await group.connectionAt(worker) }));
    await eventually(() => expect(responses).toHaveLength(visits.length));
  }
  return { visits, answer: () => responses.forEach((response) => void response.end('finished')) };
}

const isRefused = (group: ProcessGroup) =>
  visit('http://x.tunnel.localhost/', group.gateway.http).catch(({ code }) => code);

test('SIGTERM finishes what is under way, ends all processes, and leaves no socket; the next start is like any other', async () => {
  const group = await start();
  const { gateway } = group;
  const pids = group.pids();
  expect(pids).toHaveLength(3);
  const { visits, answer } = await underWay(group);
  const ended = gateway.kill('SIGTERM');
  await eventually(async () => expect(await isRefused(group)).toBe('ECONNREFUSED'));
  answer();
  expect((await Promise.all(visits)).map(({ status, body }) => `${status} ${body}`)).toEqual([
    '200 finished',
    '200 finished',
  ]);
  expect(await ended).toBe(0);
  expect(pids.filter(runs)).toEqual([]);
  expect(readdirSync(join(gateway.place.dataDir, 'run'))).toEqual([]);
});

test('when the control process is away at SIGTERM, the workers finish what is under way, and end then', async () => {
  const group = await start();
  const pids = group.pids();
  const { visits, answer } = await underWay(group);
  group.kill(CONTROL, 'SIGKILL');
  // The next control process has begun, and does not serve yet.
  await eventually(() => expect(pids).not.toContain(group.pid(CONTROL) ?? pids[0]));
  const ended = group.gateway.kill('SIGTERM');
  await eventually(async () => expect(await isRefused(group)).toBe('ECONNREFUSED'));
  answer();
  const began = performance.now();
  expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(['finished', 'finished']);
  expect(await ended).toBe(0);
  expect(performance.now() - began).toBeLessThan(SOON_MS);
});

test('when the primary is killed, no process is left, and what is left in the directory does not disturb the next start', async () => {
  const group = await start();
  const { gateway } = group;
  const pids = group.pids();
  expect(await gateway.kill('SIGKILL')).toBe(null);
  await eventually(() => expect(pids.filter(runs)).toEqual([]));
  const next = await gateway.restart();
  onTestFinished(async () => void (await next.kill('SIGTERM')));
  expect((await next.call('GET', '/credentials')).status).toBe(200);
  await eventually(async () => {
    const { body } = await next.call('POST', '/graphql', { query: '{ gatewayInfo { nodes { nodeId } } }' });
    expect(body.data.gatewayInfo.nodes).toHaveLength(3);
  });
  // The primary, the control process, and three nodes. The primary listens last.
  await eventually(() => expect(readdirSync(join(gateway.place.dataDir, 'run'))).toHaveLength(1 + 1 + 3));
});
