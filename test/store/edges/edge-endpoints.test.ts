import { beforeAll, describe, expect, test } from 'vitest';
import {
  deleteEdgeEndpoints,
  syncAllEdgeEndpoints,
  syncEdgeEndpoints,
} from '../../../src/store/edges/edge-endpoints.ts';
import { heard, newAccount, type Store, sharedStore } from './edge-database.ts';

let store: Store;
let account: Awaited<ReturnType<typeof newAccount>>;
beforeAll(async () => {
  store = await sharedStore();
  account = await newAccount(store);
});

const sync = (edgeId: string) =>
  store.changes.transaction(store.prisma, (db, announce) =>
    syncEdgeEndpoints({ db, announce, baseUrl: store.baseUrl() }, edgeId),
  );
const endpointsOf = (edgeId: string) =>
  store.prisma.endpoint.findMany({ where: { edgeId }, orderBy: { hostport: 'asc' } });
const appearance = { region: 'here', publicHttpPort: 8080, publicHttpsPort: 8443 };

describe('an edge is active', () => {
  const on = async () => ({ backendEnabled: true, backendId: await account.backend({ a: '1' }) });

  test.each<[string, boolean, () => Promise<string>]>([
    ['an HTTPS edge without routes', false, () => account.edge('HTTPS', [account.name('no-routes')])],
    [
      'an HTTPS edge whose route has no backend',
      false,
      async () => {
        const id = await account.edge('HTTPS', [account.name('no-backend')]);
        await account.route(id, '/');
        return id;
      },
    ],
    [
      'an HTTPS edge whose route has a backend that is off',
      false,
      async () => {
        const id = await account.edge('HTTPS', [account.name('off')]);
        await account.route(id, '/', { ...(await on()), backendEnabled: false });
        return id;
      },
    ],
    [
      'an HTTPS edge one of whose routes has a backend',
      true,
      async () => {
        const id = await account.edge('HTTPS', [account.name('on')]);
        await account.route(id, '/');
        await account.route(id, '/a', await on());
        return id;
      },
    ],
    ['a TLS edge without a backend', false, () => account.edge('TLS', [account.name('tls-none')])],
    [
      'a TLS edge whose backend is off',
      false,
      async () => account.edge('TLS', [account.name('tls-off')], { ...(await on()), backendEnabled: false }),
    ],
    ['a TLS edge with a backend', true, async () => account.edge('TLS', [account.name('tls-on')], await on())],
    ['an edge with a backend and no hostports', false, async () => account.edge('TLS', [], await on())],
  ])('%s: %s', async (_, isActive, make) => {
    const id = await make();
    await sync(id);
    expect(await endpointsOf(id)).toHaveLength(isActive ? 1 : 0);
  });
});

test('each hostport of an active edge is an endpoint of no node, which says what the edge says', async () => {
  const names = [account.name('b'), `*.${account.name('a')}`];
  const backendId = await account.backend({});
  const id = await account.edge('TLS', names, { metadata: 'mine', backendEnabled: true, backendId });
  const announced = heard(store);
  await syncAllEdgeEndpoints(store, appearance);
  const rows = await endpointsOf(id);
  expect(rows.map(({ hostport, publicUrl }) => [hostport, publicUrl])).toEqual([
    [`*.${account.name('a')}:443`, `tls://*.${account.name('a')}:8443`],
    [`${account.name('b')}:443`, `tls://${account.name('b')}:8443`],
  ]);
  for (const row of rows) {
    const shared = { accountId: account.accountId, type: 'EDGE', proto: 'tls', metadata: 'mine', region: 'here' };
    expect(row).toMatchObject({ ...shared, nodeId: null, address: null, tunnelId: null, edgeId: id });
    expect(row.domainId).toMatch(/^rd_/);
    expect(announced).toContainEqual({
      kind: 'endpoint',
      action: 'CREATED',
      id: row.id,
      accountId: account.accountId,
    });
  }
});

test('an endpoint keeps its id while it is active, and only real changes are announced', async () => {
  await syncAllEdgeEndpoints(store, appearance);
  const id = await account.edge('HTTPS', [account.name('c1'), account.name('c2')]);
  const route = await account.route(id, '/', { backendEnabled: true, backendId: await account.backend({}) });
  await sync(id);
  const before = await endpointsOf(id);
  const announced = heard(store);

  await sync(id);
  expect(announced).toEqual([]);

  await store.prisma.edge.update({ where: { id }, data: { metadata: 'new' } });
  await store.prisma.edgeHostport.delete({ where: { hostport: `${account.name('c1')}:443` } });
  await sync(id);
  const [kept, ...more] = await endpointsOf(id);
  expect(more).toEqual([]);
  expect(kept).toMatchObject({ id: before[1]?.id, metadata: 'new', createdAt: before[1]?.createdAt });
  expect(announced.map((change) => [change.action, change.id])).toEqual([
    ['UPDATED', before[1]?.id],
    ['DELETED', before[0]?.id],
  ]);

  await store.prisma.route.update({ where: { id: route }, data: { backendEnabled: false } });
  await sync(id);
  expect(await endpointsOf(id)).toEqual([]);
  await store.prisma.route.update({ where: { id: route }, data: { backendEnabled: true } });
  await sync(id);
  expect((await endpointsOf(id))[0]?.id).not.toBe(kept?.id);
});

test('a start with another region and port brings all up to date', async () => {
  const backendId = await account.backend({});
  const id = await account.edge('TLS', [account.name('port')], { backendEnabled: true, backendId });
  await syncAllEdgeEndpoints(store, appearance);
  const [before] = await endpointsOf(id);
  await syncAllEdgeEndpoints(store, { region: '', publicHttpPort: 80, publicHttpsPort: 443 });
  const [after] = await endpointsOf(id);
  expect(after).toMatchObject({ id: before?.id, region: '', publicUrl: `tls://${account.name('port')}` });
});

test('deleting an edge announces the end of its endpoints', async () => {
  const backendId = await account.backend({});
  const id = await account.edge('TLS', [account.name('gone')], { backendEnabled: true, backendId });
  await sync(id);
  const [row] = await endpointsOf(id);
  const announced = heard(store);
  await store.changes.transaction(store.prisma, async (db, announce) => {
    await deleteEdgeEndpoints({ db, announce, baseUrl: store.baseUrl() }, id);
    await db.edge.delete({ where: { id } });
  });
  expect(announced).toEqual([{ kind: 'endpoint', action: 'DELETED', id: row?.id, accountId: account.accountId }]);
});

test('concurrent writes to an edge leave it with the endpoints of its final state', async () => {
  const id = await account.edge('HTTPS', [account.name('race')]);
  const backendId = await account.backend({});
  for (let round = 0; round < 5; round++) {
    const routes = [await account.route(id, `/a${round}`), await account.route(id, `/b${round}`)];
    const write = (route: string | undefined, backendEnabled: boolean) =>
      store.changes.transaction(store.prisma, async (db, announce) => {
        await db.route.update({ where: { id: route }, data: { backendEnabled, backendId } });
        await syncEdgeEndpoints({ db, announce, baseUrl: store.baseUrl() }, id);
      });
    await Promise.all([write(routes[0], true), write(routes[1], true)]);
    expect(await endpointsOf(id)).toHaveLength(1);
    await Promise.all([write(routes[0], false), write(routes[1], false)]);
    expect(await endpointsOf(id)).toHaveLength(0);
  }
});
