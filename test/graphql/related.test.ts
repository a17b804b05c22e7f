// Lists of what belongs to an object, as fields of it.

import { isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { newId } from '../../src/store/ids.ts';
import { fill, type Holder } from '../accounts/sample-resources.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await sharedGateway();
});

/** What belongs to each kind of object, by the names of the fields. */
const RELATED: Record<string, string> = {
  Agent: 'endpoints offlineEndpoints sessions',
  Alert: 'notifications',
  AlertChannel: 'rules',
  AlertRule: 'alerts',
  AppUser: 'sessions',
  BotUser: 'apiKeys credentials provisioningKeys',
  CertificateAuthority: 'httpsEdges tlsEdges',
  Credential: 'agents tunnelSessions',
  EventDestination: 'deadLetters subscriptions',
  FailoverBackend: 'failoverBackends httpsEdgeRoutes tcpEdges tlsEdges weightedBackends',
  HttpResponseBackend: 'failoverBackends httpsEdgeRoutes tcpEdges tlsEdges weightedBackends',
  HttpsEdge: 'endpoints',
  IpPolicy: 'accountIpRestrictions httpsEdgeRoutes rules tcpEdges tlsEdges',
  ProvisioningKey: 'credentials',
  ReservedAddress: 'endpoints tcpEdges',
  ReservedDomain: 'endpoints httpsEdges tlsEdges',
  StaticBackend: 'failoverBackends httpsEdgeRoutes tcpEdges tlsEdges weightedBackends',
  TcpEdge: 'endpoints',
  TlsCertificate: 'domains',
  TlsEdge: 'endpoints',
  TunnelGroupBackend: 'failoverBackends httpsEdgeRoutes tcpEdges tlsEdges weightedBackends',
  User: 'apiKeys credentials provisioningKeys',
  Vault: 'secrets',
  WeightedBackend: 'failoverBackends httpsEdgeRoutes tcpEdges tlsEdges weightedBackends',
};

test('each list of what belongs to an object is one of those that these tests read', () => {
  const lists = Object.values(schema.getTypeMap()).flatMap((type) => {
    if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node')) return [];
    const names = Object.values(type.getFields()).filter((field) => /Connection!?$/.test(String(field.type)));
    return names.length > 0
      ? [
          [
            type.name,
            names
              .map(({ name }) => name)
              .sort()
              .join(' '),
          ],
        ]
      : [];
  });
  // What is not in the tables has tests of its own.
  expect(Object.fromEntries(lists)).toEqual({ ...RELATED, BulkJob: 'failures', Endpoint: 'requests' });
});

describe('of accounts that have one of everything', () => {
  let mine: Holder;
  let theirs: Holder;
  beforeAll(async () => {
    mine = await joined(await fill(gateway, await gateway.newAccount()));
    theirs = await joined(await fill(gateway, await gateway.newAccount()));
  }, 60_000);

  /** Has what `fill` made belong together as far as it can. */
  async function joined(holder: Holder): Promise<Holder> {
    const { account, ids, zone } = holder;
    const { prisma } = gateway.app;
    const done = async (method: string, path: string, body: object) => {
      const answer = await account.call(method, path, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    const restriction = { ip_policy_ids: [ids.ipPolicy] };
    await done('PUT', `/edges/https/${ids.httpsEdge}/routes/${ids.httpsEdgeRoute}/ip_restriction`, restriction);
    await done('PUT', `/edges/tls/${ids.tlsEdge}/ip_restriction`, restriction);
    await done('PUT', `/edges/tcp/${ids.tcpEdge}/ip_restriction`, restriction);
    const { addr } = (await account.call('GET', `/reserved_addrs/${ids.reservedAddress}`)).body;
    await done('PATCH', `/edges/tcp/${ids.tcpEdge}`, { hostports: [addr] });
    await done('PATCH', `/edges/tls/${ids.tlsEdge}`, { hostports: [`tls.${zone}:443`] });
    await prisma.reservedDomain.update({
      where: { id: ids.reservedDomain },
      data: { certificateId: ids.tlsCertificate },
    });
    await prisma.alert.update({ where: { id: ids.alert }, data: { ruleId: ids.alertRule } });
    await prisma.offlineEndpoint.update({ where: { id: ids.offlineEndpoint }, data: { agentId: ids.agent } });
    const device = { keyId: ids.provisioningKey ?? '', digest: newId('x'), credentialId: ids.credential ?? '' };
    await prisma.provisionedDevice.create({ data: device });
    return holder;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects.
  async function listsOf({ account, ids }: Holder, type: string): Promise<any> {
    const kind = type.charAt(0).toLowerCase() + type.slice(1);
    const lists = RELATED[type]?.replaceAll(/\w+/g, '$& { totalCount nodes { id } }');
    const query = `query ($id: ID!) { node(id: $id) { ... on ${type} { ${lists} } } }`;
    const { body, text } = await account.graphql(query, { id: ids[kind] });
    expect(body.errors, text).toBeUndefined();
    for (const { totalCount, nodes } of Object.values<{ totalCount: number; nodes: object[] }>(body.data.node))
      expect(totalCount).toBe(nodes.length);
    const found = Object.entries<{ nodes: { id: string }[] }>(body.data.node);
    return Object.fromEntries(found.map(([name, { nodes }]) => [name, nodes.map(({ id }) => id)]));
  }

  test('each list has what belongs to the object, and nothing else', async () => {
    const { ids, account } = mine;
    const { prisma } = gateway.app;
    const users = {
      httpsEdgeRoutes: [ids.httpsEdgeRoute],
      tlsEdges: [ids.tlsEdge],
      tcpEdges: [ids.tcpEdge],
    };
    const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const held = { where: { ownerId: account.ownerId }, select: { id: true }, orderBy: { id: 'desc' } } as const;
    const endpointOf = async (edgeId = '') => idsOf(await prisma.endpoint.findMany({ where: { edgeId } }));
    const [httpsEndpoint, tlsEndpoint, tcpEndpoint] = [
      await endpointOf(ids.httpsEdge),
      await endpointOf(ids.tlsEdge),
      await endpointOf(ids.tcpEdge),
    ];
    const ofDomain = { where: { domainId: ids.reservedDomain }, orderBy: { id: 'desc' } } as const;
    const none = { failoverBackends: [], weightedBackends: [], httpsEdgeRoutes: [], tlsEdges: [], tcpEdges: [] };
    const { endpoint: tunnelEndpoint } = await prisma.tunnel.findFirstOrThrow({
      where: { id: ids.tunnel },
      select: { endpoint: { select: { id: true } } },
    });
    const expected: Record<string, object> = {
      Agent: {
        endpoints: [tunnelEndpoint?.id],
        offlineEndpoints: [ids.offlineEndpoint],
        sessions: [ids.tunnelSession],
      },
      Alert: { notifications: [ids.alertNotification] },
      AlertChannel: { rules: [ids.alertRule] },
      AlertRule: { alerts: [ids.alert] },
      AppUser: { sessions: [ids.appSession] },
      BotUser: { apiKeys: [], credentials: [], provisioningKeys: [] },
      CertificateAuthority: { httpsEdges: [ids.httpsEdge], tlsEdges: [ids.tlsEdge] },
      Credential: { agents: [ids.agent], tunnelSessions: [ids.tunnelSession] },
      EventDestination: { deadLetters: [ids.eventDeadLetter], subscriptions: [ids.eventSubscription] },
      FailoverBackend: none,
      HttpResponseBackend: none,
      HttpsEdge: { endpoints: httpsEndpoint },
      IpPolicy: { rules: [ids.ipPolicyRule], accountIpRestrictions: [ids.accountIpRestriction], ...users },
      ProvisioningKey: { credentials: [ids.credential] },
      ReservedAddress: { endpoints: tcpEndpoint, tcpEdges: [ids.tcpEdge] },
      ReservedDomain: {
        endpoints: idsOf(await prisma.endpoint.findMany(ofDomain)),
        httpsEdges: [ids.httpsEdge],
        tlsEdges: [ids.tlsEdge],
      },
      StaticBackend: none,
      TcpEdge: { endpoints: tcpEndpoint },
      TlsCertificate: { domains: [ids.reservedDomain] },
      TlsEdge: { endpoints: tlsEndpoint },
      TunnelGroupBackend: {
        ...{ failoverBackends: [ids.failoverBackend], weightedBackends: [ids.weightedBackend] },
        ...users,
      },
      User: {
        apiKeys: [],
        credentials: [],
        provisioningKeys: [],
      },
      Vault: { secrets: [ids.secret] },
      WeightedBackend: { ...none, failoverBackends: [ids.failoverBackend] },
    };
    const found: Record<string, object> = {};
    for (const type of Object.keys(RELATED)) found[type] = await listsOf(mine, type);
    expect(found).toEqual(expected);
    const holding = await listsOf({ ...mine, ids: { user: account.ownerId } }, 'User');
    expect(holding).toEqual({
      apiKeys: idsOf(await prisma.apiKey.findMany(held)),
      credentials: idsOf(await prisma.credential.findMany(held)),
      provisioningKeys: [ids.provisioningKey],
    });
    expect(holding.credentials).toContain(ids.credential);
    expect([tlsEndpoint, tcpEndpoint].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('what rows of another account say to belong to an object is not in its lists', async () => {
    const { prisma } = gateway.app;
    const id = newId('secret');
    const { accountId, ownerId } = theirs.account;
    const by = { createdBy: ownerId, lastUpdatedBy: ownerId };
    await prisma.secret.create({
      data: { id, accountId, vaultId: mine.ids.vault ?? '', name: 'strange', value: '', ...by },
    });
    expect(await listsOf(mine, 'Vault')).toEqual({ secrets: [mine.ids.secret] });
    await prisma.secret.delete({ where: { id } });
    const pageAfter = async (cursor = '') => {
      const query = 'query ($id: ID!, $cursor: String) { vault(id: $id) { secrets(after: $cursor) { nodes { id } } } }';
      return (await mine.account.graphql(query, { id: mine.ids.vault, cursor })).body;
    };
    // All of theirs is newer: a cursor of theirs is a place like any other.
    expect(await pageAfter(theirs.ids.secret)).toEqual({
      data: { vault: { secrets: { nodes: [{ id: mine.ids.secret }] } } },
    });
    expect(await pageAfter(newId('secret'))).toEqual(await pageAfter(theirs.ids.secret));
  });
});

describe('a list in an object', () => {
  let account: Account;
  let vaults: string[];
  /** Of the first vault, and of the second, the newest first. */
  let secrets: string[][];

  beforeAll(async () => {
    account = await gateway.newAccount();
    const { accountId, ownerId } = account;
    const by = { createdBy: ownerId, lastUpdatedBy: ownerId };
    vaults = ['a', 'b'].map(() => newId('vault')).reverse(); // As the list has them.
    const rows = vaults.map((id) => ({ id, accountId, name: id, ...by }));
    await gateway.app.prisma.vault.createMany({ data: rows });
    secrets = [[], []];
    // In turns, so that each page of one vault has ids of the other between its own.
    for (let i = 0; i < 14; i++) secrets[i % 2]?.unshift(newId('secret'));
    await gateway.app.prisma.secret.createMany({
      data: vaults.flatMap((vaultId, index) =>
        (secrets[index] ?? []).map((id) => ({ id, accountId, vaultId, name: id, value: '', ...by })),
      ),
    });
  });

  const PAGE =
    'uri nextPageUri nodes { id } edges { cursor node { id name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  async function ask(args: string, members = PAGE) {
    const list = args ? `secrets(${args})` : 'secrets';
    const { body } = await account.graphql(`{ vaults(first: 2) { nodes { ${list} { ${members} } } } }`);
    return body;
  }
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects.
  const pagesOf = ({ data }: any): any[] => data.vaults.nodes.map(({ secrets: page }: { secrets: object }) => page);
  const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);

  test('is paged forwards and backwards, in each object for itself', async () => {
    const first = pagesOf(await ask('first: 3'));
    expect(first.map(idsOf)).toEqual(secrets.map((of) => of.slice(0, 3)));
    expect(first[0].edges).toEqual(secrets[0]?.slice(0, 3).map((id) => ({ cursor: id, node: { id, name: id } })));
    const [begin, end] = [secrets[0]?.[0], secrets[0]?.[2]];
    expect(first[0].pageInfo).toEqual({
      ...{ hasNextPage: true, hasPreviousPage: false },
      ...{ startCursor: begin, endCursor: end },
    });
    const [second] = pagesOf(await ask(`first: 4, after: "${end}"`));
    expect(idsOf(second)).toEqual(secrets[0]?.slice(3, 7));
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const back = pagesOf(await ask('last: 2'));
    expect(back.map(idsOf)).toEqual(secrets.map((of) => of.slice(-2)));
    expect(back[1].pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const [before] = pagesOf(await ask(`last: 100, before: "${back[0].pageInfo.startCursor}"`));
    expect(idsOf(before)).toEqual(secrets[0]?.slice(0, 5));
    expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  });

  test('has its REST resource, page by page', async () => {
    const [{ uri, nextPageUri }] = pagesOf(await ask('first: 3'));
    expect(uri).toBe(`${gateway.api}/vaults/${vaults[0]}/secrets`);
    const next = await account.call('GET', nextPageUri);
    expect(next.body.secrets.map(({ id }: { id: string }) => id)).toEqual(secrets[0]?.slice(3, 6));
    expect(pagesOf(await ask('')).map((page) => page.nextPageUri)).toEqual([null, null]);
  });

  test('of another kind, too, whose list REST filters', async () => {
    for (const description of ['a', 'b']) await account.call('POST', '/api_keys', { description });
    const { body, text } = await account.graphql(
      'query ($id: ID!) { user(id: $id) { apiKeys(first: 1) { uri nextPageUri nodes { id } } } }',
      { id: account.ownerId },
    );
    expect(body.errors, text).toBeUndefined();
    const { uri, nextPageUri, nodes } = body.data.user.apiKeys;
    expect((await account.call('GET', uri)).body.keys).toHaveLength(3);
    const { keys } = (await account.call('GET', nextPageUri)).body;
    expect(keys).toHaveLength(1);
    expect(keys[0].id < nodes[0].id).toBe(true);
  });

  test('counts all that there are', async () => {
    expect(pagesOf(await ask('first: 0', 'totalCount nodes { id } pageInfo { hasNextPage }'))).toEqual(
      secrets.map(({ length }) => ({ totalCount: length, nodes: [], pageInfo: { hasNextPage: true } })),
    );
  });

  test.each([
    ['a cursor of another kind', 'after: "cr_000000000000000000000000000"', 'ERR_GATEWAY_227'],
    ['no cursor', 'before: "x"', 'ERR_GATEWAY_227'],
    ['101', 'first: 101', 'ERR_GATEWAY_233'],
    ['less than nothing', 'last: -1', 'ERR_GATEWAY_233'],
    ['both directions', 'first: 1, last: 1', 'ERR_GATEWAY_90008'],
  ])('refuses %s', async (_, args, errorCode) => {
    expect((await ask(args)).errors[0].extensions).toMatchObject({ errorCode, status: 400 });
  });

  test('needs the scope to read its kind of a key that has scopes', async () => {
    const withScopes = async (...scopes: string[]) => {
      const { body } = await account.call('POST', '/api_keys', { scopes });
      return gateway.graphql('{ vaults { nodes { secrets { totalCount } } } }', {}, { key: body.token });
    };
    expect((await withScopes('vault:read', `secret:read:${secrets[0]?.[0]}`)).body.errors[0].extensions).toMatchObject({
      errorCode: 'ERR_GATEWAY_90330',
      status: 403,
    });
    const counts = { vaults: { nodes: [{ secrets: { totalCount: 7 } }, { secrets: { totalCount: 7 } }] } };
    expect((await withScopes('vault:read', 'secret:read')).body).toEqual({ data: counts });
    expect((await withScopes('read')).body).toEqual({ data: counts });
  });
});
