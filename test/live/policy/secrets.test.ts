// A password in a traffic policy is for visitors: nobody reads it, wherever the policy is shown, and the database has it sealed.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyRow } from '../../accounts/sample-resources.ts';
import { type Waiting, waiting } from '../../events/waiting.ts';
import { type Subscription, subscribe } from '../../support/gateway/sse.ts';
import { newRoute, type PolicyLab, startPolicyLab } from './lab.ts';
import { as, rules, shownRules } from './secrets-lab.ts';

const HOST = 'secrets.tunnel.localhost';
const TUNNEL = 'secrets-tunnel.tunnel.localhost';
const CANARY = 'canary-7f3a9c2e51d04b86';
const WATCH = `subscription {
  httpsEdgeRouteChanged { action httpsEdgeRoute { trafficPolicy { value } policy { inbound } } }
}`;

let lab: PolicyLab;
let route: string;
let events: Waiting;
let stream: Subscription;
beforeAll(async () => {
  lab = await startPolicyLab();
  route = await newRoute(lab, HOST);
  events = await waiting(lab.gateway, lab.account);
  stream = await subscribe(lab.gateway.api, lab.account.key, WATCH);
  const answer = await lab.account.call('PUT', `${route}/traffic_policy`, { value: rules(CANARY) });
  expect(answer.body, answer.text).toEqual({ enabled: true, value: shownRules() });
});
afterAll(async () => {
  stream?.close();
  await lab?.close();
});

const inbound = [
  {
    name: 'people',
    expressions: [],
    actions: [
      { type: 'basic-auth', config: { realm: 'printers', credentials: ['night:<secret>', 'office:<secret>'] } },
    ],
  },
];

test('its visitor is let in, and nobody else', async () => {
  const url = `https://${HOST}/`;
  expect(await lab.visit(url, as('office', CANARY))).toMatchObject({ status: 502 }); // There is no backend.
  expect(await lab.visit(url, as('night', 'battery staple'))).toMatchObject({ status: 502 });
  expect(await lab.visit(url, as('office', '<secret>'))).toMatchObject({ status: 401 });
  expect(await lab.visit(url)).toMatchObject({ status: 401 });
});

test('every answer shows the mask in its place, to whoever asks', async () => {
  const { account } = lab;
  const bot = await account.addOwner({ kind: 'BOT' });
  for (const { call, graphql } of [account, bot]) {
    const [edge = '', id = ''] = route.split('/').filter((part) => part.includes('_'));
    expect((await call('GET', `${route}/traffic_policy`)).body.value).toBe(shownRules());
    expect((await call('GET', `${route}/policy`)).body).toEqual({ enabled: true, inbound, outbound: [] });
    const whole = await call('GET', route);
    expect(whole.body).toMatchObject({ traffic_policy: { value: shownRules() }, policy: { inbound } });
    const ofEdge = await call('GET', `/edges/https/${edge}`);
    expect(ofEdge.text).toContain('night:<secret>');
    const asked = await graphql(
      `query ($id: ID!) { node(id: $id) { ... on HttpsEdgeRoute { trafficPolicy { value } policy { inbound } } } }`,
      { id },
    );
    expect(asked.body.data.node).toEqual({ trafficPolicy: { value: shownRules() }, policy: { inbound } });
    const found = await graphql('query ($text: String!) { search(text: $text) { kind objectId title detail } }', {
      text: CANARY,
    });
    expect(found.body.data.search).toEqual([]);
    for (const { text } of [whole, ofEdge, asked]) expect(text).not.toContain(CANARY);
  }
});

test('events and subscriptions tell the mask', async () => {
  const told = await events.events('https_edge_route_updated.v0');
  expect(told[0]?.object.traffic_policy).toEqual({ enabled: true, value: shownRules() });
  expect(JSON.stringify(await events.batches())).not.toContain(CANARY);
  const { httpsEdgeRoute } = (await stream.next()).data.httpsEdgeRouteChanged;
  expect(httpsEdgeRoute).toEqual({ trafficPolicy: { value: shownRules() }, policy: { inbound } });
});

test('no row of the database has it, nor a line of the log', async () => {
  const { account, gateway } = lab;
  const create = { match_type: 'exact_path', match: '/once', traffic_policy: { value: rules(CANARY) } };
  const headers = { 'idempotency-key': 'a policy' };
  const routes = route.replace(/\/[^/]*$/, '');
  for (let round = 0; round < 2; round++) {
    const { status, body } = await account.call('POST', routes, create, { headers });
    expect([status, body.traffic_policy.value]).toEqual([201, shownRules()]);
  }
  const all = await everyRow(gateway);
  expect(all.filter((row) => row.includes('night:<secret>')).length).toBeGreaterThan(1);
  expect(all.filter((row) => row.includes(CANARY) || row.includes('battery staple'))).toEqual([]);
  expect(gateway.logs.filter((line) => line.includes(CANARY))).toEqual([]);
});

test('that of a tunnel is in no list of tunnels, endpoints and sessions, and in no row', async () => {
  const { account, gateway } = lab;
  await lab.tunnel('https', TUNNEL, rules(CANARY));
  const url = `https://${TUNNEL}/`;
  expect(await lab.visit(url, as('office', CANARY))).toMatchObject({ status: 200 });
  expect(await lab.visit(url, as('office', '<secret>'))).toMatchObject({ status: 401 });
  for (const path of ['/tunnels', '/endpoints', '/tunnel_sessions']) {
    const { text } = await account.call('GET', path);
    expect(text.length).toBeGreaterThan(200);
    expect(text).not.toContain(CANARY);
  }
  expect((await everyRow(gateway)).filter((row) => row.includes(CANARY))).toEqual([]);
});
