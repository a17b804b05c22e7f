// gRPC as grpc-js speaks it, wherever its client comes to: to the node of the tunnel, to another one, or to another worker.

import { createServer } from 'node:net';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { ALL_KINDS, call, callAllKinds, grpcClient, startGrpcService } from '../support/grpc.ts';
import { type ProcessGroup, startProcessGroup } from '../workers/support.ts';
import { agentAt, type Cluster, serve, startCluster } from './support.ts';

describe.runIf(onServer)('all kinds of gRPC, errors with details, deadlines and cancellation', () => {
  let cluster: Cluster;
  let group: ProcessGroup;
  beforeAll(async () => {
    [cluster, group] = await Promise.all([startCluster(3), startProcessGroup()]);
  });
  afterAll(() => Promise.all([cluster?.close(), group?.close()]));

  const nodes = () => cluster.gateways as [TestGateway, TestGateway, TestGateway];
  const options = { protocol: 'https', upstreamProtocol: 'http2' } as const;

  test.each([
    ['the node of the tunnel', 0],
    ['another node', 2],
  ])('work at %s', async (_, entry) => {
    const service = await startGrpcService();
    const [owner] = nodes();
    const { hostname } = new URL(await serve(await agentAt(owner, cluster.account), service.port, options));
    const { https, ca } = nodes()[entry] as TestGateway;
    const client = await grpcClient(https, hostname, ca);
    expect(await callAllKinds(client, service)).toMatchObject(ALL_KINDS);
  });

  test.each([0, 1])('work with the tunnel at worker 0, and the client at worker %i', async (entry) => {
    const service = await startGrpcService();
    const url = await serve(await group.agentAt(0), service.port, options);
    const client = await group.at(entry, () => grpcClient(group.gateway.https, new URL(url).hostname, group.ca));
    expect(await callAllKinds(client, service)).toMatchObject(ALL_KINDS);
  });

  test('errors of the gateway are told as gRPC tells them', async () => {
    const agent = await agentAt(nodes()[0], cluster.account);
    const server = createServer();
    const port = await listen(server);
    const { hostname } = new URL(await serve(agent, port, options));
    await new Promise((resolve) => server.close(resolve));
    const { https, ca } = nodes()[1];
    const of = async (name: string) => {
      const { code, details } = await call(await grpcClient(https, name, ca), 'say', ['hello']);
      return [code, details.split(':')[0]];
    };
    expect(await of(hostname)).toEqual([status.UNAVAILABLE, 'ERR_GATEWAY_8012']);
    expect(await of('nobody.tunnel.localhost')).toEqual([status.UNIMPLEMENTED, 'ERR_GATEWAY_3200']);
  });
});
