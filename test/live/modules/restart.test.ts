// What edges and modules do after the gateway has been started anew, with the same data.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Owner, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import {
  backendOf,
  done,
  errorOf,
  labelled,
  newEdge,
  newRoute,
  sayOverTls,
  shown,
  startShowing,
  type TestEdge,
  visitEdge,
} from '../edges/support.ts';
import { credentialsOf, echoed, ipPolicy, passwordOf, signed } from './cases.ts';
import { Prober } from './prober.ts';

let place: Place;
let gateway: TestGateway;
let authtoken: string;
let edge: TestEdge;
/** As `edge`, with some modules off and some gone. */
let reduced: TestEdge;
let tls: TestEdge;
const labels = { app: 'everything' };
beforeAll(async () => {
  place = await newPlace();
  gateway = await startTestGateway({}, { place });
  ({ authtoken } = await newCredential(gateway));
  edge = await everything(gateway);
  reduced = await everything(gateway);
  await reduce(reduced);
  const ip_restriction = { ip_policy_ids: [await ipPolicy(gateway, { '127.0.0.0/30': 'allow' })] };
  const rules = [{ expressions: ["conn.client_ip == '127.0.0.2'"], actions: [{ type: 'deny' }] }];
  const traffic_policy = { value: JSON.stringify({ on_tcp_connect: rules }) };
  const modules = { tls_termination: { min_version: '1.3' }, ip_restriction, traffic_policy };
  tls = await newEdge(gateway, { kind: 'tls', labels, modules });
});
afterAll(async () => {
  await gateway?.close();
  await place?.remove();
});

/** An edge with every module on one of its routes. */
async function everything(owner: Owner): Promise<TestEdge> {
  const policy = {
    on_http_request: [
      { expressions: ["req.url.path == '/denied'"], actions: [{ type: 'deny', config: { status_code: 418 } }] },
    ],
    on_http_response: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-policy': 'yes' } } }] }],
  };
  const made = await newEdge(owner, {
    labels,
    modules: {
      ip_restriction: { ip_policy_ids: [await ipPolicy(owner, { '127.0.0.1/32': 'allow' })] },
      user_agent_filter: { deny: ['^curl'] },
      basic_auth: credentialsOf('one'),
      webhook_verification: { provider: 'github', secret: 'secret one' },
      traffic_policy: { value: JSON.stringify(policy) },
      compression: {},
      request_headers: { add: { 'x-in': 'yes' } },
      response_headers: { add: { 'x-out': 'yes' } },
      circuit_breaker: { volume_threshold: 2, error_threshold_percentage: 0.5, tripped_duration: 60 },
    },
  });
  const backend = await backendOf(owner, labels);
  const legacy = { inbound: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-legacy': 'yes' } } }] }] };
  await newRoute(owner, made, { match: '/legacy', backend, policy: legacy });
  await newRoute(owner, made, {
    match: '/socket',
    backend,
    websocket_tcp_converter: {},
    basic_auth: credentialsOf('two'),
  });
  return made;
}

/** Visits in all the ways that tell whether each module acts. */
async function allAct(): Promise<void> {
  const upstream = await startShowing();
  await labelled(await sdkSession(gateway, authtoken), labels, upstream.url);
  const visitor = new Prober(gateway, edge);
  const { headers: signature, ...webhook } = signed('secret one');
  const [browser, password] = [{ 'user-agent': 'a browser' }, passwordOf('one')];
  const refused = [
    { from: '127.0.0.2', headers: browser },
    { headers: { 'user-agent': 'curl/8' } },
    { headers: { ...browser, ...passwordOf('two') } },
    { headers: { ...browser, ...password } },
  ];
  expect(await visitor.fates(refused.map((options) => ({ ...webhook, ...options })))).toEqual([3205, 3211, 3212, 3204]);
  const headers = { ...browser, ...password, ...signature };
  expect((await visitor.visit('/denied', { ...webhook, headers })).status).toBe(418);
  expect(upstream.requests).toBe(0);

  const zipped = await visitor.visit('/', { ...webhook, headers: { ...headers, 'accept-encoding': 'gzip' } });
  expect(zipped).toMatchObject({
    status: 200,
    headers: { 'content-encoding': 'gzip', 'x-out': 'yes', 'x-policy': 'yes' },
  });
  const legacy = shown(await visitor.visit('/legacy'));
  expect(legacy.headers).toMatchObject({ 'x-legacy': 'yes' });
  const failing = await visitor.visit('/status/500', { ...webhook, headers });
  expect(shown(failing).headers).toMatchObject({ 'x-in': 'yes' });
  expect(errorOf(await visitor.visit('/', { ...webhook, headers }))).toBe(3202);
  expect(await echoed(gateway, edge, '/socket')).toBe(401);
  expect(await echoed(gateway, edge, '/socket', passwordOf('two'))).toBe('echo');
  const said = ['127.0.0.1', '127.0.0.2', '127.0.0.9'].map((from) => sayOverTls(gateway, tls, from));
  const closed = expect.stringMatching(/^closed/);
  expect(await Promise.all(said)).toEqual(['hello over TLSv1.3', closed, closed]);
  expect(await sayOverTls(gateway, tls, undefined, { maxVersion: 'TLSv1.2' })).toEqual(closed);
}

async function reduce({ host }: TestEdge): Promise<void> {
  for (const module of ['user_agent_filter', 'ip_restriction'])
    await done(gateway, 'PATCH', host, { [module]: { ...(await settingsOf(host, module)), enabled: false } });
  for (const module of ['basic_auth', 'webhook_verification', 'circuit_breaker', 'compression'])
    await done(gateway, 'DELETE', `${host}/${module}`);
}

async function settingsOf(host: string, module: string): Promise<object> {
  const { ip_policies: policies, ...settings } = await done(gateway, 'GET', `${host}/${module}`);
  return policies ? { ip_policy_ids: policies.map(({ id }: { id: string }) => id) } : settings;
}

test('all modules together act, and after a restart they still do; what was off stays off, and what was gone stays gone', async () => {
  await allAct();
  const listed = async () => (await done(gateway, 'GET', '/endpoints')).endpoints.map(({ id }: { id: string }) => id);
  const [before] = [await listed()];
  await gateway.close();
  gateway = await startTestGateway({}, { place });
  expect(errorOf(await visitEdge(gateway, edge, '/legacy'))).toBe(6528);
  expect(await listed()).toEqual(before);
  // The breaker's state is of the process: it begins anew.
  await allAct();
  const headers = { 'user-agent': 'curl/8', 'accept-encoding': 'gzip' };
  const answer = await visitEdge(gateway, reduced, '/', { from: '127.0.0.2', headers });
  expect(answer).toMatchObject({ status: 200, headers: { 'x-out': 'yes', 'x-policy': 'yes' } });
  expect(answer.headers['content-encoding']).toBeUndefined();
});
