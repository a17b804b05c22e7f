// Over a long way: 50 ms in each direction. How fast that is, `npm run bench -- data-plane` tells; here it is shown that
// windows grow, whatever else the machine does, and that a reader who stands still does not hold up the others.

import { createServer, get, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newClient, type TestClient } from '../agent/client/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const ONE_WAY_MS = 50;
const BYTES = 12 * 2 ** 20;
/** The protocol's fixed window: no more of a stream would be on its way. */
const FIXED = 256 * 1024;

let gateway: TestGateway;
let proxy: FaultProxy;
let agent: TestClient;
let target: { host: string | undefined; port: string | undefined; headers: { host: string } };
const service = createServer((incoming, response) => {
  if (incoming.method === 'GET') return void response.end(Buffer.alloc(BYTES));
  let received = 0;
  incoming.on('data', (chunk) => {
    received += chunk.length;
  });
  incoming.on('end', () => response.end(String(received)));
});

beforeAll(async () => {
  gateway = await sharedGateway();
  const [host = '', port] = gateway.agent.split(':');
  proxy = await startFaultProxy(host, Number(port));
  proxy.shape({ delayMs: ONE_WAY_MS });
  const forwardsTo = `127.0.0.1:${await listen(service)}`;
  const { authtoken } = await newCredential(await gateway.newAccount());
  const place = { host: '127.0.0.1', port: proxy.port, ca: gateway.ca };
  const usual = { heartbeatInterval: 10_000, heartbeatTolerance: 15_000 };
  agent = newClient(place, { authtoken }, usual);
  const url = new URL(await agent.open({ forwardsTo }).answered);
  const [visitorsHost, visitorsPort] = gateway.http.split(':');
  target = { host: visitorsHost, port: visitorsPort, headers: { host: url.host } };
});
afterAll(async () => {
  await agent.client.close();
  await proxy.close();
  service.close();
  service.closeAllConnections();
});

/** What was on its way at most, from the agent (`up`) or to it, while something was done. */
async function mostHeld(direction: 'up' | 'down', work: () => Promise<unknown>): Promise<number> {
  const [connection] = proxy.connections;
  if (!connection || proxy.connections.size !== 1) throw new Error('the agent has one connection');
  const traffic = connection[direction];
  await eventually(() => expect(traffic.held).toBeLessThan(FIXED));
  traffic.mostHeld = 0;
  await work();
  return traffic.mostHeld;
}

async function download(): Promise<void> {
  const bytes = await new Promise<number>((resolve, reject) => {
    get(target, (response) => {
      let received = 0;
      response.on('data', (chunk) => {
        received += chunk.length;
      });
      response.on('end', () => resolve(received)).on('error', reject);
    }).on('error', reject);
  });
  expect(bytes).toBe(BYTES);
}

async function upload(): Promise<void> {
  const received = await new Promise<string>((resolve, reject) => {
    const sent = request({ ...target, method: 'POST' }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
    sent.on('error', reject).end(Buffer.alloc(BYTES));
  });
  expect(received).toBe(String(BYTES));
}

test('a stream to the visitor has several times as much on its way as a fixed window would let it', async () => {
  expect(await mostHeld('up', download)).toBeGreaterThan(3 * FIXED);
});

test('and so has one from the visitor', async () => {
  expect(await mostHeld('down', upload)).toBeGreaterThan(3 * FIXED);
});

test('a visitor who stops reading does not hold another one up', async () => {
  const stalled = get(target);
  await new Promise<void>((resolve) => {
    stalled.on('response', (response) => {
      response.pause();
      resolve();
    });
  });
  expect(await mostHeld('up', download)).toBeGreaterThan(3 * FIXED);
  stalled.on('error', () => {}).destroy();
});
