// Rate limits that a Redis server counts for several gateways.

import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testBuses, throughPort } from '../support/buses.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, startCluster } from './support.ts';

/** The gateways tell each other nothing during a test, unless it waits for that. */
const NEVER_MS = '3600000';
const AT_ONCE = 30;

const redis = testBuses.find(({ name }) => name === 'redis');

const isThere = onServer && redis?.isThere === true;

test.runIf(isThere)(
  'a Redis server that does not allow to count is not used, and the limits hold without it',
  async () => {
    const admin = createClient({ url: redis?.url ?? '' });
    await admin.connect();
    const user = `gateway-test-${process.pid}`;
    onTestFinished(async () => {
      await admin.sendCommand(['ACL', 'DELUSER', user]);
      admin.destroy();
    });
    await admin.sendCommand(['ACL', 'SETUSER', user, 'on', '>secret', '~*', '+@connection']);
    const url = new URL(redis?.url ?? '');
    url.username = user;
    url.password = 'secret';
    const cluster = await startCluster(1, { LIMITS_URL: url.href });
    onTestFinished(() => cluster.close());
    const [gateway] = cluster.gateways as [TestGateway];
    await gateway.logged(({ msg }) => /^Redis \(LIMITS_URL\) does not answer/.test(String(msg)));
    expect(await (await fetch(`${gateway.admin}/metrics`)).text()).toContain('\ngateway_limits_connected 0\n');
    const config = {
      name: 'two',
      algorithm: 'sliding_window',
      capacity: 2,
      rate: '60s',
      bucket_key: ['conn.client_ip'],
    };
    const policy = { on_http_request: [{ actions: [{ type: 'rate-limit', config }] }] };
    const served = await serve(await agentAt(gateway, cluster.account), await named('refused'), { policy });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await visit(served, gateway.http)).status);
    expect(statuses).toEqual([200, 200, 429]);
  },
);

describe.skipIf(!isThere)('over two gateways with LIMITS_URL', () => {
  let proxy: FaultProxy;
  let cluster: Cluster;
  let gateways: [TestGateway, TestGateway];
  beforeAll(async () => {
    const { url = '' } = redis ?? {};
    proxy = await startFaultProxy(new URL(url).hostname, Number(new URL(url).port));
    const limits = { LIMITS_URL: throughPort(url, proxy.port), LIMIT_SHARE_MS: NEVER_MS };
    cluster = await startCluster(2, limits);
    gateways = cluster.gateways as [TestGateway, TestGateway];
    await isConnected('1');
  });
  afterAll(async () => {
    await cluster?.close();
    await proxy?.close();
  });

  const isConnected = async (value: '0' | '1') => {
    for (const { admin } of cluster.gateways)
      await eventually(async () =>
        expect(await (await fetch(`${admin}/metrics`)).text()).toContain(`\ngateway_limits_connected ${value}\n`),
      );
  };

  /** Serves a tunnel with a limit. @returns visits it by both gateways in turn, all at once, and counts the answers. */
  async function limited(capacity: number, rate = '60s') {
    const config = { name: 'all', algorithm: 'sliding_window', capacity, rate, bucket_key: ['conn.client_ip'] };
    const policy = { on_http_request: [{ actions: [{ type: 'rate-limit', config }] }] };
    const url = await serve(await agentAt(gateways[0], cluster.account), await named('exact'), { policy });
    return async (count: number) => {
      const answers: Record<number, number> = {};
      for (let at = 0; at < count; at += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, i) => gateways[(at + i) % 2]);
        for (const { status } of await Promise.all(some.map((gateway) => visit(url, (gateway as TestGateway).http))))
          answers[status] = (answers[status] ?? 0) + 1;
      }
      return answers;
    };
  }

  const unanswered = () =>
    gateways.reduce((sum, { logs }) => sum + logs.filter((line) => line.includes('does not answer')).length, 0);

  /**
   * The answers of a limit that only Redis has counted. A gateway that has waited for 250 ms counts by itself, as the tests below
   * show; on a busy machine that happens, and then the visits begin anew at another tunnel.
   */
  async function counted(capacity: number, count: number) {
    for (;;) {
      await isConnected('1');
      const before = unanswered();
      const answers = await (await limited(capacity))(count);
      if (unanswered() === before) return answers;
    }
  }

  test('as many are let in as the limit says, and not one more', async () => {
    expect(await counted(50, 200)).toEqual({ 200: 50, 429: 150 });
  });

  test('a large limit, whose times are merged, lets in as many as it says', async () => {
    expect(await counted(1500, 1600)).toEqual({ 200: 1500, 429: 100 });
  });

  test('who is refused learns when to come again', async () => {
    const config = {
      name: 'one',
      algorithm: 'sliding_window',
      capacity: 1,
      rate: '60s',
      bucket_key: ['conn.client_ip'],
    };
    const policy = { on_http_request: [{ actions: [{ type: 'rate-limit', config }] }] };
    const url = await serve(await agentAt(gateways[0], cluster.account), await named('exact'), { policy });
    expect((await visit(url, gateways[0].http)).status).toBe(200);
    const { status, headers } = await visit(url, gateways[1].http);
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  test.each(['cut', 'silent'] as const)(
    'while Redis is %s, each gateway goes on from what was counted; then Redis counts again',
    async (outage) => {
      const ask = await limited(20);
      expect(await ask(10)).toEqual({ 200: 10 });
      if (outage === 'cut') {
        proxy.refuse();
        await proxy.cut();
        await isConnected('0');
      } else proxy.shape({ outage: 'black hole' });
      const { accepted } = proxy;
      // Of the 10 that are left each lets in 15: it knows of the 5 that it has let in before.
      expect(await ask(60)).toEqual({ 200: 30, 429: 30 });
      // A silent server is connected again and again: no attempt waits for ever.
      if (outage === 'silent')
        await eventually(() => expect(proxy.accepted).toBeGreaterThanOrEqual(accepted + 2 * gateways.length));
      await proxy.cut();
      await proxy.heal();
      await isConnected('1');
      // Redis knows of the first 10 only.
      await eventually(async () => expect(await ask(1)).toEqual({ 200: 1 }));
      expect(await ask(40)).toEqual({ 200: 9, 429: 31 });
    },
  );
});
