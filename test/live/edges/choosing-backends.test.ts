// Weighted and failover backends, and fixed responses: what the API says of them is what the next visit meets.

import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, type TestCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import {
  backendOf,
  done,
  errorOf,
  labelled,
  newEdge,
  newName,
  newRoute,
  sayOverTls,
  shown,
  startShowing,
  visitEdge,
} from './support.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

/** A tunnel group, with an agent behind it once it is started. */
async function group(name: string) {
  const labels = { app: newName(name) };
  const { backend_id: id } = await backendOf(account, labels);
  const upstream = await startShowing(name);
  return {
    id,
    upstream,
    async start() {
      const agent = await sdkSession(gateway, credential.authtoken);
      return labelled(agent, labels, upstream.url);
    },
  };
}

const make = async (kind: string, body: object): Promise<string> =>
  (await done(account, 'POST', `/backends/${kind}`, body)).id;

async function edgeOf(backendId: string, modules: object = {}) {
  const edge = await newEdge(account);
  const host = await newRoute(account, edge, { match: '/', backend: { backend_id: backendId }, ...modules });
  return { ...edge, host };
}

const who = async (edge: { name: string }) => {
  const answer = await visitEdge(gateway, edge);
  if (errorOf(answer) !== undefined) return errorOf(answer);
  return answer.headers['content-type'] === 'application/json' ? shown(answer).upstream : answer.body;
};

describe('weights', () => {
  test('share visits out three to one, and change with the next visit', async () => {
    const [a, b] = [await group('a'), await group('b')];
    await Promise.all([a.start(), b.start()]);
    const id = await make('weighted', { backends: { [a.id]: 3, [b.id]: 1 } });
    const edge = await edgeOf(id);
    for (let i = 0; i < 120; i++) await who(edge);
    expect(a.upstream.requests + b.upstream.requests).toBe(120);
    // 90, give or take 4.7: more than seven times that happens once in 10^10 runs.
    expect(a.upstream.requests).toBeGreaterThan(55);
    expect(a.upstream.requests).toBeLessThan(120);
    await done(account, 'PATCH', `/backends/weighted/${id}`, { backends: { [a.id]: 0, [b.id]: 1 } });
    expect(await Promise.all(Array.from({ length: 20 }, () => who(edge)))).toEqual(Array(20).fill('b'));
  });

  test('of 0 get nothing, even where nothing else is online', async () => {
    const [a, b] = [await group('a'), await group('b')];
    await a.start();
    expect(await who(await edgeOf(await make('weighted', { backends: { [a.id]: 0, [b.id]: 10_000 } })))).toBe(6528);
  });
});

describe('failover', () => {
  test('goes to the next when the agent of the first stops, and back when it returns', async () => {
    const [first, second] = [await group('first'), await group('second')];
    const sorry = await make('http_response', { status_code: 503, body: 'closed', headers: { 'Retry-After': '60' } });
    const spare = await make('weighted', { backends: { [second.id]: 1 } });
    const edge = await edgeOf(await make('failover', { backends: [first.id, spare, sorry] }));
    expect(await who(edge)).toBe('closed');
    const [one, two] = [await first.start(), await second.start()];
    expect(await who(edge)).toBe('first');
    await one.close();
    expect(await who(edge)).toBe('second');
    await two.close();
    expect(await who(edge)).toBe('closed');
    await first.start();
    expect(await who(edge)).toBe('first');
  });

  test('follows its order, and what it leads to, with the next visit', async () => {
    const [a, b] = [await group('a'), await group('b')];
    await Promise.all([a.start(), b.start()]);
    const inner = await make('failover', { backends: [a.id] });
    const outer = await make('failover', { backends: [inner, b.id] });
    const edge = await edgeOf(outer);
    expect(await who(edge)).toBe('a');
    await done(account, 'PATCH', `/backends/failover/${inner}`, { backends: [b.id] });
    expect(await who(edge)).toBe('b');
    await done(account, 'PATCH', `/backends/tunnel_group/${b.id}`, { labels: { app: newName('nobody') } });
    expect(await who(edge)).toBe(6528);
    await done(account, 'PATCH', `/backends/failover/${outer}`, { backends: [b.id, a.id] });
    expect(await who(edge)).toBe('a');
  });

  test('sends connections of a TLS edge to the first that is online', async () => {
    const [first, second] = [await group('first'), await group('second')];
    const id = await make('failover', { backends: [first.id, second.id] });
    const edge = await newEdge(account, { kind: 'tls', modules: { tls_termination: {} } });
    await done(account, 'PUT', `${edge.at}/backend`, { backend_id: id });
    expect(await sayOverTls(gateway, edge)).toMatch('closed');
    await second.start();
    expect(await sayOverTls(gateway, edge)).toMatch('hello');
  });
});

describe('a fixed response', () => {
  test('is given without an agent, through the modules of its route, and changes with the next visit', async () => {
    const id = await make('http_response', { status_code: 418, body: 'no coffee', headers: { 'x-pot': 'tea' } });
    const edge = await edgeOf(id, { response_headers: { add: { 'x-site': 'berlin' } } });
    expect(await visitEdge(gateway, edge)).toMatchObject({
      ...{ status: 418, body: 'no coffee' },
      headers: {
        'x-pot': 'tea',
        'x-site': 'berlin',
        'content-type': 'text/plain; charset=utf-8',
        'content-length': '9',
      },
    });
    expect(await visitEdge(gateway, edge, '/', { method: 'HEAD' })).toMatchObject({ status: 418, body: '' });
    await done(account, 'PATCH', `/backends/http_response/${id}`, { status_code: 204, body: '', headers: {} });
    const { status, headers } = await visitEdge(gateway, edge);
    expect([status, headers['x-pot'], headers['content-type']]).toEqual([204, undefined, undefined]);
  });

  test('answers HTTP only: edges of whole connections refuse it, and whatever leads to it', async () => {
    const a = await group('a');
    const sorry = await make('http_response', { body: 'closed' });
    const outer = await make('failover', { backends: [sorry] });
    const edge = await newEdge(account, { kind: 'tls' });
    for (const backend_id of [sorry, outer])
      expect((await account.call('PUT', `${edge.at}/backend`, { backend_id })).body).toMatchObject({
        error_code: 'ERR_GATEWAY_90666',
      });
    await done(account, 'PATCH', `/backends/failover/${outer}`, { backends: [a.id] });
    await done(account, 'PUT', `${edge.at}/backend`, { backend_id: outer });
    const refused = await account.call('PATCH', `/backends/failover/${outer}`, { backends: [a.id, sorry] });
    expect(refused.body).toMatchObject({ error_code: 'ERR_GATEWAY_90665' });
    expect((await done(account, 'GET', `/backends/failover/${outer}`)).backends).toEqual([a.id]);
  });
});
