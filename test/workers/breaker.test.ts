// The circuit breaker of a route counts what comes to all workers of a machine.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { type ProcessGroup, startProcessGroup } from './support.ts';

const WORKERS = [0, 1, 2, 3];
/** Of each worker: of none, nor of three, it is the volume. */
const FAILURES = 3;

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup({ WORKERS: String(WORKERS.length) });
});
afterAll(() => group?.close());

test('a breaker trips at its volume, though no worker of four has seen so many failures', async () => {
  let asked = 0;
  const port = await service((_, response) => {
    asked++;
    response.writeHead(500).end();
  });
  const volume = WORKERS.length * FAILURES;
  const config = { volume_threshold: volume, window_duration: '2m', tripped_duration: '2m' };
  const policy = { on_http_request: [{ actions: [{ type: 'circuit-breaker', config }] }] };
  const url = await serve(await group.agentAt(0), port, { policy });
  const agents: unknown[] = [];
  for (const worker of WORKERS) agents.push(await group.connectionAt(worker));
  const ask = async (worker: number) =>
    (await visit(url, group.gateway.http, { agent: agents[worker] as never })).status;
  for (let i = 0; i < FAILURES; i++) for (const worker of WORKERS) expect(await ask(worker)).toBe(500);
  // The last were told of a moment later; those that come until then are as many as one asks for.
  for (const worker of WORKERS) await eventually(async () => expect(await ask(worker)).toBe(503));
  expect(asked).toBeLessThan(2 * volume);
});
