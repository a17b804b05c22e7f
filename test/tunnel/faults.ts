// A gateway, an agent, and a network between them that fails in every way it can.

import { readdirSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import type { TunnelHandle } from '../../agent/src/gateway-client.ts';
import { listen } from '../agent/client/peer.ts';
import { newClient, type TestClient } from '../agent/client/support.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

/** The gateway's heartbeat in this lab, in milliseconds; the agent's is the same. */
const INTERVAL = 200;
const TOLERANCE = 400;
/** What the machine may add on top: a busy one runs timers late. */
const LATE = 1500;
/** How long a URL may take to answer again, once the network is well. */
const BACK = 10_000;
/** Descriptors of other tests in the same process come and go, too. */
export const CLOSING_MAX = 10;

export interface Lab {
  gateway: TestGateway;
  proxy: FaultProxy;
  agent: TestClient;
  tunnel: TunnelHandle;
  url: string;
  close(): Promise<void>;
}

export async function openLab(): Promise<Lab> {
  const gateway = await startTestGateway({
    HEARTBEAT_INTERVAL_MS: String(INTERVAL),
    HEARTBEAT_TOLERANCE_MS: String(TOLERANCE),
  });
  const [host = '', port] = gateway.agent.split(':');
  const proxy = await startFaultProxy(host, Number(port));
  const service = createServer(({ url }, response) => {
    if (url === '/half') response.writeHead(200, { 'content-length': 1000 }).write('half of it');
    else response.end('here');
  });
  const forwardsTo = `127.0.0.1:${await listen(service)}`;
  const agent = newClient(
    { host: '127.0.0.1', port: proxy.port, ca: gateway.ca },
    { authtoken: gateway.first?.authtoken ?? '' },
    { heartbeatInterval: INTERVAL, heartbeatTolerance: TOLERANCE, dial: 1000, tls: 1000, auth: 1000, bind: 1000 },
  );
  const tunnel = agent.open({ forwardsTo });
  const url = await tunnel.answered;
  return {
    gateway,
    proxy,
    agent,
    tunnel,
    url,
    async close() {
      await agent.client.close();
      await proxy.close();
      service.close();
      service.closeAllConnections();
      await gateway.close();
    },
  };
}

/** What can happen to a network. `isSilent`: nobody is told, so only a heartbeat can find out. */
export const faults: { name: string; isSilent: boolean; strike(proxy: FaultProxy): unknown }[] = [
  { name: 'a delay of 150 ms each way', isSilent: false, strike: (proxy) => proxy.shape({ delayMs: 75 }) },
  { name: 'a cut', isSilent: false, strike: (proxy) => proxy.cut() },
  { name: 'a RST', isSilent: false, strike: (proxy) => proxy.reset() },
  { name: 'a black hole', isSilent: true, strike: (proxy) => proxy.shape({ outage: 'black hole' }) },
  {
    name: 'a black hole towards the gateway',
    isSilent: true,
    strike: (proxy) => proxy.shape({ outage: 'black hole' }, 'up'),
  },
  {
    name: 'a black hole towards the agent',
    isSilent: true,
    strike: (proxy) => proxy.shape({ outage: 'black hole' }, 'down'),
  },
  { name: 'a stall', isSilent: true, strike: (proxy) => proxy.shape({ outage: 'stall' }) },
  { name: 'a half-close by the agent', isSilent: false, strike: (proxy) => proxy.halfClose('up') },
  { name: 'a half-close by the gateway', isSilent: false, strike: (proxy) => proxy.halfClose('down') },
  {
    name: 'a cut, and refusal of new connections',
    isSilent: true,
    strike: async (proxy) => {
      proxy.refuse();
      await proxy.cut();
    },
  },
];

/**
 * One fault, after which the URL answers again by itself.
 * @returns for how many milliseconds the API went on showing what could not be reached; 0 where the gateway was told.
 */
export async function suffer(lab: Lab, { isSilent, strike }: (typeof faults)[number]): Promise<number> {
  const { gateway, proxy, url } = lab;
  await strike(proxy);
  const struck = performance.now();
  let shown = 0;
  if (isSilent) {
    await until(
      async () => (await gateway.call('GET', '/endpoints')).body.endpoints.length === 0,
      INTERVAL + TOLERANCE + LATE,
    );
    shown = performance.now() - struck;
    expect(shown, 'how long the API showed it').toBeLessThan(INTERVAL + TOLERANCE + LATE);
  }
  await proxy.heal();
  await until(async () => (await visit(url, gateway.http)).body === 'here', BACK);
  const { body } = await gateway.call('GET', '/endpoints');
  expect(body.endpoints).toMatchObject([{ public_url: url }]);
  const sessions = await gateway.call('GET', '/tunnel_sessions');
  expect(sessions.body.tunnel_sessions).toHaveLength(1);
  return shown;
}

/** A visitor is in the middle of an answer when the agent is lost. @returns how the answer ended. */
export async function loseHalfWay({ gateway, proxy, url }: Lab): Promise<string> {
  const [host, port] = gateway.http.split(':');
  return new Promise((resolve) => {
    get({ host, port, path: '/half', headers: { host: new URL(url).host } }, (response) => {
      response.once('data', () => proxy.reset());
      response.on('end', () => resolve('as if complete')).on('error', ({ message }) => resolve(message));
    }).on('error', ({ message }) => resolve(message));
  });
}

/** Breaks the connection again and again. @returns what this process holds before and after. */
export async function reconnect(lab: Lab, times: number) {
  const once = async () => {
    const { sessions } = lab.agent.client.status;
    await lab.proxy.reset();
    await lab.agent.until(() => lab.agent.client.status.sessions > sessions && lab.tunnel.state === 'active');
  };
  for (let i = 0; i < Math.min(20, times); i++) await once(); // What is made once, and kept, is made now.
  const before = held();
  for (let i = 0; i < times; i++) await once();
  await until(async () => (await visit(lab.url, lab.gateway.http)).body === 'here', BACK);
  // Some of the last ones may be closing still.
  await until(async () => descriptors() < before.descriptors + CLOSING_MAX, BACK).catch(() => undefined);
  return { before, after: held() };
}

const descriptors = () => readdirSync('/proc/self/fd').length;

function held(): { descriptors: number; heap: number } {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return { descriptors: descriptors(), heap: process.memoryUsage().heapUsed };
}

/** Asks again and again, each time a round trip, until it is so. */
async function until(isSo: () => Promise<boolean>, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`it was not so within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
