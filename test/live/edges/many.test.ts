// An account with many edges: a write to one of them costs as much as if there were no others, and is met by visitors.

import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, errorOf, newEdge, newRoute, type TestEdge, visitEdge } from './support.ts';

const MANY = 300;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  // Renewals of the lease would be counted too.
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
  account = await gateway.newAccount();
  return () => gateway.close();
});

const answering = (body: string) => ({
  enabled: true,
  value: JSON.stringify({
    on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200, body } }] }],
  }),
});
const answer = async (edge: { name: string }) => {
  const { status, body } = await visitEdge(gateway, edge);
  return status === 200 ? body : status;
};

/** Edges as they would be there since long ago, each with a route that has an IP policy. @returns their names. */
async function addMany(policyId: string): Promise<string[]> {
  const { prisma, changes } = gateway.app;
  const { accountId } = account;
  const rows = Array.from({ length: MANY }, (_, i) => ({
    name: `${i}.many.tunnel.localhost`,
    edgeId: newId('edghts'),
    domainId: newId('rd'),
    routeId: newId('edghtsrt'),
  }));
  const trafficPolicy = { ...answering('many'), sealed: null };
  await prisma.reservedDomain.createMany({
    data: rows.map(({ domainId: id, name: domain }) => ({ id, accountId, domain })),
  });
  await prisma.edge.createMany({ data: rows.map(({ edgeId: id }) => ({ id, accountId, kind: 'HTTPS' as const })) });
  await prisma.edgeHostport.createMany({
    data: rows.map(({ name, edgeId, domainId }) => ({ hostport: `${name}:443`, edgeId, domainId, position: 0 })),
  });
  await prisma.route.createMany({
    data: rows.map(({ routeId: id, edgeId }) => {
      const where = { edgeId, matchType: 'PATH_PREFIX', match: '/' } as const;
      return { id, accountId, ...where, modules: { trafficPolicy, ipRestriction: { enabled: true } } };
    }),
  });
  await prisma.routeIpPolicy.createMany({ data: rows.map(({ routeId }) => ({ routeId, policyId, position: 0 })) });
  changes.reportGap(); // As when they were written at another node, and nothing of it was heard.
  return rows.map(({ name }) => name);
}

/** What a write takes of the tables of edges: statements, and values in them. */
async function costOf(write: () => Promise<unknown>): Promise<{ statements: number; values: number }> {
  gateway.statements.length = 0;
  await write();
  const own = gateway.statements.filter((statement) => /edge|route|hostport|ip_policy|authority/.test(statement));
  const values = own.reduce((sum, statement) => sum + (statement.match(/\$\d+/g)?.length ?? 0), 0);
  return { statements: own.length, values };
}

test(`a write to one edge of ${MANY} takes what it takes where there is one`, { timeout: 60_000 }, async () => {
  const edge: TestEdge = await newEdge(account);
  const host = await newRoute(account, edge, { match: '/' });
  const { id: policyId } = await done(account, 'POST', '/ip_policies', {});
  const allow = () =>
    done(account, 'POST', '/ip_policy_rules', { ip_policy_id: policyId, cidr: '127.0.0.0/8', action: 'allow' });
  const write = (text: string) => done(account, 'PUT', `${host}/traffic_policy`, answering(text));
  await allow();
  await write('warm');
  const alone = await costOf(() => write('alone'));
  expect(await answer(edge)).toBe('alone');

  const names = await addMany(policyId);
  const few = [names[0], names[MANY - 1]].map((name) => ({ name: name as string }));
  await eventually(async () => expect(await Promise.all(few.map(answer))).toEqual(['many', 'many']));
  expect(await costOf(() => write('one of many'))).toEqual(alone);
  expect(await answer(edge)).toBe('one of many');

  // What they share is another matter: each of them is met as it is now.
  const [rule] = (await done(account, 'GET', '/ip_policy_rules')).ip_policy_rules;
  await done(account, 'DELETE', `/ip_policy_rules/${rule.id}`);
  expect(await Promise.all(few.map(answer))).toEqual([403, 403]);
  await allow();
  expect(await Promise.all(few.map(answer))).toEqual(['many', 'many']);
  expect(await answer(edge)).toBe('one of many');

  await done(account, 'DELETE', host);
  expect(errorOf(await visitEdge(gateway, edge))).toBe(90130);
  await done(account, 'DELETE', edge.at);
  expect(errorOf(await visitEdge(gateway, edge))).toBe(90100);
});
