// An edge made in one go: what is in the way of its name, what is created with it, and whether it is served.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentProcess, startAgent } from '../support/agents/agent.ts';
import { eventually } from '../support/eventually.ts';
import { answerOf } from '../support/gateway/answer.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newIssuer } from '../support/issuer.ts';

const PUBLISH = `mutation ($input: PublishEdgeInput!, $key: String) {
  publishEdge(input: $input, idempotencyKey: $key) { published { created edge { id uri } reservedDomain { id } backend { id uri } } }
}`;
const CHECK =
  'query ($host: String!) { checkEdgeName(host: $host) { host problem needsDns reservedDomain { domain } } }';
const TEST = `mutation ($id: ID!, $path: String) {
  testEdge(id: $id, path: $path) { test { ok host status errorCode reason durationMs } }
}`;

interface Published {
  created: string[];
  edge: { id: string; uri: string };
  reservedDomain: { id: string };
  backend: { id: string; uri: string };
}
interface Checked {
  host: string | null;
  problem: string | null;
}
interface Tested {
  reason: string | null;
  durationMs: number;
}

let gateway: TestGateway;
let account: Account;
let names = 0;
const newName = () => `published-${process.pid}-${names++}.tunnel.localhost`;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

async function run<T = Published>(query: string, variables = {}, as: Pick<Account, 'graphql'> = account): Promise<T> {
  const { body } = await as.graphql(query, variables);
  if (body.errors) throw Object.assign(new Error(body.errors[0].message), body.errors[0].extensions);
  return answerOf(query, body.data) as T;
}

const publish = (input: object, key?: string) =>
  run(PUBLISH, { input: { protocol: 'HTTPS', labels: { app: 'shop' }, ...input }, key });
const counts = async () => {
  const { body } = await account.graphql(`{
    reservedDomains { totalCount } tunnelGroupBackends { totalCount } httpsEdges { totalCount } tlsEdges { totalCount }
  }`);
  return Object.values(body.data).map((list) => (list as { totalCount: number }).totalCount);
};

test('an HTTPS edge comes with its domain, its backend, and a route for everything', async () => {
  const host = newName();
  const { created, edge, backend } = await publish({ host: host.toUpperCase(), description: 'the shop' });
  expect(created.map((id) => id.split('_')[0])).toEqual(['rd', 'bkdtg', 'edghts', 'edghtsrt']);
  const [domainId, backendId, edgeId, routeId] = created;
  expect((await account.call('GET', edge.uri)).body).toMatchObject({
    id: edgeId,
    hostports: [`${host}:443`],
    description: 'the shop',
    routes: [{ id: routeId, match: '/', match_type: 'path_prefix', backend: { backend: { id: backendId } } }],
  });
  expect((await account.call('GET', backend.uri)).body).toMatchObject({ id: backendId, labels: { app: 'shop' } });
  expect((await account.call('GET', `/reserved_domains/${domainId}`)).body).toMatchObject({ domain: host });
  const entries = await run<{ nodes: { action: string; objectId: string }[] }>(
    '{ auditEntries(first: 10) { nodes { action objectId } } }',
  );
  const told = entries.nodes.filter(({ action }) => action === 'CREATED').map(({ objectId }) => objectId);
  expect(told).toEqual(expect.arrayContaining(created));
});

test('a domain and a backend that are there are used', async () => {
  const root = newName();
  const first = await publish({ host: `*.${root}`, labels: { app: 'used', site: 'a' } });
  const second = await publish({ protocol: 'TLS', host: `vault.${root}`, labels: { site: 'a', app: 'used' } });
  expect(second).toMatchObject({ reservedDomain: first.reservedDomain, backend: first.backend });
  expect(second.created).toEqual([second.edge.id]);
  expect((await account.call('GET', second.edge.uri)).body).toMatchObject({
    hostports: [`vault.${root}:443`],
    backend: { enabled: true, backend: { id: first.backend.id } },
  });
});

test('the same request with the same key makes nothing more', async () => {
  const host = newName();
  const first = await publish({ host }, `key ${host}`);
  const before = await counts();
  expect(await publish({ host }, `key ${host}`)).toEqual(first);
  expect(await counts()).toEqual(before);
});

test.each<[string, object, object]>([
  ['a name that is none', { host: 'no name' }, { code: 'BAD_USER_INPUT', field: 'host' }],
  ['no labels', { labels: {} }, { code: 'BAD_USER_INPUT', field: 'labels' }],
  [
    'a description that is too long, of which it tells once,',
    { description: 'x'.repeat(256) },
    { code: 'BAD_USER_INPUT', field: 'description', problems: [{ path: ['input', 'description'] }] },
  ],
])('%s leaves nothing behind', async (_, wrong, error) => {
  const before = await counts();
  await expect(publish({ host: newName(), ...wrong })).rejects.toMatchObject(error);
  expect(await counts()).toEqual(before);
});

describe('the check of a name', () => {
  test('says what it takes, and holds nothing', async () => {
    const host = newName();
    expect(await run<Checked>(CHECK, { host })).toEqual({ host, problem: null, needsDns: false, reservedDomain: null });
    expect(await run<Checked>(CHECK, { host: 'Shop.example.com' })).toMatchObject({
      host: 'shop.example.com',
      needsDns: true,
    });
    await publish({ host });
    expect(await run<Checked>(CHECK, { host: `x.${host}` })).toMatchObject({ problem: null, reservedDomain: null });
  });

  test.each<[string, () => Promise<string> | string, RegExp]>([
    ['is no name', () => 'a b.com', /host/],
    ['has no domain', () => 'localhost', /./],
    [
      'another edge has',
      async () => {
        const host = newName();
        await publish({ host });
        return host;
      },
      /another edge has/,
    ],
    [
      'another account has',
      async () => {
        const other = await gateway.newAccount();
        const host = newName();
        await run(PUBLISH, { input: { protocol: 'HTTPS', host, labels: { app: 'other' } } }, other);
        return host;
      },
      /another account/,
    ],
  ])('tells why an edge cannot have one that %s, as publishing does', async (_, name, problem) => {
    const host = await name();
    const checked = await run<Checked>(CHECK, { host });
    expect(checked.problem).toMatch(problem);
    await expect(publish({ host })).rejects.toMatchObject({ message: checked.problem, field: 'host' });
  });
});

/** Starts a server, and an agent with a tunnel to it. */
async function startTunnel(server: Server, label: string): Promise<AgentProcess> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = await startAgent({
    authtoken: (await account.call('POST', '/credentials', {})).body.token,
    gateway: gateway.agent,
    caFile: gateway.app.agentEndpoint().caFile,
    args: ['labels', String((server.address() as AddressInfo).port), '--label', label],
  });
  await agent.printed(/^serving /);
  return agent;
}

describe('a test of an edge', () => {
  let agent: AgentProcess;
  const requested: string[] = [];
  const upstream = createServer((request, response) => {
    requested.push(`${request.method} ${request.url}`);
    response.end('fine');
  });
  beforeAll(async () => {
    agent = await startTunnel(upstream, 'app=tested');
  });
  afterAll(async () => {
    await agent?.remove();
    upstream.close();
  });

  test('says that nobody serves it, and why', async () => {
    const { edge } = await publish({ host: newName(), labels: { app: 'nobody' } });
    const tested = await run<Tested>(TEST, { id: edge.id });
    expect(tested).toMatchObject({ ok: false, status: 502, errorCode: expect.stringMatching(/^ERR_GATEWAY_\d+$/) });
    expect(tested.reason).not.toBe('');
  });

  test('goes through the edge to the program behind the agent, and is logged', async () => {
    const host = newName();
    const { edge } = await publish({ host, labels: { app: 'tested' } });
    const tested = await eventually(async () => {
      const tested = await run<Tested>(TEST, { id: edge.id, path: '/health?deep=1' });
      expect(tested).toMatchObject({ ok: true, host, status: 200, errorCode: null, reason: null });
      return tested;
    });
    expect(tested.durationMs).toBeGreaterThan(0);
    expect(requested).toContain('GET /health?deep=1');
  });

  test('of a TLS edge shakes hands with the program that ends TLS', async () => {
    const nobody = await publish({ protocol: 'TLS', host: newName(), labels: { app: 'nobody' } });
    const refused = await run<Tested>(TEST, { id: nobody.edge.id });
    expect(refused).toMatchObject({ ok: false, status: null, reason: expect.stringMatching(/./) });

    const issuer = await newIssuer('CN=of a test');
    const names: string[] = [];
    const server = createTlsServer(await issuer.issue({ dns: ['vault.test'], purpose: 'server' }));
    server.on('secureConnection', ({ servername }) => void names.push(String(servername)));
    const tunnel = await startTunnel(server, 'app=vault');
    try {
      const host = newName();
      const { edge } = await publish({ protocol: 'TLS', host, labels: { app: 'vault' } });
      await eventually(async () =>
        expect(await run(TEST, { id: edge.id })).toMatchObject({ ok: true, host, status: null, reason: null }),
      );
      expect(names).toContain(host);
    } finally {
      await tunnel.remove();
      server.close();
    }
  });

  test.each(['health', '//x y', '/a#b', `/${'x'.repeat(1024)}`])('refuses the path %s', async (path) => {
    const { edge } = await publish({ host: newName() });
    await expect(run(TEST, { id: edge.id, path })).rejects.toMatchObject({ field: 'path' });
  });

  test('is not for the edge of another account, or for one without a name', async () => {
    const { edge } = await publish({ host: newName() });
    const other = await gateway.newAccount();
    await expect(run(TEST, { id: edge.id }, other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const bare = await run<{ id: string }>('mutation { createHttpsEdge(input: {}) { httpsEdge { id } } }', {});
    await expect(run(TEST, { id: bare.id })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
