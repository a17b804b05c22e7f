// The end of a gateway with workers: what is under way is finished, and nothing is left.

import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { type Visit, visit } from '../support/visit.ts';
import { CONTROL, type Family, runs, startFamily, WORKERS } from './support.ts';

/** Longer than a worker may take that has nothing to finish, and shorter than the longest drain. */
const DRAIN_MS = '20000';
const SOON_MS = 5000;

async function start(): Promise<Family> {
  const family = await startFamily({ DRAIN_MS });
  onTestFinished(() => family.close());
  return family;
}

/** Visits at both workers whose answers wait. @returns the visits, and what lets the answers go. */
async function underWay(family: Family): Promise<{ visits: Promise<Visit>[]; answer(): void }> {
  const responses: ServerResponse[] = [];
  const visits: Promise<Visit>[] = [];
  for (const worker of WORKERS) {
    const name = `held-${worker}.tunnel.localhost`;
    const port = await service((_, response) => {
      responses.push(response);
    });
    await serve(await family.agentAt(worker), port, { domain: name });
    visits.push(visit(`http://${name}/`, family.gateway.http, { agent: await family.connectionAt(worker) }));
    await eventually(() => expect(responses).toHaveLength(visits.length));
  }
  return { visits, answer: () => responses.forEach((response) => void response.end('finished')) };
}

const isRefused = (family: Family) =>
  visit('http://x.tunnel.localhost/', family.gateway.http).catch(({ code }) => code);

test('SIGTERM finishes what is under way, ends all processes, and leaves no socket; the next start is as any', async () => {
  const family = await start();
  const { gateway } = family;
  const pids = family.pids();
  expect(pids).toHaveLength(3);
  const { visits, answer } = await underWay(family);
  const ended = gateway.kill('SIGTERM');
  await eventually(async () => expect(await isRefused(family)).toBe('ECONNREFUSED'));
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
  const family = await start();
  const pids = family.pids();
  const { visits, answer } = await underWay(family);
  family.kill(CONTROL, 'SIGKILL');
  // The next control process has begun, and does not serve yet.
  await eventually(() => expect(pids).not.toContain(family.pid(CONTROL) ?? pids[0]));
  const ended = family.gateway.kill('SIGTERM');
  await eventually(async () => expect(await isRefused(family)).toBe('ECONNREFUSED'));
  answer();
  const began = performance.now();
  expect((await Promise.all(visits)).map(({ body }) => body)).toEqual(['finished', 'finished']);
  expect(await ended).toBe(0);
  expect(performance.now() - began).toBeLessThan(SOON_MS);
});

test('when the primary is killed, no process is left, and what is left in the directory does not disturb the next start', async () => {
  const family = await start();
  const { gateway } = family;
  const pids = family.pids();
  expect(await gateway.kill('SIGKILL')).toBe(null);
  await eventually(() => expect(pids.filter(runs)).toEqual([]));
  const next = await gateway.restart();
  onTestFinished(async () => void (await next.kill('SIGTERM')));
  expect((await next.call('GET', '/credentials')).status).toBe(200);
  await eventually(async () => {
    const { body } = await next.call('POST', '/graphql', { query: '{ gatewayInfo { nodes { id } } }' });
    expect(body.data.gatewayInfo.nodes).toHaveLength(3);
  });
  // Those of the control process, and of each process as a node.
  expect(readdirSync(join(gateway.place.dataDir, 'run'))).toHaveLength(1 + 1 + 3); // The primary, the control process, and three nodes.
});
