// What a write to an edge does to what it serves: its endpoints, the names it may have, the state of its breakers.

import { beforeEach, describe, expect, test } from 'vitest';
import { servedNames } from '../../src/store/tunnels/claims.ts';
import { onServer } from '../store/support.ts';
import { bound, nameRequest, newCredential, openSession, reserve } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let zones = 0;
let zone: string;
let backend: { backend_id: string };
beforeEach(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  zone = `edges-${++zones}.example.org`;
  await reserve(account, `*.${zone}`);
  backend = { backend_id: (await created('/backends/tunnel_group', { labels: { app: 'shop' } })).id };
});

/** How many statements wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await gateway.app.prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row.count;
}

const created = async (path: string, body: object = {}) => {
  const answer = await account.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const hostports = async () =>
  (await account.call('GET', '/endpoints')).body.endpoints.map(({ hostport }: { hostport: string }) => hostport).sort();

describe('the endpoints of an edge', () => {
  test('are there as long as one of its routes has a backend that is on', async () => {
    const { id: edge } = await created('/edges/https', { hostports: [`a.${zone}:443`] });
    const routes = `/edges/https/${edge}/routes`;
    const { id } = await created(routes, { match_type: 'path_prefix', match: '/' });
    expect(await hostports()).toEqual([]);
    await account.call('PUT', `${routes}/${id}/backend`, backend);
    expect(await hostports()).toEqual([`a.${zone}:443`]);
    await account.call('PATCH', `/edges/https/${edge}`, { hostports: [`b.${zone}:443`, `a.${zone}:443`] });
    expect(await hostports()).toEqual([`a.${zone}:443`, `b.${zone}:443`]);
    await account.call('PATCH', `${routes}/${id}`, { backend: { ...backend, enabled: false } });
    expect(await hostports()).toEqual([]);
    await created(routes, { match_type: 'exact_path', match: '/', backend });
    expect(await hostports()).toHaveLength(2);
    await account.call('DELETE', `${routes}/${id}`);
    expect(await hostports()).toHaveLength(2);
  });

  test('go with its last route, and with itself, and that is told', async () => {
    const told: string[] = [];
    const stop = gateway.app.changes.listen(({ kind, action, accountId }) => {
      if (kind === 'endpoint' && accountId === account.accountId) told.push(action);
    });
    const https = await created('/edges/https', { hostports: [`a.${zone}:443`] });
    const path = `/edges/https/${https.id}/routes`;
    const route = await created(path, { match_type: 'path_prefix', match: '/', backend });
    await account.call('DELETE', `${path}/${route.id}`);
    expect(told).toEqual(['CREATED', 'DELETED']);
    const tls = await created('/edges/tls', { hostports: [`t.${zone}:443`], backend });
    expect(await account.call('DELETE', `/edges/tls/${tls.id}`)).toMatchObject({ status: 204 });
    expect(told).toEqual(['CREATED', 'DELETED', 'CREATED', 'DELETED']);
    expect(await hostports()).toEqual([]);
    stop();
  });
});

describe('a name that an agent serves', () => {
  test.each(['http', 'https'] as const)('by %s is no edge’s before the tunnel has ended', async (proto) => {
    const hostname = `agent.${zone}`;
    const session = await openSession(gateway, await newCredential(account));
    const { tunnelId } = bound(await gateway.registrar.bind(nameRequest(session, hostname, { proto, port: 443 })));
    const body = { hostports: [`free.${zone}:443`, `AGENT.${zone}:443`] };
    const answer = await account.call('POST', '/edges/tls', body);
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_7132' } });
    expect(answer.body.msg).toContain('hostports[1]');
    await gateway.registrar.tunnelClosed(session, tunnelId);
    await created('/edges/tls', body);
    const again = nameRequest(session, hostname, { proto, port: 443 });
    expect(await gateway.registrar.bind(again)).toEqual({ refused: 'onEdge', target: hostname });
  });

  test.each(['edge', 'cloud endpoint'])('is refused to the agent whose bind an %s overtook', async (winner) => {
    const { app, registrar } = gateway;
    const hostname = `raced-by-${winner.slice(0, 5)}.${zone}`;
    const edge = (await created('/edges/tls')).id as string;
    const session = await openSession(gateway, await newCredential(account));
    const domain = await app.prisma.reservedDomain.findFirstOrThrow({ where: { accountId: account.accountId } });
    // As the API does it, but that it is not over when the agent asks.
    const { answer } = await app.prisma.$transaction(async (db) => {
      expect(await servedNames(db, account.accountId, [hostname])).toEqual(new Map());
      const binding = registrar.bind(nameRequest(session, hostname, { proto: 'https', port: 443 }));
      // One connection is all that the embedded database has: there, the agent's turn comes when this is over.
      if (onServer) await expect.poll(waiting, { interval: 10 }).toBe(1);
      const common = { edgeId: edge, domainId: domain.id };
      const url = { accountId: account.accountId, proto: 'https', hostname, port: 443, pooling: false };
      if (winner === 'edge')
        await db.edgeHostport.create({ data: { ...common, hostport: `${hostname}:443`, position: 0 } });
      else await db.cloudUrl.create({ data: { ...common, ...url, address: `tls:${hostname}` } });
      return { answer: binding };
    });
    expect(await answer).toEqual({ refused: 'onEdge', target: hostname });
    expect(await app.prisma.claim.count({ where: { address: { endsWith: hostname } } })).toBe(0);
  });
});

describe('the state of a circuit breaker', () => {
  const state = async (edgeId: string, id: string) => {
    const query =
      'query ($edgeId: ID!, $id: ID!) { httpsEdgeRoute(edgeId: $edgeId, id: $id) ' +
      '{ circuitBreakerState { state requests failures retryIn } } }';
    const { body } = await account.graphql(query, { edgeId, id });
    expect(body.errors).toBeUndefined();
    return body.data.httpsEdgeRoute.circuitBreakerState;
  };

  test('is shown as long as the module is on', async () => {
    const { id: edge } = await created('/edges/https', { hostports: [`a.${zone}:443`] });
    const route = { match_type: 'path_prefix', match: '/', backend };
    const { id } = await created(`/edges/https/${edge}/routes`, route);
    expect(await state(edge, id)).toBeNull();
    const breaker = `/edges/https/${edge}/routes/${id}/circuit_breaker`;
    await account.call('PUT', breaker, {});
    expect(await state(edge, id)).toEqual({ state: 'CLOSED', requests: 0, failures: 0, retryIn: null });
    await account.call('PUT', breaker, { enabled: false });
    expect(await state(edge, id)).toBeNull();
  });
});
