// The circuit breaker of a route counts what comes to all workers of a machine.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/visit.ts';
import { type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';

/** Of each worker: of none it is the volume. */
const FAILURES = 5;

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup();
});
afterAll(() => group?.close());

test('a breaker trips at its volume, though no worker has seen so many failures', async () => {
  let asked = 0;
  const port = await service((_, response) => {
    asked++;
    response.writeHead(500).end();
  });
  const config = { volume_threshold: 2 * FAILURES, window_duration: '2m', tripped_duration: '2m' };
  const policy = { on_http_request: [{ actions: [{ type: 'circuit-breaker', config }] }] };
  const url = await serve(await group.agentAt(0), port, { policy });
  const agents = [await group.connectionAt(0), await group.connectionAt(1)];
  const ask = async (worker: number) =>
    (await visit(url, group.gateway.http, { agent: agents[worker] as never })).status;
  for (let i = 0; i < FAILURES; i++) for (const worker of WORKERS) expect(await ask(worker)).toBe(500);
  // The last were told of a moment later; those that come until then are as many as one asks for.
  for (const worker of WORKERS) await eventually(async () => expect(await ask(worker)).toBe(503));
  expect(asked).toBeLessThan(4 * FAILURES);
});
