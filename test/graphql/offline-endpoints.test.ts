// Offline endpoints as GraphQL shows them, and how they are forgotten.

import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { bound, nameRequest, newCredential, openSession, type TestCredential } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';

const HOLD_MS = 30_000;
const FIELDS = `id publicUrl proto hostport metadata forwardsTo onlineAt offlineAt reason heldUntil
  credential { id uri } agentVersion ip os`;

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
const open: Subscription[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
  credential = await newCredential(account);
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

let names = 0;
/** Serves a name and goes. @param holdMs how long it is kept; 0 for a good-bye. @returns the name. */
async function comeAndGo(holdMs = 0): Promise<string> {
  const hostname = `gone${++names}.tunnel.localhost`;
  const session = await openSession(gateway, credential);
  bound(await gateway.registrar.bind(nameRequest(session, hostname, { metadata: '<b>' })));
  await gateway.registrar.sessionClosed(session, holdMs, holdMs > 0 ? 'the connection was lost' : '');
  return hostname;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
async function list(of: Pick<Account, 'graphql'> = account): Promise<any[]> {
  const { body } = await of.graphql(`{ offlineEndpoints { nodes { ${FIELDS} } } }`);
  expect(body.errors).toBeUndefined();
  return body.data.offlineEndpoints.nodes;
}

describe('an address that is offline', () => {
  test('is in the list with what was known of it, the newest first', async () => {
    const [first, second] = [await comeAndGo(), await comeAndGo(HOLD_MS)];
    const [newest, oldest] = await list();
    expect(newest).toEqual({
      id: expect.stringMatching(/^oep_\w{27}$/),
      publicUrl: `http://${second}`,
      proto: 'HTTP',
      hostport: `${second}:80`,
      metadata: '<b>',
      forwardsTo: 'http://localhost:3000',
      onlineAt: expect.stringMatching(/Z$/),
      offlineAt: expect.stringMatching(/Z$/),
      reason: 'the connection was lost',
      heldUntil: expect.stringMatching(/Z$/),
      credential: { id: credential.credentialId, uri: `${gateway.api}/credentials/${credential.credentialId}` },
      agentVersion: '1.0.0',
      ip: '127.0.0.1',
      os: 'linux',
    });
    const heldFor = Date.parse(newest.heldUntil) - Date.parse(newest.offlineAt);
    expect(heldFor).toBeGreaterThanOrEqual(HOLD_MS - 1000);
    expect(heldFor).toBeLessThanOrEqual(HOLD_MS + 1000);
    expect(oldest).toMatchObject({ hostport: `${first}:80`, heldUntil: null, reason: 'the agent said good-bye' });
  });

  test('is found by its id, and as a node', async () => {
    const hostname = await comeAndGo();
    const [{ id }] = await list();
    const query = 'query ($id: ID!) { offlineEndpoint(id: $id) { hostport } node(id: $id) { __typename id } }';
    const { body } = await account.graphql(query, { id });
    const hostport = `${hostname}:80`;
    expect(body.data).toEqual({ offlineEndpoint: { hostport }, node: { __typename: 'OfflineEndpoint', id } });
  });

  test('names its credential only as long as that is there', async () => {
    await comeAndGo(HOLD_MS);
    await account.call('DELETE', `/credentials/${credential.credentialId}`);
    expect(await list()).toMatchObject([{ credential: null }]);
  });

  test('is told of as it comes, is served again, and is forgotten', async () => {
    const query = 'subscription { offlineEndpointChanged { action objectId offlineEndpoint { hostport } } }';
    const stream = await subscribe(gateway.api, account.key, query);
    open.push(stream);
    const hostname = await comeAndGo(HOLD_MS);
    const created = (await stream.next()).data.offlineEndpointChanged;
    expect(created).toMatchObject({ action: 'CREATED', offlineEndpoint: { hostport: `${hostname}:80` } });
    const session = await openSession(gateway, credential);
    bound(await gateway.registrar.bind(nameRequest(session, hostname)));
    const gone = { action: 'DELETED', objectId: created.objectId, offlineEndpoint: null };
    expect((await stream.next()).data.offlineEndpointChanged).toEqual(gone);
    await gateway.registrar.sessionClosed(session, 0);
    const { objectId: id } = (await stream.next()).data.offlineEndpointChanged;
    await account.graphql('mutation ($id: ID!) { forgetOfflineEndpoint(id: $id) { forgottenOfflineEndpointId } }', {
      id,
    });
    expect((await stream.next()).data.offlineEndpointChanged).toMatchObject({ action: 'DELETED', objectId: id });
  });
});

describe('the list of all endpoints', () => {
  const LIST = `query ($first: Int, $after: String, $where: AnyEndpointWhere, $orderBy: [AnyEndpointOrder!], $search: String) {
    allEndpoints(first: $first, after: $after, where: $where, orderBy: $orderBy, search: $search) {
      nodes { __typename id state since publicUrl name forwardsTo agent { name } credential { id } principal { id } ... on Endpoint { health { state } }
        ... on OfflineEndpoint { reason } }
      edges { cursor node { id } } pageInfo { endCursor hasNextPage } totalCount } }`;

  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
  async function all(variables: object = {}, of: Pick<Account, 'graphql'> = account): Promise<any> {
    const { body } = await of.graphql(LIST, variables);
    expect(body.errors).toBeUndefined();
    return body.data.allEndpoints;
  }

  /** Serves a name. @returns the name, and what ends it. */
  async function come(name: string) {
    const hostname = `all${++names}.tunnel.localhost`;
    const session = await openSession(gateway, credential);
    bound(await gateway.registrar.bind({ ...nameRequest(session, hostname), name }));
    return {
      url: `http://${hostname}`,
      go: () => gateway.registrar.sessionClosed(session, 0, 'the connection was lost'),
    };
  }

  const urlsOf = ({ nodes }: { nodes: { publicUrl: string }[] }) => nodes.map(({ publicUrl }) => publicUrl);

  test('has those that answer and those that are offline, what changed last before all', async () => {
    const [gone, there] = [await come('camera'), await come('shop')];
    await gone.go();
    const { nodes, totalCount } = await all();
    const shared = {
      forwardsTo: 'http://localhost:3000',
      agent: { name: expect.any(String) },
      credential: { id: credential.credentialId },
      principal: { id: account.ownerId },
      since: expect.any(String),
    };
    expect(nodes).toEqual([
      {
        ...shared,
        ...{ __typename: 'OfflineEndpoint', id: expect.stringMatching(/^oep_/), state: 'OFFLINE' },
        ...{ publicUrl: gone.url, name: 'camera', reason: 'the connection was lost' },
      },
      {
        ...shared,
        ...{ __typename: 'Endpoint', id: expect.stringMatching(/^ep_/), state: 'ONLINE' },
        ...{ publicUrl: there.url, name: 'shop', health: { state: 'LIVE' } },
      },
    ]);
    expect(totalCount).toBe(2);
    expect(await all({}, await gateway.newAccount())).toMatchObject({ nodes: [], totalCount: 0 });
    for (const { id } of nodes) {
      const { body } = await account.graphql('query ($id: ID!) { anyEndpoint(id: $id) { id publicUrl } }', { id });
      expect(body.data.anyEndpoint.id).toBe(id);
    }
  });

  test('is filtered, searched, ordered and paged by what both have', async () => {
    const offline = [await come('b'), await come('d')];
    const online = [await come('a'), await come('c')];
    for (const { go } of offline) await go();
    const orderBy = { field: 'NAME' };
    const [a, b, c, d] = [online[0]?.url, offline[0]?.url, online[1]?.url, offline[1]?.url];
    expect(urlsOf(await all({ orderBy }))).toEqual([a, b, c, d]);
    const first = await all({ orderBy, first: 2 });
    expect([urlsOf(first), first.pageInfo.hasNextPage, first.edges[1].cursor]).toEqual([
      [a, b],
      true,
      first.pageInfo.endCursor,
    ]);
    // The cursor holds also when its row is another object by then.
    const again = await openSession(gateway, credential);
    bound(await gateway.registrar.bind(nameRequest(again, new URL(String(b)).hostname)));
    expect(urlsOf(await all({ orderBy, first: 2, after: first.pageInfo.endCursor }))).toEqual([c, d]);
    await gateway.registrar.sessionClosed(again, 0);

    expect(urlsOf(await all({ orderBy, where: { state: { eq: 'ONLINE' } } }))).toEqual([a, c]);
    expect(urlsOf(await all({ orderBy, where: { health: { isNull: true }, name: { in: ['d', 'c'] } } }))).toEqual([d]);
    expect(
      urlsOf(await all({ orderBy, where: { credentialId: { eq: credential.credentialId } }, first: 1 })),
    ).toHaveLength(1);
    expect(urlsOf(await all({ search: new URL(String(d)).hostname }))).toEqual([d]);
    const fields = [
      'STATE',
      'SINCE',
      'PUBLIC_URL',
      'DESCRIPTION',
      'FORWARDS_TO',
      'TYPE',
      'HEALTH',
      'PRINCIPAL_NAME',
      'AGENT_NAME',
      'ID',
    ];
    for (const field of fields) {
      const pages = [await all({ orderBy: { field, direction: 'DESC' }, first: 3 })];
      pages.push(await all({ orderBy: { field, direction: 'DESC' }, first: 3, after: pages[0].pageInfo.endCursor }));
      expect(new Set(pages.flatMap(urlsOf)), field).toEqual(new Set([a, b, c, d]));
    }
  });

  test('is filtered and ordered by what passed in the last 24 hours, of those that are offline, too', async () => {
    const [quiet, gone, busy] = [await come('quiet'), await come('gone'), await come('busy')];
    const { prisma } = gateway.app;
    const count = async ({ url }: { url: string }, requests: number) => {
      const where = { publicUrl: url, accountId: account.accountId };
      const { id: endpointId, accountId } = await prisma.endpoint.findFirstOrThrow({ where });
      const data = { endpointId, accountId, requests, bytes: requests * 1000 };
      await prisma.endpointDay.upsert({ where: { endpointId }, create: data, update: data });
    };
    await count(gone, 20);
    await count(busy, 3_000_000_000);
    await gone.go();
    const ask = `query ($filter: String, $where: AnyEndpointWhere, $first: Int, $after: String, $direction: OrderDirection!) {
      allEndpoints(filter: $filter, where: $where, orderBy: { field: REQUESTS_LAST_DAY, direction: $direction }, first: $first, after: $after) {
        nodes { publicUrl requestsLastDay bytesLastDay } pageInfo { endCursor } totalCount } }`;
    const page = async (variables: object = {}) => {
      const { body } = await account.graphql(ask, { direction: 'DESC', ...variables });
      expect(body.errors).toBeUndefined();
      return body.data.allEndpoints;
    };
    expect((await page()).nodes).toEqual([
      { publicUrl: busy.url, requestsLastDay: 3_000_000_000, bytesLastDay: 3e12 },
      { publicUrl: gone.url, requestsLastDay: 20, bytesLastDay: 20_000 },
      { publicUrl: quiet.url, requestsLastDay: 0, bytesLastDay: 0 },
    ]);
    expect(urlsOf(await page({ direction: 'ASC' }))).toEqual([quiet.url, gone.url, busy.url]);
    const found: [object, string, string[]][] = [
      [{ requestsLastDay: { gt: 20 } }, 'obj.requests_last_day > 20', [busy.url]],
      [{ requestsLastDay: { gte: 20, lt: 21.5 } }, 'requestsLastDay >= 20 && requestsLastDay < 21.5', [gone.url]],
      [{ requestsLastDay: { lte: 20 } }, '20 >= obj.requests_last_day', [gone.url, quiet.url]],
      [{ not: { requestsLastDay: { eq: 20 } } }, 'obj.requests_last_day != 20', [busy.url, quiet.url]],
      [{ bytesLastDay: { in: [0, 20_000] } }, 'obj.bytes_last_day in [0, 20000.0]', [gone.url, quiet.url]],
    ];
    for (const [where, filter, urls] of found)
      expect([urlsOf(await page({ where })), urlsOf(await page({ filter }))], filter).toEqual([urls, urls]);
    for (const filter of [
      'obj.requests_last_day > "1"',
      'obj.requests_last_day == true',
      'requestsLastDay > 1.0 / 0.0',
    ]) {
      const { body } = await account.graphql(ask, { direction: 'ASC', filter });
      expect(body.errors[0].message, filter).toContain('is a number');
    }
    // The cursor holds also when the figure is another by then.
    const first = await page({ first: 1 });
    await count(busy, 7);
    const next = await page({ first: 1, after: first.pageInfo.endCursor });
    expect([urlsOf(first), urlsOf(next)]).toEqual([[busy.url], [gone.url]]);
    expect(urlsOf(await page({ after: next.pageInfo.endCursor }))).toEqual([busy.url, quiet.url]);
  });

  test('is told of in one stream: one goes, and the other comes', async () => {
    const served = await come('shop');
    const query = `subscription { anyEndpointChanged(mark: true, where: { name: { eq: "shop" } }) { action objectId hasLeft
      anyEndpoint { state publicUrl } } }`;
    const stream = await subscribe(gateway.api, account.key, query);
    open.push(stream);
    const told = async () => (await stream.next()).data.anyEndpointChanged;
    expect(await told()).toMatchObject({ objectId: '' });
    await served.go();
    const changes = [await told(), await told()].sort((one, other) => (one.objectId < other.objectId ? -1 : 1));
    expect(changes).toEqual([
      { action: 'DELETED', objectId: expect.stringMatching(/^ep_/), hasLeft: false, anyEndpoint: null },
      {
        ...{ action: 'CREATED', objectId: expect.stringMatching(/^oep_/), hasLeft: false },
        anyEndpoint: { state: 'OFFLINE', publicUrl: served.url },
      },
    ]);
  });
});

describe('to forget one', () => {
  const forget = 'mutation ($id: ID!) { forgetOfflineEndpoint(id: $id) { forgottenOfflineEndpointId } }';

  test('takes it from the list, once, and its name stays kept', async () => {
    const hostname = await comeAndGo(HOLD_MS);
    const [{ id }] = await list();
    const member = await account.addOwner();
    expect((await member.graphql(forget, { id })).body.data).toEqual({
      forgetOfflineEndpoint: { forgottenOfflineEndpointId: id },
    });
    expect(await list()).toEqual([]);
    const again = await account.graphql(forget, { id });
    expect(again.body.errors[0]).toMatchObject({
      message: 'There is no offline endpoint with this id.',
      extensions: { code: 'NOT_FOUND' },
    });
    const stranger = await openSession(gateway, await newCredential(account));
    expect(await gateway.registrar.bind(nameRequest(stranger, hostname))).toMatchObject({ refused: 'inUse' });
  });

  test('is for its own account', async () => {
    await comeAndGo();
    const [{ id }] = await list();
    const other = await gateway.newAccount();
    for (const unknown of [id, newId('oep'), newId('ep'), 'nonsense']) {
      const { body } = await other.graphql(forget, { id: unknown });
      expect(body.errors[0].extensions.code).toBe('NOT_FOUND');
    }
    expect(await list(other)).toEqual([]);
    expect(await list()).toHaveLength(1);
  });
});
