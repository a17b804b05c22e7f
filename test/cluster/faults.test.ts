// Links between nodes that break or go silent, nodes that go away, agents that move, and a database that is away.

import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { certificate } from '../agent/client/peer.ts';
import { newCredential } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { isLong } from '../support/shortened.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, service, startCluster } from './support.ts';

/** In which a silent link is noticed. A visit that is not answered is given up after 12 s; milliseconds. */
const NOTICED_MS = isLong ? 3000 : 10_000;

describe.runIf(onServer)('a visitor at another node', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  /** Between the nodes. */
  let proxy: FaultProxy;
  beforeAll(async () => {
    cluster = await startCluster(2);
    [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
    const [node] = await owner.app.prisma.node.findMany({ where: { address: { startsWith: '127.0.1.1:' } } });
    const [host = '', port] = node?.address.split(':') ?? [];
    proxy = await startFaultProxy(host, Number(port));
    await owner.app.prisma.node.update({ where: { id: node?.id }, data: { address: `127.0.0.1:${proxy.port}` } });
  });
  afterEach(() => proxy?.heal());
  afterAll(async () => {
    await proxy?.close();
    await cluster?.close();
  });

  const ask = async (url: string, method = 'GET') => {
    const { status, body } = await visit(url, entry.http, { method });
    return status === 200 ? body.split(' ')[0] : (/ERR_GATEWAY_\d+/.exec(body)?.[0] ?? status);
  };

  test('of a link that is cut gets an error at once, or the answer by a new one where the request may come twice', async () => {
    const asked: (string | undefined)[] = [];
    const port = await service((request, response) => {
      // Nobody answers what is under way when the link is cut.
      const isLate = request.url === '/late' && !asked.includes(request.method);
      if (request.url === '/late') asked.push(request.method);
      if (!isLate) response.end('now');
    });
    const url = await serve(await agentAt(owner, cluster.account), port);
    for (const [method, outcome] of [
      ['POST', 'ERR_GATEWAY_90100'],
      ['GET', 'now'],
    ] as const) {
      expect(await ask(url)).toBe('now');
      const late = ask(`${url}/late`, method);
      await expect.poll(() => asked).toContain(method);
      await proxy.cut();
      expect(await late, method).toBe(outcome);
    }
    expect(await ask(url)).toBe('now');
    expect(asked).toEqual(['POST', 'GET', 'GET']);
  });

  test('of a link that is silent is told soon, and is served when it works again', async () => {
    const url = await serve(await agentAt(owner, cluster.account), await named('silent'));
    expect(await ask(url)).toBe('silent');
    proxy.shape({ outage: 'black hole' });
    const begun = performance.now();
    expect(await ask(url)).toMatch(/^ERR_GATEWAY_9010[01]$/);
    expect(performance.now() - begun).toBeLessThan(NOTICED_MS);
    await proxy.cut();
    await proxy.heal();
    await eventually(async () => expect(await ask(url)).toBe('silent'));
  });

  test('is served by whichever node an agent has moved to, and never by none', async () => {
    const client = await agentAt(owner, cluster.account);
    const domain = 'moves.tunnel.localhost';
    const url = await serve(client, await named('before'), { domain });
    expect(await ask(url)).toBe('before');
    await client.client.close();
    const there = await agentAt(entry, cluster.account);
    await serve(there, await named('after'), { domain });
    expect(await ask(url)).toBe('after');
    await eventually(async () => expect((await visit(url, owner.http)).body).toMatch(/^after/));
  });

  test('is not sent to a tunnel that is gone, also when nobody could say that it is', async () => {
    const client = await agentAt(owner, cluster.account);
    const url = await serve(client, await named('gone'));
    expect(await ask(url)).toBe('gone');
    proxy.shape({ outage: 'black hole' });
    await client.client.close();
    await proxy.cut();
    await proxy.heal();
    await eventually(async () => expect(await ask(url)).toBe('ERR_GATEWAY_3200'));
  });

  test('nobody but nodes of the cluster comes in at the port for nodes', async () => {
    const other = await certificate('localhost', '127.0.0.1');
    for (const identity of [{}, other]) {
      const socket = connectTls({ host: '127.0.0.1', port: proxy.port, rejectUnauthorized: false, ...identity });
      onTestFinished(() => void socket.destroy());
      // With TLS 1.3 a client learns only after its handshake that its certificate is refused.
      const ended = new Promise<string>((resolve) => {
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
        socket.on('close', () => resolve('closed'));
        socket.on('data', () => resolve('data'));
      });
      expect(await ended).not.toBe('data');
    }
  });
});

test.runIf(onServer)(
  'while the database is away for several leases, no session ends, and names that are known are served',
  {
    timeout: 60_000,
  },
  async () => {
    const place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    const database = await startFaultProxy(url.hostname, Number(url.port || 5432));
    onTestFinished(() => database.close());
    url.host = `127.0.0.1:${database.port}`;
    const cluster = await startCluster(2, { NODE_LEASE_MS: '1000', DATABASE_URL: url.href }, place);
    onTestFinished(() => cluster.close());
    const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
    const agents = [await agentAt(owner, cluster.account), await agentAt(entry, cluster.account)] as const;
    const there = await serve(agents[0], await named('there'));
    const here = await serve(agents[1], await named('here'));
    const met = async (name: string) => (await visit(name, entry.http)).body.split(' ')[0];
    expect([await met(there), await met(here)]).toEqual(['there', 'here']);
    const sessions = async () => {
      const { status, body } = await cluster.account.call('GET', '/tunnel_sessions');
      expect(status).toBe(200);
      return body.tunnel_sessions.map(({ id }: { id: string }) => id);
    };
    const before = await sessions();
    expect(before).toHaveLength(2);

    database.refuse();
    await database.cut();
    const lapsed = cluster.gateways.map((gateway) =>
      gateway.logged(({ msg }) => msg === 'node lease had ended, and is renewed: sessions go on'),
    );
    // Three leases, in which the leases of both have ended.
    for (const begun = performance.now(); performance.now() - begun < 3000; )
      expect([await met(there), await met(here)]).toEqual(['there', 'here']);
    await database.heal();
    await Promise.all(lapsed);
    await eventually(async () => expect(await sessions()).toEqual(before));
    expect([await met(there), await met(here)]).toEqual(['there', 'here']);
    expect(agents.map(({ identities }) => identities.length)).toEqual([1, 1]);
  },
);

test.runIf(onServer)(
  'a name that is known is served while the lease of its node has lapsed, which may be renewed',
  async () => {
    // Nobody renews it during the test.
    const cluster = await startCluster(2, { NODE_LEASE_MS: '600000' });
    onTestFinished(() => cluster.close());
    const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
    const { authtoken } = await newCredential(cluster.account);
    const raw = await rawAgent(owner);
    await raw.auth(authtoken);
    const domain = 'lapsed.tunnel.localhost';
    // Others may join a pool, so its routes are looked up again every second.
    const { Id } = await raw.bind(domain, { Extra: { Token: '', PoolingEnabled: true } });
    const ask = async () => (await visit(`http://${domain}`, entry.http)).body;
    expect(await ask()).toBe(Id);
    const { prisma } = owner.app;
    await prisma.$executeRaw`UPDATE node SET lease_until = now() - interval '1 minute' WHERE address LIKE '127.0.1.1:%'`;
    const { misses } = entry.registrar.lookups;
    while (entry.registrar.lookups.misses < misses + 2) expect(await ask()).toBe(Id);
    // What has changed is asked for at the node itself.
    const TrafficPolicy = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'deny', config: { status_code: 418 } }] }],
    });
    expect((await raw.call(10, { TunnelId: Id, TrafficPolicy })).Error).toBe('');
    await eventually(async () => expect((await visit(`http://${domain}`, entry.http)).status).toBe(418));
    raw.close();
    await eventually(async () => expect(await ask()).toMatch(/ERR_GATEWAY_/));
  },
);
