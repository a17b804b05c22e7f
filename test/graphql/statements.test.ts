// No list asks the database once per row, and each operation on one object takes few statements.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { newCredential, openSession } from '../support/agents/live.ts';
import { type Account, countingGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { shapesOf, statementsOf } from '../support/gateway/statements.ts';

const STATEMENTS_MAX = 4;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await countingGateway();
  account = await gateway.newAccount();
  const { accountId } = account;
  const bots = await Promise.all(Array.from({ length: 9 }, () => account.addOwner({ kind: 'BOT' })));
  await gateway.app.prisma.credential.createMany({
    data: Array.from({ length: 100 }, (_, index) => {
      const id = newId('cr');
      // In any 60 of them are some of a person and some of a bot user, which are read in a statement each.
      const { ownerId } = (index % 2 === 0 && bots[index % bots.length]) || account;
      return { id, accountId, ownerId, digest: id };
    }),
  });
});

/** The statements that a request takes of a caller who is known already. */
async function statementsFor(ask: () => Promise<{ status: number; text: string }>): Promise<string[]> {
  await account.call('GET', '/credentials?limit=1');
  await ask(); // Compiled from here on.
  const statements = await statementsOf(async () => {
    const { status, text } = await ask();
    expect(status).toBe(200);
    expect(text).not.toContain('"errors"');
  });
  return shapesOf(statements);
}

test.each([
  ['a list by REST', (size: number) => account.call('GET', `/credentials?limit=${size}`)],
  [
    'a list with owners',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { nodes { id owner { id ... on User { email } ... on BotUser { name } } } } }',
        { size },
      ),
  ],
  [
    'edges with owners',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { edges { cursor node { description owner { active createdAt } } } } }',
        { size },
      ),
  ],
  [
    'nodes and edges with owners, and the count',
    (size: number) =>
      account.graphql(
        'query ($size: Int) { credentials(first: $size) { totalCount nodes { owner { id } } edges { node { owner { id } } } } }',
        { size },
      ),
  ],
  [
    'a page backwards',
    (size: number) =>
      account.graphql('query ($size: Int) { credentials(last: $size) { nodes { id owner { id } } } }', { size }),
  ],
])('%s of 100 takes no more statements than of 60', async (_, ask) => {
  const hundred = await statementsFor(() => ask(100));
  expect(await statementsFor(() => ask(60))).toEqual(hundred);
  expect(hundred.length).toBeGreaterThan(0);
  expect(hundred.length).toBeLessThanOrEqual(STATEMENTS_MAX);
});

describe('of what is live', () => {
  beforeAll(async () => {
    const { prisma } = gateway.app;
    const { accountId } = account;
    const { nodeId } = await anySession();
    const labels = { app: 'shop' };
    const backendId = newId('bkdtg');
    await prisma.backend.create({ data: { id: backendId, accountId, labels } });
    const agentId = newId('agt');
    await prisma.agent.create({ data: { id: agentId, accountId, identity: agentId, name: 'shop' } });
    for (let i = 0; i < 100; i++) {
      const credentialId = await newCredentialId(i);
      const sessionId = newId('ts');
      const own = { accountId, nodeId, credentialId, agentId, agentVersion: '1' };
      await prisma.tunnelSession.create({ data: { ...own, id: sessionId, clientId: sessionId } });
      await prisma.tunnel.create({ data: { id: newId('tn'), accountId, sessionId, labels } });
      const endpoint = { id: newId('ep'), accountId, proto: 'https', publicUrl: '', hostport: `${i}` };
      if (i % 2 === 0) {
        const edge = { id: newId('edghts'), accountId, kind: 'HTTPS' } as const;
        const route = { id: newId('edghtsrt'), accountId, matchType: 'PATH_PREFIX', match: '/' } as const;
        await prisma.edge.create({
          data: { ...edge, routes: { create: { ...route, backendEnabled: true, backendId } } },
        });
        await prisma.endpoint.create({ data: { ...endpoint, type: 'EDGE', edgeId: edge.id } });
      } else {
        const tunnel = { id: newId('tn'), accountId, sessionId, proto: 'http', publicUrl: '', forwardsTo: 'x' };
        await prisma.tunnel.create({ data: tunnel });
        await prisma.endpoint.create({ data: { ...endpoint, type: 'EPHEMERAL', nodeId, tunnelId: tunnel.id } });
        const leg = { ...own, id: newId('ts'), clientId: sessionId, leg: 1 };
        await prisma.tunnelSession.create({ data: leg });
        await prisma.tunnelLeg.create({ data: { tunnelId: tunnel.id, sessionId: leg.id, nodeId } });
      }
      const offline = { id: newId('oep'), accountId, address: `http:${i}`, proto: 'http', publicUrl: '', hostport: '' };
      await prisma.offlineEndpoint.create({ data: { ...offline, onlineAt: new Date(), credentialId, agentId } });
    }
  });

  async function anySession() {
    const id = await openSession(gateway, await newCredential(account));
    return gateway.app.prisma.tunnelSession.findUniqueOrThrow({ where: { id } });
  }

  async function newCredentialId(i: number): Promise<string> {
    const id = newId('cr');
    const { accountId, ownerId } = account;
    await gateway.app.prisma.credential.create({
      data: { id, accountId, ownerId, digest: id, description: String(i) },
    });
    return id;
  }

  // Which nodes are live is asked once for the list and once for the tunnels of edges; sessions, tunnels, legs, edges, routes
  // and backends each take one statement.
  test.each([
    [
      'endpoints with their agents, traffic and signs of life',
      16,
      `endpoints(FIRST) { nodes { id forwardsTo agents roundTrip { at } traffic { requests }
        tunnelSession { id ip credential { id } roundTrip { milliseconds } tunnels { id publicUrl } } } }`,
    ],
    [
      'endpoints with as much in edges',
      13,
      `endpoints(FIRST) { edges { node { agents roundTrip { at } tunnelSession { id } forwardsTo } } }`,
    ],
    [
      'sessions with their tunnels',
      6,
      'tunnelSessions(FIRST) { nodes { id arch userAgent roundTrip { at } tunnels { id forwardsTo } } }',
    ],
    [
      'sessions with the endpoints of their tunnels',
      8,
      'tunnelSessions(FIRST) { nodes { id tunnels { id endpoint { id uri } labels } } }',
    ],
    [
      'endpoints with their legs',
      12,
      'endpoints(FIRST) { nodes { id legs { number nodeId session { id credential { id } tunnels { id } } } } }',
    ],
    [
      'endpoints with their figures',
      8,
      'endpoints(FIRST) { nodes { id health { state since errorShare requests } trafficHistory { total { requests } } } }',
    ],
    [
      'agents with their sessions, addresses and history',
      12,
      `agents(FIRST) { nodes { id name online lastSeenAt labels accepts credential { id } sessions { nodes { id ip } }
        endpoints { nodes { publicUrl } } offlineEndpoints { nodes { publicUrl } } pastSessions { endedAt } } }`,
    ],
    [
      'endpoints with what they lead to',
      16,
      `endpoints(FIRST) { nodes { id edge { id hostports ... on HttpsEdge { routes { id backend { backend { createdAt } } } } }
        tunnel { publicUrl tunnelSession { ip credential { description owner { active } } } } } }`,
    ],
    [
      'endpoints as the page of a dashboard has them',
      19,
      `endpoints(FIRST, where: { upstreamUrl: { startsWith: "" } }) { nodes { id publicUrl name upstreamUrl roundTrip { at }
        health { state } principal { ... on User { email } }
        tunnelSession { ip agent { id name } credential { id description } } requests(first: 3) { nodes { path } } }
        totalCount pageInfo { endCursor } }`,
    ],
    [
      'endpoints, online and offline, as the page of a dashboard has them',
      12,
      `allEndpoints(FIRST, where: { proto: { in: [HTTP, HTTPS] } }, orderBy: { field: SINCE, direction: DESC }) { nodes { id state since publicUrl name
        forwardsTo principal { ... on User { email } } agent { id name } credential { description }
        ... on Endpoint { health { state } requests(first: 3) { nodes { path } } }
        ... on OfflineEndpoint { reason heldUntil } } totalCount pageInfo { endCursor } }`,
    ],
    [
      'endpoints, online and offline, with what passed in a day',
      4,
      `allEndpoints(FIRST, where: { requestsLastDay: { gte: 0 } }, orderBy: { field: REQUESTS_LAST_DAY, direction: ASC }) { nodes { id publicUrl
        requestsLastDay bytesLastDay } }`,
    ],
    ['offline endpoints', 3, 'offlineEndpoints(FIRST) { nodes { id reason heldUntil credential { id uri } } }'],
  ])('a list of 100 %s takes no more statements than of 1, and at most %i', async (_, most, list) => {
    const ask = (size: number, last = false) =>
      account.graphql(`{ ${list.replace('FIRST', `${last ? 'last' : 'first'}: ${size}`)} }`);
    // The newest is of an agent, the oldest of an edge: of each kind there has to be one.
    const hundred = await statementsFor(() => ask(100));
    expect(await statementsFor(() => ask(60))).toEqual(hundred);
    expect((await statementsFor(() => ask(1))).length).toBeLessThanOrEqual(hundred.length);
    expect((await statementsFor(() => ask(1, true))).length).toBeLessThanOrEqual(hundred.length);
    expect(hundred.length).toBeGreaterThan(0);
    expect(hundred.length).toBeLessThanOrEqual(most);
  });

  test('the names of what objects lead to take no statement', async () => {
    const ask = (more: string) =>
      account.graphql(`{ endpoints { nodes { id publicUrl tunnelSession { id } ${more} } } }`);
    const none = await statementsFor(() => ask(''));
    expect(await statementsFor(() => ask('edge { id uri __typename } tunnel { id uri } domain { id }'))).toEqual(none);
  });

  test('traffic that is asked for every second takes no statement', async () => {
    const rows = await gateway.app.prisma.endpoint.findMany({ where: { accountId: account.accountId } });
    const ids = rows.map(({ id }) => id);
    const query = 'query ($ids: [ID!]!) { endpointTraffic(ids: $ids) { endpointId requestsPerSecond } }';
    expect(await statementsFor(() => account.graphql(query, { ids }))).toEqual([]);
  });
});

describe('of what belongs to others', () => {
  beforeAll(async () => {
    const { accountId, ownerId } = account;
    const by = { createdBy: ownerId, lastUpdatedBy: ownerId };
    const vaults = Array.from({ length: 100 }, () => ({ id: newId('vault'), accountId, ...by }));
    await gateway.app.prisma.vault.createMany({ data: vaults.map((vault) => ({ ...vault, name: vault.id })) });
    const secrets = vaults.flatMap(({ id: vaultId }) =>
      ['a', 'b', 'c'].map((name) => ({ id: newId('secret'), accountId, vaultId, name, value: '', ...by })),
    );
    await gateway.app.prisma.secret.createMany({ data: secrets });
  });

  // In each of them, one for the list itself.
  test.each([
    ['a page each', 3, 'secrets(first: 2) { nodes { id name } pageInfo { hasNextPage endCursor } }'],
    ['a page backwards each', 3, 'secrets(last: 2) { edges { cursor node { name } } }'],
    ['a page each, and how many there are', 4, 'secrets(first: 2) { totalCount nodes { name } }'],
    ['how many there are', 2, 'secrets(first: 2) { totalCount uri }'],
    ['no more than ids', 2, 'secrets(first: 2) { nodes { id } pageInfo { endCursor } }'],
    ['what their pages lead to', 5, 'secrets(first: 2) { nodes { name vault { name } createdBy { active } } }'],
    [
      'pages in pages, and what is loaded with the rows of each',
      8,
      'secrets(first: 1) { nodes { vaultName vault { secrets(first: 1) { nodes { vaultName } } } } }',
    ],
  ])('100 objects with %s take no more statements than 1, and at most %i', async (_, most, list) => {
    const ask = (first: number) => account.graphql(`{ vaults(first: ${first}) { nodes { name ${list} } } }`);
    const hundred = await statementsFor(() => ask(100));
    expect(await statementsFor(() => ask(1))).toEqual(hundred);
    expect(hundred.length).toBeLessThanOrEqual(most);
  });
});

test('a list without its count does not count', async () => {
  const statements = await statementsFor(() => account.graphql('{ credentials { nodes { id } } }'));
  expect(statements.filter((statement) => statement.includes('"credential"'))).toHaveLength(1);
  expect(statements.filter((statement) => /count\(.*"credential"/i.test(statement))).toEqual([]);
});

// Each statement is a round trip to the database, COMMIT too; BEGIN travels with the statement after it.
test.each([
  ['a look-up by REST', 1, (id: string) => account.call('GET', `/credentials/${id}`), 200],
  [
    'a look-up by GraphQL',
    1,
    (id: string) => account.graphql('query ($id: ID!) { credential(id: $id) { acl } }', { id }),
    200,
  ],
  [
    'an object with its owner',
    2,
    (id: string) => account.graphql('query ($id: ID!) { credential(id: $id) { owner { active } } }', { id }),
    200,
  ],
  ['a creation', 3, () => account.call('POST', '/credentials', { description: 'counted' }), 201],
  ['a change', 4, (id: string) => account.call('PATCH', `/credentials/${id}`, { description: newId('cr') }), 200],
  ['a deletion', 4, (id: string) => account.call('DELETE', `/credentials/${id}`), 204],
] as const)('%s takes at most %i statements', async (_, most, ask, status) => {
  const ids = await Promise.all(
    [1, 2].map(async () => JSON.parse((await account.call('POST', '/credentials', {})).text).id as string),
  );
  await ask(ids[0] as string);
  await account.call('GET', '/credentials?limit=1'); // Writes have the caller forgotten.
  const statements = await statementsOf(async () => {
    expect((await ask(ids[1] as string)).status).toBe(status);
  });
  expect(statements).not.toEqual([]);
  expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(most);
});
