// Pools over several nodes: cloud endpoints are at each of them, and take turns with the tunnels of others, too.

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newCredential, reserve } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { type Cluster, startCluster } from './support.ts';

const onRequest = (type: string, config: object) =>
  JSON.stringify({ on_http_request: [{ actions: [{ type, config }] }] });
const onConnect = (type: string, config: object) =>
  JSON.stringify({ on_tcp_connect: [{ actions: [{ type, config }] }] });

describe.runIf(onServer)('a cloud endpoint', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(2);
    [owner, entry] = cluster.gateways as [TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  async function make(url: string, policy: string, pooling = true): Promise<string> {
    const body = { url, traffic_policy: policy, pooling_enabled: pooling };
    const answer = await cluster.account.call('POST', '/cloud_endpoints', body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body.id;
  }

  async function newAgent() {
    const agent = await rawAgent(owner);
    expect((await agent.auth((await newCredential(cluster.account)).authtoken)).Error).toBe('');
    const join = async (url: string) => {
      const [Proto = ''] = url.split(':');
      const bound = await agent.bind('', { Proto, Opts: { URL: url }, Extra: { PoolingEnabled: true } });
      expect(bound.Error).toBe('');
      return bound.Id as string;
    };
    return { agent, join };
  }

  async function count(times: number, ask: () => Promise<string>): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let i = 0; i < times; i++) {
      const answer = await ask();
      counts[answer] = (counts[answer] ?? 0) + 1;
    }
    return counts;
  }

  async function overTcp({ tcpHost, port }: { tcpHost: string; port: number }): Promise<string> {
    const socket = connect(port, tcpHost);
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\n\r\n');
    let got = '';
    try {
      for await (const chunk of socket) {
        got += chunk;
        if (/\r\n\r\n.+/s.test(got)) break;
      }
    } catch {
      // It was cut, which an answer of nothing says.
    }
    return got.split('\r\n\r\n')[1] ?? '';
  }
  const at = ({ http }: TestGateway, addr: string) => ({
    tcpHost: http.split(':')[0] ?? '',
    port: Number(addr.split(':')[1]),
  });

  test('at a name takes turns with an agent of the other node, and serves alone without it', async () => {
    await reserve(cluster.account, 'pool.tunnel.localhost');
    const url = 'http://pool.tunnel.localhost';
    await make(url, onRequest('custom-response', { status_code: 200, content: 'cloud' }));
    const { agent, join } = await newAgent();
    const ask = (gateway: TestGateway) => async () => String((await visit(url, gateway.http)).body);
    await eventually(async () => expect(await count(2, ask(entry))).toEqual({ cloud: 2 }));
    const tunnel = await join(url);
    for (const gateway of cluster.gateways)
      await eventually(async () => expect(await count(6, ask(gateway))).toEqual({ cloud: 3, [tunnel]: 3 }));
    agent.close();
    for (const gateway of cluster.gateways)
      await eventually(async () => expect(await count(4, ask(gateway))).toEqual({ cloud: 4 }));
  });

  test('at an internal URL does, too', async () => {
    const url = 'https://pool.internal:8443';
    await make(url, onRequest('custom-response', { status_code: 200, content: 'cloud' }));
    await reserve(cluster.account, 'door.tunnel.localhost');
    await make('http://door.tunnel.localhost', onRequest('forward-internal', { url }), false);
    const { join } = await newAgent();
    const tunnel = await join(url);
    const ask = async () => String((await visit('http://door.tunnel.localhost', entry.http)).body);
    await eventually(async () => expect(await count(6, ask)).toEqual({ cloud: 3, [tunnel]: 3 }));
  });

  test('that sends visitors to an agent of the other node is left out while that is away', async () => {
    const url = 'http://shared.internal:9000';
    const behind = 'https://behind-shared.internal';
    await make(url, onRequest('custom-response', { status_code: 200, content: 'here' }));
    await make(url, onRequest('forward-internal', { url: behind }));
    await reserve(cluster.account, 'shared.tunnel.localhost');
    await make('http://shared.tunnel.localhost', onRequest('forward-internal', { url }), false);
    const ask = (gateway: TestGateway) => async () =>
      String((await visit('http://shared.tunnel.localhost', gateway.http)).body);
    await eventually(async () => expect(await count(1, ask(entry))).toEqual({ here: 1 }));
    for (const gateway of cluster.gateways) expect(await count(4, ask(gateway))).toEqual({ here: 4 });
    for (let round = 0; round < 2; round++) {
      const { agent, join } = await newAgent();
      const tunnel = await join(behind);
      for (const gateway of cluster.gateways)
        await eventually(async () => expect(await count(6, ask(gateway))).toEqual({ here: 3, [tunnel]: 3 }));
      agent.close();
      for (const gateway of cluster.gateways)
        await eventually(async () => expect(await count(4, ask(gateway))).toEqual({ here: 4 }));
    }
  });

  test('at a TCP address does, too', async () => {
    const { join } = await newAgent();
    const behind = await join('tcp://behind.internal:22');
    const { addr } = (await cluster.account.call('POST', '/reserved_addrs', {})).body;
    await make(`tcp://${addr}`, onConnect('forward-internal', { url: 'tcp://behind.internal:22' }));
    await eventually(async () => expect(await count(2, () => overTcp(at(entry, addr)))).toEqual({ [behind]: 2 }));
    const tunnel = await join(`tcp://${addr}`);
    await eventually(async () =>
      expect(await count(6, () => overTcp(at(entry, addr)))).toEqual({ [behind]: 3, [tunnel]: 3 }),
    );
  });
});
