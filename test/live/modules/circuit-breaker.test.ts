// The circuit breaker of a route, through sockets, with its state as the API shows it.

import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import {
  backendOf,
  done,
  errorOf,
  http2Visitor,
  labelled,
  newEdge,
  newName,
  newRoute,
  startShowing,
  visitEdge,
} from '../edges/support.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

const SETTINGS = { volume_threshold: 4, error_threshold_percentage: 0.5, rolling_window: 60, tripped_duration: 60 };

async function guarded(more: object = {}) {
  const labels = { app: newName() };
  const upstream = await startShowing();
  const session = await sdkSession(gateway, authtoken);
  const listener = await labelled(session, labels, upstream.url);
  const edge = await newEdge(account, { labels, modules: { circuit_breaker: { ...SETTINGS, ...more } } });
  const get = (path = '/') => visitEdge(gateway, edge, path);
  const state = async () => {
    const fields = 'state requests failures retryIn';
    const query = `{ httpsEdgeRoute(edgeId: "${edge.id}", id: "${edge.hostId}") { circuitBreakerState { ${fields} } } }`;
    return (await account.graphql(query)).body.data.httpsEdgeRoute.circuitBreakerState;
  };
  return { edge, upstream, session, listener, labels, get, state };
}

test('it trips, leaves upstream alone, tries one request, and closes when that succeeds', async () => {
  const { upstream, get, state } = await guarded({ tripped_duration: 1 });
  expect(await state()).toEqual({ state: 'CLOSED', requests: 0, failures: 0, retryIn: null });
  for (const path of ['/', '/status/404', '/status/500']) await get(path);
  expect(await state()).toEqual({ state: 'CLOSED', requests: 3, failures: 1, retryIn: null });
  await get('/status/503');
  expect(await state()).toMatchObject({ state: 'OPEN', requests: 4, failures: 2 });
  const refused = await get();
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect([errorOf(refused), upstream.requests]).toEqual([3202, 4]);
  expect((await state()).retryIn).toBeLessThanOrEqual(1);

  // A trial that fails opens it again; nothing says when it is due but the breaker itself.
  const due = () => expect.poll(async () => (await state()).retryIn, { timeout: 3000, interval: 20 }).toBe(0);
  await due();
  expect((await get('/status/500')).status).toBe(500);
  expect([errorOf(await get()), upstream.requests]).toEqual([3202, 5]);
  await due();
  const trial = get('/held');
  await expect.poll(() => upstream.release.length, { interval: 5 }).toBe(1);
  expect((await state()).state).toBe('PROBING');
  expect([errorOf(await get()), upstream.requests]).toEqual([3202, 6]);
  upstream.release[0]?.();
  expect((await trial).status).toBe(200);
  expect(await state()).toEqual({ state: 'CLOSED', requests: 0, failures: 0, retryIn: null });
  expect([(await get()).status, upstream.requests]).toEqual([200, 7]);
});

test('what is open stays so when another route, or what does not concern it, is changed', async () => {
  const { edge, upstream, get, state, labels } = await guarded();
  for (let i = 0; i < 4; i++) await get('/status/500');
  const other = await newRoute(account, edge, { match: '/other', backend: await backendOf(account, labels) });
  await done(account, 'PUT', `${other}/response_headers`, { add: { 'x-other': 'yes' } });
  await done(account, 'PATCH', edge.host, { description: 'still failing' });
  await done(account, 'PUT', `${edge.host}/request_headers`, { add: { 'x-own': 'yes' } });
  await done(account, 'PATCH', edge.at, { metadata: 'new' });
  expect([errorOf(await get()), (await get('/other')).headers['x-other']]).toEqual([3202, 'yes']);
  expect(await state()).toMatchObject({ state: 'OPEN', requests: 4, failures: 4 });
  await done(account, 'DELETE', other);
  expect([errorOf(await get()), upstream.requests]).toEqual([3202, 5]);
});

test('other settings begin anew; off and unset there is no state', async () => {
  const { edge, get, state } = await guarded();
  for (let i = 0; i < 4; i++) await get('/status/500');
  expect(errorOf(await get())).toBe(3202);
  await done(account, 'PUT', `${edge.host}/circuit_breaker`, { ...SETTINGS, volume_threshold: 5 });
  expect([(await get()).status, (await state()).requests]).toEqual([200, 1]);
  await done(account, 'PUT', `${edge.host}/circuit_breaker`, { ...SETTINGS, enabled: false });
  expect(await state()).toBeNull();
  for (let i = 0; i < 4; i++) expect((await get('/status/500')).status).toBe(500);
  await done(account, 'DELETE', `${edge.host}/circuit_breaker`);
  expect(await state()).toBeNull();
  expect((await get()).status).toBe(200);
});

test('who gives no answer counts as a failure: no tunnel, and an upstream that cannot be reached', async () => {
  const { edge, session, listener, labels, get, state } = await guarded({ volume_threshold: 2 });
  const unreachable = await labelled(session, { ...labels, other: 'yes' }, 'http://127.0.0.1:1');
  const fates = [(await get()).status, (await get()).status];
  expect(fates.sort()).toEqual([200, 502]);
  expect(await state()).toMatchObject({ state: 'OPEN', requests: 2, failures: 1 });
  const byHttp2 = await http2Visitor(gateway, edge);
  expect(await byHttp2()).toMatchObject({ status: 503, headers: { 'gateway-error-code': 'ERR_GATEWAY_3202' } });
  await unreachable.close();
  await listener.close();
  await done(account, 'PUT', `${edge.host}/circuit_breaker`, { ...SETTINGS, volume_threshold: 1 });
  expect([errorOf(await get()), errorOf(await get())]).toEqual([6528, 3202]);
});
