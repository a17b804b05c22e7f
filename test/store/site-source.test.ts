import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HttpsEdgeConfig, TlsEdgeConfig } from '../../src/edge/sites/source.ts';
import type { Change } from '../../src/store/changes.ts';
import { newId } from '../../src/store/ids.ts';
import { sealModule } from '../../src/store/module-secrets.ts';
import { siteSource } from '../../src/store/site-source.ts';
import { sealPrivateKey } from '../../src/store/tls-certificate.ts';
import { newAccount, type Store, sharedStore } from './configured.ts';

let store: Store;
let account: Awaited<ReturnType<typeof newAccount>>;
beforeAll(async () => {
  store = await sharedStore();
  account = await newAccount(store);
});

function start() {
  const failures: string[] = [];
  const source = siteSource({ ...store, onFailure: (id) => void failures.push(id) });
  const edge = async <T>(id: string) => {
    const { edges } = await source.load([account.accountId]);
    return edges.find((one) => one.id === id) as T;
  };
  return { source, failures, edge };
}

test('an HTTPS edge is as its rows say', async () => {
  const { accountId } = account;
  const { edge } = start();
  const id = await account.edge('HTTPS', [account.name('b'), account.name('a')], { mutualTlsEnabled: true });
  const times = { notBefore: new Date(), notAfter: new Date() };
  const authorityId = newId('ca');
  const authority = { id: authorityId, accountId, caPem: 'pem', subjectCommonName: 'x', keyUsages: [], ...times };
  await store.prisma.certificateAuthority.create({ data: { ...authority, extendedKeyUsages: [] } });
  await store.prisma.mutualTlsAuthority.create({ data: { edgeId: id, authorityId, position: 0 } });
  const endpointId = newId('ep');
  const endpoint = { id: endpointId, accountId, edgeId: id, type: 'EDGE', proto: 'https', publicUrl: '' } as const;
  await store.prisma.endpoint.create({ data: { ...endpoint, hostport: `${account.name('a')}:443` } });
  const trafficPolicy = { enabled: true, value: 'on_http_request: []' };
  const requestHeaders = { enabled: true, add: { 'x-a': '1' }, remove: ['x-b'] };
  const backendId = await account.backend({ app: 'web' });
  const more = { trafficPolicy, requestHeaders, compression: { enabled: false }, backendEnabled: true, backendId };
  const routeId = await account.route(id, '/api', more);

  expect(await edge(id)).toEqual({
    kind: 'https',
    id,
    accountId,
    names: [
      { hostname: account.name('b'), endpointId: '' },
      { hostname: account.name('a'), endpointId },
    ],
    mutualTls: { enabled: true, authorities: [{ id: authorityId, pem: 'pem' }] },
    tlsTermination: undefined,
    routes: [
      {
        id: routeId,
        matchType: 'path_prefix',
        match: '/api',
        backend: { enabled: true, labels: { app: 'web' } },
        modules: { trafficPolicy, requestHeaders, compression: { enabled: false } },
      },
    ],
  } satisfies HttpsEdgeConfig);
});

test('who IP policies allow are those of any of them, and who one denies is denied', async () => {
  const { prisma } = store;
  const { edge } = start();
  const first = await account.policy(['ALLOW', '10.0.0.0/8'], ['DENY', '10.1.0.0/16']);
  const second = await account.policy(['ALLOW', '2001:db8::/32']);
  const id = await account.edge('TLS', [account.name('ip')], { ipRestriction: true });
  const empty = await account.edge('TLS', [account.name('nobody')], { ipRestriction: true });
  for (const [position, policyId] of [first, second].entries())
    await prisma.edgeIpPolicy.create({ data: { edgeId: id, policyId, position } });
  await prisma.edgeIpPolicy.create({ data: { edgeId: empty, policyId: await account.policy(), position: 0 } });
  expect((await edge<TlsEdgeConfig>(id)).modules.ipRestriction).toEqual({
    enabled: true,
    allow: ['10.0.0.0/8', '2001:db8::/32'],
    deny: ['10.1.0.0/16'],
  });
  expect((await edge<TlsEdgeConfig>(empty)).modules.ipRestriction).toEqual({ enabled: true, allow: [], deny: [] });
});

test('secrets are opened; a route whose secret cannot be says so, and the others are loaded', async () => {
  const { edge } = start();
  const { accountId } = account;
  const id = await account.edge('HTTPS', [account.name('secret')]);
  const settings = { enabled: true, realm: 'r', credentials: [{ username: 'u', password: 'p' }] };
  const good = await account.route(id, '/good');
  const bad = await account.route(id, '/bad');
  const basicAuth = sealModule(store.keys, { id: good, accountId }, settings);
  await store.prisma.route.update({ where: { id: good }, data: { basicAuth } });
  await store.prisma.route.update({ where: { id: bad }, data: { basicAuth } }); // Sealed for another route.
  const { routes } = await edge<HttpsEdgeConfig>(id);
  expect(routes[0]).toMatchObject({ id: good, modules: { basicAuth: settings } });
  expect(routes[0]?.failure).toBeUndefined();
  expect(routes[1]?.failure).toBeTypeOf('string');
  expect(routes[1]?.modules.basicAuth).toBeUndefined();
});

test('the certificates of domains come with their keys; one that cannot be opened is left out and told of', async () => {
  const { accountId } = account;
  const { source, failures } = start();
  const certificate = async (sealedFor: string) => {
    const id = newId('cert');
    const privateKey = sealPrivateKey(store.keys, { id: sealedFor || id, accountId }, `key of ${id}`);
    const shown = { subject: {}, dnsNames: [], ips: [], issuerCommonName: '', serialNumber: '', privateKeyType: 'rsa' };
    const times = { notBefore: new Date(), notAfter: new Date() };
    const data = { id, accountId, certificatePem: 'pem', privateKey, ...shown, ...times };
    await store.prisma.tlsCertificate.create({ data: { ...data, keyUsages: [], extendedKeyUsages: [] } });
    return id;
  };
  const good = await certificate('');
  const bad = await certificate(newId('cert'));
  await account.domain(account.name('cert'), { certificateId: good });
  await account.domain(account.name('lost'), { certificateId: bad });
  const { certificates } = await source.load([accountId]);
  expect(certificates).toEqual([{ accountId, domain: account.name('cert'), cert: 'pem', key: `key of ${good}` }]);
  expect(failures).toEqual([bad]);
});

test('edges without a name are left out, and other accounts’ edges unless all are asked for', async () => {
  const { source } = start();
  const other = await newAccount(store);
  const named = await other.edge('TLS', [other.name('x')]);
  const nameless = await other.edge('TLS', []);
  const ids = async (accounts: string[] | null) => (await source.load(accounts)).edges.map(({ id }) => id);
  expect(await ids([other.accountId])).toEqual([named]);
  expect(await ids([account.accountId])).not.toContain(named);
  const all = await ids(null);
  expect(all).toContain(named);
  expect(all).not.toContain(nameless);
  expect(await ids([])).toEqual([]);
});

test('many edges take as few statements as one', async () => {
  const { source } = start();
  const { prisma, statements } = store;
  const other = await newAccount(store);
  const policyId = await other.policy(['ALLOW', '10.0.0.0/8']);
  const make = async (name: string) => {
    const id = await other.edge('HTTPS', [other.name(name)]);
    const more = { ipRestriction: true, backendEnabled: true, backendId: await other.backend({}) };
    const routeId = await other.route(id, '/', more);
    await prisma.routeIpPolicy.create({ data: { routeId, policyId, position: 0 } });
  };
  const count = async () => {
    statements.length = 0;
    await source.load([other.accountId]);
    return statements.length;
  };
  await make('one');
  const few = await count();
  for (const name of ['two', 'three', 'four', 'five']) await make(name);
  expect(await count()).toBe(few);
  expect(few).toBeLessThanOrEqual(20);
});

describe('who listens to changes', () => {
  const announce = (...changes: Change[]) =>
    store.changes.transaction(store.prisma, async (_, tell) => {
      for (const change of changes) tell(change);
    });
  const change = (kind: string, accountId: string): Change => ({ kind, action: 'UPDATED', id: 'x', accountId });

  test('hears which accounts they are of, when edges are made of what changed, and of all when some were missed', async () => {
    const heard: unknown[] = [];
    const { source } = start();
    const stop = source.onChange(async (ids) => void heard.push(ids));
    onTestFinished(stop);
    await announce(change('tunnel', 'ac_1'), change('endpoint', 'ac_1'), change('credential', 'ac_1'));
    expect(heard).toEqual([]);
    await announce(change('httpsEdge', 'ac_1'), change('ipPolicyRule', 'ac_2'), change('httpsEdgeRoute', 'ac_1'));
    store.changes.gap();
    stop();
    await announce(change('tlsEdge', 'ac_3'));
    store.changes.gap();
    expect(heard).toEqual([['ac_1', 'ac_2'], null]);
  });
});
