// Over a long way: 50 ms in each direction. The figure is `npm run bench -- data-plane`'s to give; here it is shown that
// windows grow, and that a reader who stands still does not hold up the others.

import { createServer, get, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../agent/client-peer.ts';
import { newClient, type TestClient } from '../agent/client-support.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const ONE_WAY_MS = 50;
const BYTES = 24 * 2 ** 20;
/** Bytes per second of a stream with the protocol's fixed window: 256 KiB in each round trip. */
const FIXED = (256 * 1024) / (2 * ONE_WAY_MS * 0.001);

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
  gateway = await startTestGateway();
  const [host = '', port] = gateway.agent.split(':');
  proxy = await startFaultProxy(host, Number(port));
  proxy.shape({ delayMs: ONE_WAY_MS });
  const forwardsTo = `127.0.0.1:${await listen(service)}`;
  const place = { host: '127.0.0.1', port: proxy.port, ca: gateway.ca };
  const usual = { heartbeatInterval: 10_000, heartbeatTolerance: 15_000 };
  agent = newClient(place, { authtoken: gateway.first?.authtoken ?? '' }, usual);
  const url = new URL(await agent.open({ forwardsTo }).answered);
  const [visitorsHost, visitorsPort] = gateway.http.split(':');
  target = { host: visitorsHost, port: visitorsPort, headers: { host: url.host } };
});
afterAll(async () => {
  await agent.client.close();
  await proxy.close();
  service.close();
  service.closeAllConnections();
  await gateway.close();
});

/** @returns bytes per second. */
async function download(): Promise<number> {
  const begun = performance.now();
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
  return bytes / ((performance.now() - begun) / 1000);
}

test('a stream to the visitor is several times as fast as a fixed window would let it be', async () => {
  expect(await download()).toBeGreaterThan(3 * FIXED);
});

test('and so is one from the visitor', async () => {
  const begun = performance.now();
  const received = await new Promise<string>((resolve, reject) => {
    const sent = request({ ...target, method: 'POST' }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
    sent.on('error', reject).end(Buffer.alloc(BYTES));
  });
  expect(received).toBe(String(BYTES));
  expect(BYTES / ((performance.now() - begun) / 1000)).toBeGreaterThan(3 * FIXED);
});

test('a visitor who stops reading does not slow another one', async () => {
  const stalled = get(target);
  await new Promise<void>((resolve) => {
    stalled.on('response', (response) => {
      response.pause();
      resolve();
    });
  });
  expect(await download()).toBeGreaterThan(3 * FIXED);
  stalled.on('error', () => {}).destroy();
});
