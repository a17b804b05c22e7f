// What is told of connections to endpoints of TCP and TLS: once each, when they are closed.

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createModules } from '../../../src/edge/http-modules.ts';
import type { ModulesSettings } from '../../../src/edge/modules/descriptor.ts';
import { moduleDescriptors } from '../../../src/edge/modules/index.ts';
import { trafficPolicyModule } from '../../../src/edge/modules/traffic-policy.ts';
import type { EndpointRules } from '../../../src/edge/pipeline/rules/endpoint-rules.ts';
import { TcpListener } from '../../../src/edge/tcp/listener.ts';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import type { LiveTunnel } from '../../../src/tunnel/endpoints/live-tunnel.ts';
import { clientHello, listen } from '../../edge/sockets.ts';
import { type Edge, startEdge } from '../../edge/tls/support.ts';
import { environmentOf } from '../../policy/exchange-support.ts';
import { ACCOUNT, Hearer, visitsFor } from './lab.ts';

let edge: Edge;
let upstream: number;
const hearer = new Hearer();
const endpoints = new EndpointRegistry();
const visits = visitsFor(hearer);
const doors = new TcpListener({ services: visits, host: '127.0.0.1', endpoints, limit: new ConnectionLimit(100) });
/** Says so many bytes once it has heard so many. */
const [HEARS, SAYS] = [300_000, 200_000];

beforeAll(async () => {
  edge = await startEdge({ visits });
  const server = createServer((socket) => {
    let heard = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      heard += chunk.length;
      if (heard === HEARS) socket.end(Buffer.alloc(SAYS));
    });
  });
  upstream = await listen(server);
  return () => void server.close();
});
afterAll(async () => {
  await doors.close(0);
  await edge.close();
});
beforeEach(() => {
  hearer.account = ACCOUNT;
  expect(hearer.connections).toEqual([]);
});

async function serveTcp(): Promise<{ endpoint: LiveTunnel; port: number }> {
  const port = (await doors.open(0)) as number;
  const endpoint = edge.agent.tunnel('1.tcp.test', upstream, { proto: 'tcp', port });
  endpoints.add(endpoint);
  onTestFinished(() => {
    endpoints.remove(endpoint);
    doors.release(port, 0);
  });
  return { endpoint, port };
}

/** A visitor of TCP, whose connection was closed in the end. */
async function come(port: number, bytes: number): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let heard = 0;
  socket.on('data', (chunk) => {
    heard += chunk.length;
  });
  socket.end(Buffer.alloc(bytes));
  await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

await trafficPolicyModule.load?.();

function handle(endpoint: LiveTunnel, settings: ModulesSettings): void {
  const { accountId, proto } = endpoint;
  const { connection } = createModules(moduleDescriptors, settings, { accountId, proto }, environmentOf());
  const rules: EndpointRules = { connection, tls: undefined, route: () => 'noRoute' };
  endpoint.rules = rules;
}

const only = (allow: string) => ({ ipRestriction: { enabled: true, allow: [allow], deny: [] } });
const log = {
  enabled: true,
  value: JSON.stringify({
    on_tcp_connect: [{ actions: [{ type: 'log', config: { metadata: { seen: true } } }] }],
  }),
};

describe('a connection of TCP', () => {
  test('is told of with the bytes that have passed', async () => {
    const { endpoint, port } = await serveTcp();
    expect(await come(port, HEARS)).toBe(SAYS);
    const { connection, ...report } = await hearer.nextConnection();
    expect(report).toEqual({
      accountId: ACCOUNT,
      endpointId: endpoint.id,
      decisions: {},
    });
    expect(connection).toMatchObject({
      clientIp: '127.0.0.1',
      serverIp: '127.0.0.1',
      serverPort: port,
      serverName: '',
      bytesIn: HEARS,
      bytesOut: SAYS,
    });
    expect(connection.endedAt).toBeGreaterThan(connection.startedAt);
  });

  test('says what its modules have decided, of one that is not let in, too', async () => {
    const { endpoint, port } = await serveTcp();
    handle(endpoint, { ...only('127.0.0.0/8'), trafficPolicy: log });
    await come(port, HEARS);
    expect((await hearer.nextConnection()).decisions).toEqual({ ip_policy: 'allow', policyLogs: [{ seen: true }] });
    handle(endpoint, only('10.0.0.0/8'));
    await come(port, 10);
    const { connection, decisions } = await hearer.nextConnection();
    expect(decisions.ip_policy).toBe('deny');
    expect(connection.bytesOut).toBe(0);
  });

  test('whose endpoint cannot be reached, and one that the visitor breaks', async () => {
    const { endpoint, port } = await serveTcp();
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('some');
    await once(socket, 'connect');
    while (edge.agent.sockets.every(({ bytesWritten }) => bytesWritten !== 4)) await new Promise(setImmediate);
    socket.resetAndDestroy();
    expect((await hearer.nextConnection()).connection.bytesIn).toBe(4);
    endpoint.close();
    await come(port, 10);
    expect((await hearer.nextConnection()).connection.bytesOut).toBe(0);
  });

  test('of an account that nobody hears is not told of', async () => {
    const { port } = await serveTcp();
    hearer.account = undefined;
    await come(port, HEARS);
    hearer.account = ACCOUNT;
    await come(port, HEARS);
    await hearer.nextConnection();
  });
});

describe('a connection of TLS', () => {
  const NAME = 'raw.tunnel.localhost';

  function serveTls(tls: 'passthrough' | 'gateway'): LiveTunnel {
    const endpoint = edge.serve(NAME, upstream, { proto: 'tls', tls });
    onTestFinished(() => edge.endpoints.remove(endpoint));
    return endpoint;
  }

  async function comeToTls(): Promise<void> {
    const socket = await edge.visit(NAME);
    socket.resume().end(Buffer.alloc(HEARS));
    await once(socket, 'close');
  }

  test('that ends here: what is in it counts', async () => {
    const endpoint = serveTls('gateway');
    await comeToTls();
    const { connection, endpointId } = await hearer.nextConnection();
    expect(endpointId).toBe(endpoint.id);
    expect(connection).toMatchObject({ serverName: NAME, serverPort: edge.port, bytesIn: HEARS, bytesOut: SAYS });
  });

  test('that goes through: all of it counts', async () => {
    serveTls('passthrough');
    const socket = connect(edge.port, '127.0.0.1').on('error', () => {});
    const hello = await clientHello(NAME);
    socket.end(Buffer.concat([hello, Buffer.alloc(HEARS - hello.length)]));
    socket.resume();
    await once(socket, 'close');
    const { connection } = await hearer.nextConnection();
    expect(connection).toMatchObject({ serverName: NAME, bytesIn: HEARS, bytesOut: SAYS });
  });

  test.each(['gateway', 'passthrough'] as const)('that is not let in, with TLS by %s', async (tls) => {
    handle(serveTls(tls), only('10.0.0.0/8'));
    await expect(edge.visit(NAME)).rejects.toThrow();
    expect((await hearer.nextConnection()).decisions.ip_policy).toBe('deny');
  });

  test('whose handshake is broken off', async () => {
    serveTls('gateway');
    const socket = connect(edge.port, '127.0.0.1');
    socket.write(await clientHello(NAME));
    await once(socket, 'data');
    socket.resetAndDestroy();
    expect((await hearer.nextConnection()).connection).toMatchObject({ serverName: NAME, clientIp: '127.0.0.1' });
  });

  test('to an endpoint of HTTPS is none of these', async () => {
    const endpoint = edge.serve(NAME, upstream);
    onTestFinished(() => edge.endpoints.remove(endpoint));
    (await edge.visit(NAME)).destroy();
    await edge.empty();
    expect(hearer.connections).toEqual([]);
  });
});
