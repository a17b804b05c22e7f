// Policies that an earlier version stored, secrets in clear, are sealed at the next start; a change of the server key seals
// them anew. Visitors notice neither.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { everyRow } from '../accounts/sample-resources.ts';
import { newRoute, visitOf } from '../live/policy/lab.ts';
import { as, rules, shownRules } from '../live/policy/secrets-lab.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');
const HOST = 'sealing.tunnel.localhost';
const CANARY = 'canary-90c1e7d2f5a34b68';
/** More than are sealed at once. */
const MANY = 120;

let place: Place;
let gateway: TestGateway;
let route: string;
beforeAll(async () => {
  place = await newPlace();
  gateway = await startTestGateway({ SERVER_KEY: OLD }, { place });
  route = await newRoute({ account: gateway as never }, HOST);
});
afterAll(async () => {
  await gateway?.close();
  await place?.remove();
});

async function restart(env: Record<string, string>): Promise<void> {
  await gateway.close();
  gateway = await startTestGateway(env, { place });
}

const routeId = () => route.split('/').at(-1) ?? '';
const plain = { enabled: true, value: rules(CANARY) };
const visit = async (password: string) => (await visitOf(gateway, `https://${HOST}/`, as('office', password)))?.status;
const canaries = async () => (await everyRow(gateway)).filter((row) => row.includes(CANARY)).length;

async function storedPolicy(id: string): Promise<unknown> {
  const { modules } = await gateway.app.prisma.route.findUniqueOrThrow({ where: { id } });
  return (modules as { trafficPolicy?: unknown }).trafficPolicy;
}

/** How many policies were sealed at the start. */
const sealed = () =>
  gateway.logs
    .filter((line) => line.includes('secrets of traffic policies encrypted'))
    .map((line) => JSON.parse(line).policies);

async function expectSealed(): Promise<void> {
  expect(await canaries()).toBe(0);
  // What an earlier version took for the policy is not there: it must not let visitors in by the mask.
  const trafficPolicy = await storedPolicy(routeId());
  expect(trafficPolicy).toEqual({ enabled: true, masked: expect.any(String), sealed: expect.any(String) });
  expect([await visit(CANARY), await visit('<secret>')]).toEqual([502, 401]); // There is no backend.
  expect((await gateway.call('GET', `${route}/traffic_policy`)).body.value).toBe(shownRules());
}

test('policies of an earlier version are sealed at the next start, all of them', async () => {
  const { prisma } = gateway.app;
  const { accountId } = gateway;
  const [, , , edgeId = ''] = route.split('/');
  await prisma.route.update({ where: { id: routeId() }, data: { modules: { trafficPolicy: plain } } });
  const common = { accountId, edgeId, matchType: 'EXACT_PATH' } as const;
  await prisma.route.createMany({
    data: Array.from({ length: MANY }, (_, i) => ({
      ...common,
      id: newId('edghtsrt'),
      match: `/${i}`,
      modules: { trafficPolicy: { ...plain, enabled: false } },
    })),
  });
  const ofConnections = `on_tcp_connect: [{ actions: [{ type: terminate-tls, config: { server_private_key: "${CANARY}" } }] }]`;
  const tls = {
    id: newId('edgtls'),
    accountId,
    kind: 'TLS',
    modules: { trafficPolicy: { enabled: false, value: ofConnections } },
  } as const;
  await prisma.edge.create({ data: tls });
  // As long as such a version writes beside this one, what it wrote is not shown either.
  expect((await gateway.call('GET', `${route}/traffic_policy`)).body.value).toBe(shownRules());
  expect(await canaries()).toBe(MANY + 2);

  await restart({ SERVER_KEY: OLD });
  await expectSealed();
  const shown = await gateway.call('GET', `/edges/tls/${tls.id}/traffic_policy`);
  expect(shown.body).toEqual({ enabled: false, value: ofConnections.replace(CANARY, '<secret>') });
  expect(sealed()).toEqual([MANY + 2]);
});

test('they are sealed once; a change of the server key seals them anew, and then the new key is enough', async () => {
  await restart({ SERVER_KEY: NEW, SERVER_KEY_PREVIOUS: OLD });
  expect(sealed()).toEqual([]);
  await expectSealed();
  await restart({ SERVER_KEY: NEW });
  await expectSealed();
  const again = await gateway.call('PUT', `${route}/traffic_policy`, { value: shownRules('others') });
  expect(again.status, again.text).toBe(200);
  expect([await visit(CANARY), await visit('<secret>')]).toEqual([502, 401]);
});

test('what is sealed opens with its own text only: with another, nobody is let in', async () => {
  const { prisma } = gateway.app;
  const id = routeId();
  const stored = (await storedPolicy(id)) as { masked: string };
  const masked = stored.masked.replace('- name: people', '- name: others');
  expect(masked).not.toBe(stored.masked);
  await prisma.route.update({ where: { id }, data: { modules: { trafficPolicy: { ...stored, masked } } } });
  expect((await gateway.call('PATCH', route, { description: 'read anew' })).status).toBe(200);
  expect([await visit(CANARY), await visit('<secret>')]).toEqual([500, 500]);
});
