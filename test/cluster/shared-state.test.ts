// What several gateways know together: whichever is asked answers for all.

import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { type Account, onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, startCluster } from './support.ts';

describe.runIf(onServer)('of three gateways', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  let third: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(3);
    [owner, entry, third] = cluster.gateways as [TestGateway, TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  /** Asks a gateway over GraphQL, for the account. */
  const ask = async (gateway: TestGateway, query: string, variables?: object) => {
    const { status, body } = await gateway.graphql(query, variables, { key: cluster.account.key });
    expect([status, body.errors]).toEqual([200, undefined]);
    return body.data;
  };
  const endpointAt = async (gateway: TestGateway, url: string) => {
    const { endpoints } = await ask(
      gateway,
      `{ endpoints { nodes { id publicUrl roundTrip { milliseconds partial }
         traffic { requests openConnections requestsPerSecond partial }
         tunnelSession { id roundTrip { milliseconds } } } } }`,
    );
    return endpoints.nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
  };

  test('two accounts that bind names of one site at different gateways at once: one of them gets it', async () => {
    const rival = await cluster.gateways[0]?.newAccount();
    const credentials = [await newCredential(cluster.account), await newCredential(rival as Account)];
    const protos = ['http', 'https', 'tls'];
    const agents = await Promise.all(
      cluster.gateways.flatMap((gateway) =>
        credentials.map(async ({ accountId, authtoken }) => {
          const agent = await rawAgent(gateway);
          expect((await agent.auth(authtoken)).Error).toBe('');
          return { agent, accountId };
        }),
      ),
    );
    for (let round = 0; round < 5; round++) {
      const site = `fight${round}.tunnel.localhost`;
      const answers = await Promise.all(
        agents.map(({ agent }, i) => agent.bind(`n${i}.${site}`, { Proto: protos[(i + round) % 3] })),
      );
      const owners = new Set(answers.flatMap(({ Error: text }, i) => (text === '' ? [agents[i]?.accountId] : [])));
      expect(owners.size).toBe(1);
      const [winner] = owners;
      answers.forEach((answer, i) => {
        expect(codeOf(answer)).toBe(agents[i]?.accountId === winner ? undefined : 320);
      });
      for (const { agent, accountId } of agents)
        if (accountId !== winner) expect(codeOf(await agent.bind(`late.${site}`))).toBe(320);
    }
  });

  test('each tells of the visitors that came to any of them, and of the agents of any of them', async () => {
    const url = await serve(await agentAt(owner, cluster.account), await named('counted'));
    for (const gateway of [owner, entry, entry, third]) expect((await visit(url, gateway.http)).status).toBe(200);
    for (const gateway of cluster.gateways) {
      await eventually(async () =>
        expect(await endpointAt(gateway, url)).toMatchObject({
          traffic: { requests: 4, openConnections: 0, partial: false },
          roundTrip: { milliseconds: expect.any(Number), partial: false },
          tunnelSession: { roundTrip: { milliseconds: expect.any(Number) } },
        }),
      );
      const { id, traffic } = await endpointAt(gateway, url);
      expect(traffic.requestsPerSecond).toBeGreaterThan(0);
      const { endpointTraffic } = await ask(
        gateway,
        'query ($ids: [ID!]!) { endpointTraffic(ids: $ids) { endpointId requests partial } }',
        { ids: ['ep_nobodys', id] },
      );
      expect(endpointTraffic).toEqual([{ endpointId: id, requests: 4, partial: false }]);
    }
  });

  test('each lists all of them, and says which of them an agent is connected to', async () => {
    const url = await serve(await agentAt(owner, cluster.account), await named('listed'));
    for (const gateway of cluster.gateways) {
      const { gatewayInfo, endpoints } = await ask(
        gateway,
        `{ gatewayInfo { nodes { nodeId address startedAt version sessions isReachable isAnswering } }
           endpoints { nodes { publicUrl nodeId tunnelSession { nodeId } } } }`,
      );
      const { nodes } = gatewayInfo;
      expect(nodes).toHaveLength(3);
      for (const node of nodes)
        expect(node).toMatchObject({
          address: expect.stringMatching(/^127\.0\.1\.[123]:\d+$/),
          startedAt: expect.any(String),
          version: expect.stringMatching(/^\d+\./),
          isReachable: true,
        });
      const answering = nodes.filter(({ isAnswering }: { isAnswering: boolean }) => isAnswering);
      expect(answering).toMatchObject([{ address: expect.stringContaining(new URL(gateway.api).hostname) }]);
      const endpoint = endpoints.nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
      const serving = nodes.find(({ address }: { address: string }) => address.startsWith('127.0.1.1:'));
      expect(endpoint).toMatchObject({ nodeId: serving.nodeId, tunnelSession: { nodeId: serving.nodeId } });
      expect(serving.sessions).toBeGreaterThan(0);
    }
  });

  test('each sends commands to the agents of the others, over the link between them', async () => {
    const agent = await agentAt(owner, cluster.account);
    const url = await serve(agent, await named('told'));
    const listener = new pg.Client({ connectionString: cluster.place.env.DATABASE_URL });
    await listener.connect();
    onTestFinished(() => listener.end());
    const notified: string[] = [];
    listener.on('notification', ({ payload = '' }) => notified.push(payload));
    await listener.query('LISTEN gateway_changes');
    const { tunnelSession } = await endpointAt(entry, url);
    const { id } = tunnelSession;
    const { body } = await entry.graphql(
      'mutation ($id: ID!) { restartTunnelSession(id: $id) { tunnelSessionId } }',
      { id },
      { key: cluster.account.key },
    );
    // The agent's own client restarts, or says that it does not: either way its word has come back.
    if (body.errors) expect(body.errors[0].extensions.code).toBe('CONFLICT');
    else expect(body.data).toEqual({ restartTunnelSession: { tunnelSessionId: id } });
    const echo = once(listener, 'notification');
    await listener.query("SELECT pg_notify('gateway_changes', '{}')");
    await echo;
    expect(notified.filter((payload) => payload.includes('"command"'))).toEqual([]);
  });
});

test.runIf(onServer)('what nodes count together says that it is partial within a second of a silent one', async () => {
  const cluster = await startCluster(2);
  onTestFinished(() => cluster.close());
  const [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  const proxies: FaultProxy[] = [];
  for (const node of await owner.app.prisma.node.findMany()) {
    const [host = '', port] = node.address.split(':');
    const proxy = await startFaultProxy(host, Number(port));
    proxies.push(proxy);
    onTestFinished(() => proxy.close());
    await owner.app.prisma.node.update({ where: { id: node.id }, data: { address: `127.0.0.1:${proxy.port}` } });
  }
  const url = await serve(await agentAt(entry, cluster.account), await named('silent'));
  const traffic = async () => {
    const { body } = await entry.graphql('{ endpoints { nodes { traffic { requests partial } } } }', undefined, {
      key: cluster.account.key,
    });
    return body.data.endpoints.nodes[0].traffic;
  };
  await visit(url, owner.http);
  await eventually(async () => expect(await traffic()).toEqual({ requests: 1, partial: false }));
  for (const proxy of proxies) proxy.shape({ outage: 'black hole' });
  const begun = performance.now();
  expect(await traffic()).toEqual({ requests: 0, partial: true });
  expect(performance.now() - begun).toBeLessThan(20_000);
});
