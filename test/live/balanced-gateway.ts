// A gateway behind load balancers that say in headers of the PROXY protocol who comes, with an endpoint of each protocol.

import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { proxyProtocolHeader } from '../../src/tunnel/network/proxy-protocol.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newName } from './edges/support.ts';
import { CONNECTIONS, type Ear, HEARD_HERE, REQUESTS, startTrafficLab, type TrafficLab } from './traffic-events/lab.ts';

export const PROXY = '127.0.0.2';
export const [FRIEND, FOE, STRANGER] = ['127.0.0.9', '127.0.0.8', '127.0.0.3'];
export const AGENT = '192.0.2.77';
export const forged = proxyProtocolHeader(1, { ip: FRIEND, port: 4711 }, 443, '127.0.0.1');

export type Protocol = 'http' | 'https' | 'tcp' | 'tls';
export const protocols: Protocol[] = ['http', 'https', 'tcp', 'tls'];

export let direct: TestGateway;
/** The gateway, as it is seen through balancers of both versions. */
export let lab: TrafficLab;
export let ear: Ear;
export const balancers: Balancer[] = [];
/** Where an endpoint is reached, by `protocol version`; version 0 is without the balancer. */
export const doors: Record<string, string> = {};
export const names: Record<string, string> = {};

export async function balanced(target: string, version: 0 | 1 | 2): Promise<string> {
  const balancer = await startBalancer(target, { from: PROXY, header: version });
  balancers.push(balancer);
  return balancer.address;
}

/** Starts the gateway, its balancers and its endpoints before the tests of a file, and closes them after these. */
export function useBalancedGateway(): void {
  beforeAll(async () => {
    direct = await startTestGateway({
      ...HEARD_HERE,
      TRUSTED_PROXIES: `${PROXY}, 10.0.0.0/8`,
      PROXY_PROTOCOL: 'http,https,tcp,agent,api',
      MAX_VISITORS: '12',
      MAX_VISITORS_PER_ADDRESS: '3',
    });
    const agents = await startBalancer(direct.agent, {
      from: PROXY,
      header: ({ port }) => proxyProtocolHeader(2, { ip: AGENT, port }, 4443, '198.51.100.1'),
    });
    balancers.push(agents);
    lab = await startTrafficLab({ ...direct, agent: agents.address });
    ear = await lab.hear([{ type: REQUESTS }, { type: CONNECTIONS }]);
    const { session, upstream, echo } = lab;
    for (const protocol of protocols) names[protocol] = newName('proxied');
    for (const scheme of ['http', 'https'] as const)
      await session
        .httpEndpoint()
        .scheme(scheme)
        .domain(`${names[scheme]}`)
        .allowCidr(FRIEND)
        .listenAndForward(upstream.url);
    await session
      .tlsEndpoint()
      .domain(`${names.tls}`)
      .termination(Buffer.from(''), Buffer.from(''))
      .allowCidr(FRIEND)
      .listenAndForward(echo.url);
    const tcp = await session.tcpEndpoint().allowCidr(FRIEND).listenAndForward(echo.url);
    const targets = { ...direct, tls: direct.https, tcp: `127.0.0.1:${new URL(String(tcp.url())).port}` };
    for (const protocol of protocols) {
      doors[`${protocol} 0`] = targets[protocol];
      for (const version of [1, 2] as const)
        doors[`${protocol} ${version}`] = await balanced(targets[protocol], version);
    }
  }, 60_000);
  afterAll(async () => {
    await lab?.close();
    for (const balancer of balancers) balancer.close();
    await direct?.close();
  });
}

export const to = (address: string, from: string) => {
  const [host = '', port] = address.split(':');
  return { host, port: Number(port), localAddress: from };
};

export async function dial(address: string, from: string): Promise<Socket> {
  const socket = connect(to(address, from)).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  // Who is turned away may be reset before being told of the connection.
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket;
}

/** @returns all that came until the connection was closed, by whomever. */
export async function heard(socket: Socket): Promise<string> {
  return text(socket).catch(() => '');
}

/** Visits an endpoint, and says good-bye after the first bytes. @param preamble what is sent before anything else. */
export async function visit(
  protocol: Protocol,
  {
    version = 0,
    from = FRIEND,
    path = '/',
    preamble = Buffer.alloc(0),
  }: {
    version?: number;
    from?: string;
    path?: string;
    preamble?: Buffer;
  },
): Promise<string> {
  const name = names[protocol] ?? '';
  const raw = await dial(`${doors[`${protocol} ${version}`]}`, from);
  raw.write(preamble);
  const isTls = protocol === 'https' || protocol === 'tls';
  const socket = isTls ? connectTls({ socket: raw, servername: name, ca: direct.ca }) : raw;
  socket.on('error', () => {});
  const isHttp = protocol === 'http' || protocol === 'https';
  socket.write(isHttp ? `GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n` : `hello ${path}`);
  if (!isHttp) socket.once('data', () => socket.end());
  return heard(socket);
}
