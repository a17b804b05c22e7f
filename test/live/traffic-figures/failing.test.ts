// Endpoints that answer their visitors with errors: they are seen failing, and seen recovering.

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { httpName } from '../../support/agents/sdk.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { visit } from '../../support/visit.ts';
import { newName } from '../edges/support.ts';
import { account, ask, clock, endpointIdOf, gateway, openSdk, startService, useGateway } from './lab.ts';

useGateway({ FAILING_MIN_REQUESTS: '4', FAILING_SHARE: '0.5' });

const HEALTH = 'health { state since errorShare requests }';
const COUNTS =
  'endpointCounts { live failing offline } failingEndpoints { id } allEndpoints(where: { health: { eq: FAILING } }) { nodes { id } }';
const at = () => new Date(clock.bucket).toISOString();

let status = 200;
let name: string;
let id: string;
beforeAll(async () => {
  name = newName('failing');
});

const visits = async (count: number, answer: number) => {
  status = answer;
  for (let i = 0; i < count; i++) expect((await visit(`http://${name}/`, gateway.http)).status).toBe(answer);
};
const healthOf = async () =>
  (await ask(`query ($id: ID!) { endpoint(id: $id) { ${HEALTH} } }`, { id })).endpoint.health;

test('an endpoint fails from the share on, tells it live, and recovers below half of it', async () => {
  const url = await startService((_, response) => void response.writeHead(status).end());
  await httpName(await openSdk(), name).listenAndForward(url);
  id = await endpointIdOf(name);
  const stream = await subscribe(gateway.api, account.key, 'subscription { endpointChanged { action objectId } }');
  onTestFinished(() => stream.close());

  // Too few to tell.
  await visits(3, 500);
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ state: 'LIVE', errorShare: 1, requests: 3 });

  // With the fourth request there are enough: three of four have failed in the last minute.
  await visits(1, 200);
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ requests: 4 });
  clock.pass(1);
  const since = at();
  await expect.poll(healthOf).toEqual({ state: 'FAILING', since, errorShare: 0.75, requests: 4 });
  expect(await stream.next()).toMatchObject({ data: { endpointChanged: { action: 'UPDATED', objectId: id } } });
  expect(await ask(`{ ${COUNTS} }`)).toEqual({
    endpointCounts: { live: 0, failing: 1, offline: 0 },
    failingEndpoints: [{ id }],
    allEndpoints: { nodes: [{ id }] },
  });

  // A quarter is less than the share, and not less than half of it: it fails still, and since then.
  await visits(4, 200);
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ requests: 8 });
  await visits(4, 204);
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ requests: 12, errorShare: 0.25 });
  clock.pass(1);
  const lookedAt = async () => (await gateway.app.prisma.endpointHealth.findFirst())?.visitedAt.getTime();
  await expect.poll(lookedAt).toBe(clock.bucket);
  expect(await healthOf()).toMatchObject({ state: 'FAILING', since });

  // The requests that failed are longer ago than a minute.
  clock.pass(1);
  await expect.poll(healthOf).toEqual({ state: 'LIVE', since: at(), errorShare: 0, requests: 9 });
  expect(await stream.next()).toMatchObject({ data: { endpointChanged: { action: 'UPDATED', objectId: id } } });
  expect(await ask(`{ ${COUNTS} }`)).toMatchObject({ endpointCounts: { live: 1, failing: 0 }, failingEndpoints: [] });
});

test('an endpoint that nobody asks any more does not count as failing for ever', async () => {
  const url = await startService((_, response) => void response.writeHead(status).end());
  name = newName('failing');
  await httpName(await openSdk(), name).listenAndForward(url);
  id = await endpointIdOf(name);
  await visits(4, 503);
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ requests: 4 });
  clock.pass(1);
  await expect.poll(healthOf).toMatchObject({ state: 'FAILING' });
  clock.pass(20);
  expect(await healthOf()).toMatchObject({ state: 'FAILING', requests: 0, errorShare: null });
  clock.pass(45);
  await expect.poll(healthOf).toMatchObject({ state: 'LIVE', since: at() });
});
