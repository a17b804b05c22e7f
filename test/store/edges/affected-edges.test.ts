// Which edges are loaded again when an object that they are made of changes.

import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { moduleDescriptors } from '../../../src/edge/modules/index.ts';
import type { Change } from '../../../src/store/changes/changes.ts';
import { edgeConfigSource } from '../../../src/store/edges/edge-config-source.ts';
import { newId } from '../../../src/store/ids.ts';
import { newAccount, type Store, sharedStore } from './edge-database.ts';

let store: Store;

beforeAll(async () => {
  store = await sharedStore();
});

const start = () => ({
  source: edgeConfigSource({ ...store, descriptors: moduleDescriptors, onFailure: () => {} }),
});

describe('what is made of an object', () => {
  /** Two edges with a route each that share a backend, a policy and an authority, and one that has no part in them. */
  async function sharing() {
    const { prisma } = store;
    const own = await newAccount(store);
    const { accountId } = own;
    const backendId = await own.backend({ app: 'web' });
    const policyId = await own.policy(['ALLOW', '10.0.0.0/8']);
    const [rule] = await prisma.ipPolicyRule.findMany({ where: { policyId } });
    const authorityId = newId('ca');
    const times = { notBefore: new Date(), notAfter: new Date() };
    const authority = { id: authorityId, accountId, caPem: 'pem', subjectCommonName: 'x', keyUsages: [], ...times };
    await prisma.certificateAuthority.create({ data: { ...authority, extendedKeyUsages: [] } });
    const tls = await own.edge('TLS', [own.name('t')], {
      backendId,
      backendEnabled: true,
      modules: { ipRestriction: { enabled: true } },
    });
    const https = await own.edge('HTTPS', [own.name('h')], { modules: { mutualTls: { enabled: true } } });
    const routeId = await own.route(https, '/', {
      backendId,
      backendEnabled: true,
      modules: { ipRestriction: { enabled: true } },
    });
    const other = await own.edge('HTTPS', [own.name('o')]);
    await own.route(other, '/');
    await prisma.edgeIpPolicy.create({ data: { edgeId: tls, policyId, position: 0 } });
    await prisma.routeIpPolicy.create({ data: { routeId, policyId, position: 0 } });
    await prisma.mutualTlsAuthority.create({ data: { edgeId: https, authorityId, position: 0 } });
    return { tls, https, routeId, other, backendId, policyId, ruleId: rule?.id ?? '', authorityId };
  }

  test('is every edge that has a part in it, and no other', async () => {
    const { source } = start();
    const { tls, https, routeId, other, backendId, policyId, ruleId, authorityId } = await sharing();
    const made = async (...ids: string[]) => {
      const { edgeIds, edges } = await source.load(ids);
      expect(edges.map(({ id }) => id).sort()).toEqual(edgeIds?.toSorted());
      return edgeIds?.toSorted();
    };
    const both = [tls, https].sort();
    expect(await made(tls)).toEqual([tls]);
    expect(await made(routeId)).toEqual([https]);
    expect(await made(backendId)).toEqual(both);
    expect(await made(policyId)).toEqual(both);
    expect(await made(ruleId)).toEqual(both);
    expect(await made(authorityId)).toEqual([https]);
    expect(await made(newId('bkdtg'), newId('ipr'))).toEqual([]);
    expect(await made(routeId, policyId, other)).toEqual([...both, other].sort());
  });

  test('is known of what was deleted, until what is left of it is live', async () => {
    const { prisma } = store;
    const { source } = start();
    const { tls, https, routeId, ruleId } = await sharing();
    (await source.load(null)).applied();
    await prisma.ipPolicyRule.delete({ where: { id: ruleId } });
    await prisma.route.delete({ where: { id: routeId } });
    const load = async () => {
      const loaded = await source.load([ruleId, routeId]);
      return { ...loaded, edgeIds: loaded.edgeIds?.toSorted() };
    };
    const first = await load();
    expect(first.edgeIds).toEqual([tls, https].sort());
    expect(first.edges.find(({ id }) => id === https)).toMatchObject({ routes: [] });
    expect(first.edges.find(({ id }) => id === tls)).toMatchObject({ modules: { ipRestriction: { allow: [] } } });
    const again = await load();
    expect(again.edgeIds).toEqual(first.edgeIds);
    again.applied();
    expect((await load()).edgeIds).toEqual([]);
  });
});

describe('who listens to changes', () => {
  const announce = (...changes: Change[]) =>
    store.changes.transaction(store.prisma, async (_, tell) => {
      for (const change of changes) tell(change);
    });
  const change = (kind: string, id: string): Change => ({ kind, action: 'UPDATED', id, accountId: 'ac_1' });

  test('hears which objects they are of, when edges are made of such, and of all when some were missed or not named', async () => {
    const heard: unknown[] = [];
    const { source } = start();
    const stop = source.onChange(async (ids) => void heard.push(ids));
    onTestFinished(stop);
    await announce(change('tunnel', newId('tn')), change('endpoint', newId('ep')), change('credential', newId('cr')));
    expect(heard).toEqual([]);
    const [edge, rule] = [newId('edghts'), newId('ipr')];
    await announce(change('httpsEdge', edge), change('ipPolicyRule', rule), change('httpsEdge', edge));
    store.changes.reportGap();
    await announce(change('httpsEdge', edge), change('tlsEdge', 'x'));
    await announce(change('tlsEdge', 'edgtls_\0'));
    stop();
    await announce(change('tlsEdge', newId('edgtls')));
    store.changes.reportGap();
    expect(heard).toEqual([[edge, rule], null, null, null]);
  });
});
