// The configuration of edges, and the certificates of domains, as the data plane gets them from the rows.

import { beforeAll, expect, test } from 'vitest';
import type { ConnectionEdgeConfig, HttpsEdgeConfig } from '../../../src/edge/edges/edge-config.ts';
import { basicAuthModule } from '../../../src/edge/modules/basic-auth.ts';
import { moduleDescriptors } from '../../../src/edge/modules/index.ts';
import { edgeConfigSource } from '../../../src/store/edges/edge-config-source.ts';
import { sealModule } from '../../../src/store/edges/module-secrets.ts';
import { newId } from '../../../src/store/ids.ts';
import { sealPrivateKey } from '../../../src/store/keys/private-keys.ts';
import { newAccount, type Store, sharedStore } from './edge-database.ts';

let store: Store;
let account: Awaited<ReturnType<typeof newAccount>>;
beforeAll(async () => {
  store = await sharedStore();
  account = await newAccount(store);
});

function start() {
  const failures: string[] = [];
  const source = edgeConfigSource({
    ...store,
    descriptors: moduleDescriptors,
    onFailure: (id) => void failures.push(id),
  });
  const edge = async <T>(id: string) => {
    const { edges } = await source.load([id]);
    return edges.find((one) => one.id === id) as T;
  };
  return { source, failures, edge };
}

test('the configuration of an HTTPS edge follows from its rows', async () => {
  const { accountId } = account;
  const { edge } = start();
  const id = await account.edge('HTTPS', [account.name('b'), account.name('a')], {
    modules: { mutualTls: { enabled: true } },
  });
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
  const modules = { trafficPolicy, requestHeaders, compression: { enabled: false } };
  const more = { modules, backendEnabled: true, backendId };
  const routeId = await account.route(id, '/api', more);

  const ofEdge = { mutualTls: { enabled: true, authorities: [{ id: authorityId, pem: 'pem' }] } };
  expect(await edge(id)).toEqual({
    kind: 'https',
    id,
    accountId,
    names: [
      { hostname: account.name('b'), port: 443, endpointId: '' },
      { hostname: account.name('a'), port: 443, endpointId },
    ],
    modules: ofEdge,
    routes: [
      {
        id: routeId,
        matchType: 'path_prefix',
        match: '/api',
        backend: { enabled: true, labels: { app: 'web' } },
        modules,
      },
    ],
  } satisfies HttpsEdgeConfig);
});

test('an address is allowed by any of the IP policies, and denied by any of them', async () => {
  const { prisma } = store;
  const { edge } = start();
  const first = await account.policy(['ALLOW', '10.0.0.0/8'], ['DENY', '10.1.0.0/16']);
  const second = await account.policy(['ALLOW', '2001:db8::/32']);
  const id = await account.edge('TLS', [account.name('ip')], { modules: { ipRestriction: { enabled: true } } });
  const empty = await account.edge('TLS', [account.name('nobody')], { modules: { ipRestriction: { enabled: true } } });
  for (const [position, policyId] of [first, second].entries())
    await prisma.edgeIpPolicy.create({ data: { edgeId: id, policyId, position } });
  await prisma.edgeIpPolicy.create({ data: { edgeId: empty, policyId: await account.policy(), position: 0 } });
  expect((await edge<ConnectionEdgeConfig>(id)).modules.ipRestriction).toEqual({
    enabled: true,
    allow: ['10.0.0.0/8', '2001:db8::/32'],
    deny: ['10.1.0.0/16'],
  });
  expect((await edge<ConnectionEdgeConfig>(empty)).modules.ipRestriction).toEqual({
    enabled: true,
    allow: [],
    deny: [],
  });
});

test('secrets are decrypted; a route whose secret cannot be decrypted has a failure, and the others are loaded', async () => {
  const { edge } = start();
  const { accountId } = account;
  const id = await account.edge('HTTPS', [account.name('secret')]);
  const settings = { enabled: true, realm: 'r', credentials: [{ username: 'u', password: 'p' }] };
  const good = await account.route(id, '/good');
  const bad = await account.route(id, '/bad');
  const owner = { table: 'route', id: good, accountId } as const;
  const modules = { basicAuth: sealModule(store.keys, owner, basicAuthModule, settings) };
  await store.prisma.route.update({ where: { id: good }, data: { modules } });
  await store.prisma.route.update({ where: { id: bad }, data: { modules } }); // Sealed for another route.
  const { routes } = await edge<HttpsEdgeConfig>(id);
  expect(routes[0]).toMatchObject({ id: good, modules: { basicAuth: settings } });
  expect(routes[0]?.failure).toBeUndefined();
  expect(routes[1]?.failure).toBeTypeOf('string');
  expect(routes[1]?.modules.basicAuth).toBeUndefined();
});

test('the certificates of domains come with their keys; one whose key cannot be decrypted is left out and reported', async () => {
  const { accountId } = account;
  const { source, failures } = start();
  const notAfter = Date.now() + 60_000;
  const certificate = async (sealedFor: string) => {
    const id = newId('cert');
    const privateKey = sealPrivateKey(store.keys, { id: sealedFor || id, accountId }, `key of ${id}`);
    const shown = { subject: {}, dnsNames: [], ips: [], issuerCommonName: '', serialNumber: '', privateKeyType: 'rsa' };
    const times = { notBefore: new Date(), notAfter: new Date(notAfter) };
    const data = { id, accountId, certificatePem: 'pem', privateKey, ...shown, ...times };
    await store.prisma.tlsCertificate.create({ data: { ...data, keyUsages: [], extendedKeyUsages: [] } });
    return id;
  };
  const good = await certificate('');
  const bad = await certificate(newId('cert'));
  const domainId = await account.domain(account.name('cert'), { certificateId: good });
  const lost = await account.domain(account.name('lost'), { certificateId: bad });
  const key = `key of ${good}`;
  const expected = [{ domainId, accountId, domain: account.name('cert'), cert: 'pem', key, notAfter }];
  expect(await source.load([domainId, lost])).toMatchObject({
    domainIds: [domainId, lost, domainId],
    certificates: expected,
  });
  expect(failures).toEqual([bad]);
  expect(await source.load([good])).toMatchObject({ domainIds: [good, domainId], certificates: expected });
  expect(await source.load([newId('edgtls')])).toMatchObject({ domainIds: [], certificates: [] });
  expect((await source.load(null)).certificates.filter((one) => one.accountId === accountId)).toEqual(expected);
});

test('edges without a name are left out, and others unless all are asked for', async () => {
  const { source } = start();
  const other = await newAccount(store);
  const named = await other.edge('TLS', [other.name('x')]);
  const nameless = await other.edge('TLS', []);
  const load = async (ids: string[] | null) => {
    const { edgeIds, edges } = await source.load(ids);
    return { edgeIds, ids: edges.map(({ id }) => id) };
  };
  expect(await load([nameless, named])).toEqual({ edgeIds: [nameless, named], ids: [named] });
  expect(await load([])).toEqual({ edgeIds: [], ids: [] });
  const all = await load(null);
  expect(all.edgeIds).toBeNull();
  expect(all.ids).toContain(named);
  expect(all.ids).not.toContain(nameless);
});

test('many edges take as few statements as one, and one of many as few as one alone', async () => {
  const { source } = start();
  const { prisma, statements } = store;
  const other = await newAccount(store);
  const policyId = await other.policy(['ALLOW', '10.0.0.0/8']);
  const backendId = await other.backend({});
  const ids: string[] = [];
  const make = async (name: string) => {
    const id = await other.edge('HTTPS', [other.name(name)]);
    const routeId = await other.route(id, '/', {
      modules: { ipRestriction: { enabled: true } },
      backendEnabled: true,
      backendId,
    });
    await prisma.routeIpPolicy.create({ data: { routeId, policyId, position: 0 } });
    ids.push(id);
  };
  const count = async (...named: string[]) => {
    statements.length = 0;
    const { edges } = await source.load(named);
    return { statements: statements.length, edges: edges.length };
  };
  await make('one');
  const alone = await count(...ids);
  expect(alone.edges).toBe(1);
  expect(alone.statements).toBeLessThanOrEqual(12);
  for (const name of ['two', 'three', 'four', 'five']) await make(name);
  expect(await count(...ids)).toEqual({ ...alone, edges: 5 });
  expect(await count(ids[2] as string)).toEqual(alone);
  const one = alone.statements + 1; // To ask whose it is, what is shared takes one more.
  expect(await count(policyId, backendId)).toEqual({ statements: one, edges: 5 });
});
