// Cloud endpoints: names that a traffic policy answers in the gateway, without an agent.

import { beforeAll, describe, expect, test } from 'vitest';
import { newCredential, reserve, type TestCredential } from '../../support/agents/live.ts';
import { type SdkSession, sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import { done, errorOf, http2Visitor, newName, shown, startShowing, visitEdge } from './support.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

const session = (): Promise<SdkSession> => sdkSession(gateway, credential.authtoken);

/** A policy that does these actions to each request. */
const onRequest = (...actions: object[]) => JSON.stringify({ on_http_request: [{ actions }] });
const answer = (body: string) =>
  onRequest({ type: 'custom-response', config: { status_code: 200, body, headers: { 'content-type': 'text/plain' } } });

async function newCloud(policy?: string, more: object = {}) {
  const name = newName('cloud');
  await reserve(account, name);
  const body = { url: `https://${name}`, type: 'cloud', traffic_policy: policy, ...more };
  const endpoint = await done(account, 'POST', '/cloud_endpoints', body);
  return { name, endpoint, at: `/cloud_endpoints/${endpoint.id}` };
}

const look = (name: string, path?: string) => visitEdge(gateway, { name }, path);

describe('a cloud endpoint', () => {
  test('answers by its policy from the request after its creation on, until it is deleted', async () => {
    const { name, at } = await newCloud(answer('one'));
    expect(await look(name)).toMatchObject({ status: 200, body: 'one' });
    const over2 = await http2Visitor(gateway, { name });
    expect(String((await over2()).body)).toBe('one');
    await done(account, 'PATCH', at, { traffic_policy: answer('two') });
    expect(await look(name)).toMatchObject({ status: 200, body: 'two' });
    await done(account, 'DELETE', at);
    expect((await look(name)).status).toBeGreaterThanOrEqual(404);
    expect((await account.call('GET', at)).status).toBe(404);
  });

  test('is listed as what it is, with what newer clients read of it', async () => {
    const policy = answer('shown');
    const { name, endpoint, at } = await newCloud(policy, {
      name: 'door',
      description: 'a door',
      metadata: 'm',
      bindings: ['public'],
    });
    expect(endpoint).toMatchObject({
      ...{ type: 'cloud', proto: 'https', hostport: `${name}:443`, pooling_enabled: false },
      ...{ name: 'door', description: 'a door', metadata: 'm', traffic_policy: policy, bindings: ['public'] },
      domain: { id: expect.stringMatching(/^rd_/) },
    });
    const path = `/endpoints?${new URLSearchParams({ filter: 'type == "cloud"' })}`;
    const { body } = await account.call('GET', path, undefined, { dialect: 'extended' });
    const { uri, ...shared } = endpoint;
    expect(body.endpoints).toContainEqual(
      expect.objectContaining({
        ...{ ...shared, scheme: 'https', host: name, tunnel: null, edge: null, tunnel_session: null },
        ...{ principal: null, upstream_url: '', upstream_protocol: '' },
      }),
    );
    const changed = await done(account, 'PATCH', at, { url: endpoint.url, name: 'gate', description: 'another' });
    expect(changed).toEqual({ ...endpoint, name: 'gate', description: 'another', updated_at: changed.updated_at });
    expect(await done(account, 'GET', at)).toEqual(changed);
  });

  test.each([
    ['without a policy', undefined],
    [
      'whose rules do not match',
      JSON.stringify({ on_http_request: [{ expressions: ['false'], actions: [{ type: 'deny' }] }] }),
    ],
  ])('%s says that nothing answers', async (_, policy) => {
    const { name } = await newCloud(policy);
    const visited = await look(name);
    expect([visited.status, errorOf(visited)]).toEqual([404, 90_139]);
  });

  test('redirects, denies, and redirects plain HTTP to HTTPS', async () => {
    const moved = await newCloud(onRequest({ type: 'redirect', config: { to: 'https://elsewhere.example/' } }));
    expect((await look(moved.name)).headers.location).toBe('https://elsewhere.example/');
    const denied = await newCloud(onRequest({ type: 'deny', config: { status_code: 403 } }));
    expect((await look(denied.name)).status).toBe(403);
    expect(await visit(`http://${denied.name}/a`, gateway.http)).toMatchObject({
      status: 307,
      headers: { location: expect.stringMatching(new RegExp(`^https://${denied.name}(:\\d+)?/a$`)) },
    });
  });

  test('forwards to an internal endpoint of its account, and of no other', async () => {
    const upstream = await startShowing('inner');
    const inner = `${newName('inner').split('.')[0]}.internal`;
    const agent = await session();
    const listener = await agent.httpEndpoint().domain(inner).listenAndForward(upstream.url);
    const url = listener.url() ?? '';
    const { name } = await newCloud(onRequest({ type: 'forward-internal', config: { url } }));
    expect(shown(await look(name, '/path?a=b'))).toMatchObject({ upstream: 'inner', url: '/path?a=b' });
    const other = await gateway.newAccount();
    const theirs = newName('theirs');
    await reserve(other, theirs);
    const policy = onRequest({ type: 'forward-internal', config: { url } });
    await done(other, 'POST', '/cloud_endpoints', { url: `https://${theirs}`, traffic_policy: policy });
    const visited = await look(theirs);
    expect([visited.status, errorOf(visited)]).toEqual([502, 90_132]);
  });

  test('keeps the secrets of its policy to itself, also where masks are sent back', async () => {
    const secret = 'hidden and long';
    const guarded = (body: string, password = secret) =>
      onRequest(
        { type: 'basic-auth', config: { credentials: [`user:${password}`] } },
        { type: 'custom-response', config: { status_code: 200, body } },
      );
    const { name, endpoint, at } = await newCloud(guarded('in'));
    expect(JSON.stringify(endpoint)).not.toContain(secret);
    expect(endpoint.traffic_policy).toContain('<secret>');
    const headers = { authorization: `Basic ${Buffer.from(`user:${secret}`).toString('base64')}` };
    const withPassword = () => visitEdge(gateway, { name }, '/', { headers });
    expect((await look(name)).status).toBe(401);
    expect(await withPassword()).toMatchObject({ status: 200, body: 'in' });
    await done(account, 'PATCH', at, { traffic_policy: endpoint.traffic_policy.replace('"in"', '"still in"') });
    expect(await withPassword()).toMatchObject({ status: 200, body: 'still in' });
    const row = await gateway.app.prisma.edge.findFirstOrThrow({ where: { endpoints: { some: { id: endpoint.id } } } });
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  test('and an agent or an edge never have a name at once', async () => {
    const { name, at } = await newCloud(answer('cloud'));
    const agent = await session();
    const tunnel = () => agent.httpEndpoint().domain(name).listenAndForward('http://127.0.0.1:1');
    await expect(tunnel()).rejects.toThrow(/belongs to an edge or a cloud endpoint/);
    const edge = await account.call('POST', '/edges/https', { hostports: [`${name}:443`] });
    expect(edge).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_7122$/) } });
    await done(account, 'DELETE', at);
    await tunnel();
    const cloud = await account.call('POST', '/cloud_endpoints', { url: `https://${name}` });
    expect(cloud).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_18017$/) } });
  });

  test('moves to another URL, and keeps its domain from being given up', async () => {
    const { name, endpoint, at } = await newCloud(answer('moving'));
    const next = newName('cloud');
    const domain = await reserve(account, next);
    expect(await done(account, 'PATCH', at, { url: `https://${next}` })).toMatchObject({
      id: endpoint.id,
      hostport: `${next}:443`,
    });
    expect(await look(next)).toMatchObject({ status: 200, body: 'moving' });
    expect((await look(name)).status).not.toBe(200);
    const refused = await account.call('DELETE', `/reserved_domains/${domain}`);
    expect(refused).toMatchObject({ status: 409, body: { error_code: expect.stringMatching(/_446$/) } });
  });

  test('is the only kind of endpoint that is changed and deleted', async () => {
    const agent = await session();
    const name = newName('agent');
    await agent.httpEndpoint().domain(name).listenAndForward('http://127.0.0.1:1');
    const { endpoints } = await done(account, 'GET', '/endpoints');
    const { id } = endpoints.find(({ hostport }: { hostport: string }) => hostport.startsWith(`${name}:`));
    for (const [method, body] of [
      ['PATCH', { description: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect(await account.call(method, `/cloud_endpoints/${id}`, body)).toMatchObject({
        status: 409,
        body: { error_code: expect.stringMatching(/_90395$/) },
      });
  });

  test('has a history in the audit trail', async () => {
    const { endpoint, at } = await newCloud(answer('told'));
    await done(account, 'PATCH', at, { traffic_policy: answer('told more') });
    await done(account, 'DELETE', at);
    const query = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action kind } } }';
    const { body } = await account.graphql(query, { id: endpoint.id });
    expect(body.data?.objectHistory.nodes, JSON.stringify(body.errors)).toEqual([
      { action: 'DELETED', kind: 'endpoint' },
      { action: 'UPDATED', kind: 'endpoint' },
      { action: 'CREATED', kind: 'endpoint' },
    ]);
  });
});
