// Agents behind slow links, of which the queue is deep: kernels take megabytes. How long a new frame waits is counted in the bytes
// of others that arrive before it, so that a busy machine changes nothing. With SOAK=long the links are as slow as those of devices.

import { createServer, get, request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/shortened.ts';

let gateway: TestGateway;
let proxy: FaultProxy;
let agent: TestClient;
let target: { host: string | undefined; port: string | undefined; headers: { host: string } };
/** Answers with as many bytes as the path says, and counts what is sent to it. */
const service = createServer((incoming, response) => {
  if (incoming.method === 'GET') return void response.end(Buffer.alloc(Number(incoming.url?.slice(1))));
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
  const forwardsTo = `127.0.0.1:${await listen(service)}`;
  const { authtoken } = await newCredential(await gateway.newAccount());
  agent = newClient({ host: '127.0.0.1', port: proxy.port, ca: gateway.ca }, { authtoken }, PATIENT);
  const url = new URL(await agent.open({ forwardsTo }).answered);
  const [visitorsHost, visitorsPort] = gateway.http.split(':');
  target = { host: visitorsHost, port: visitorsPort, headers: { host: url.host } };
});
afterEach(async () => {
  expect(agent.client.status.sessions, 'the session has lived through it').toBe(1);
  await proxy.heal();
});
afterAll(async () => {
  await agent.client.close();
  await proxy.close();
  service.close();
  service.closeAllConnections();
});

/** A download of so many bytes. */
function download(bytes: number) {
  const started = performance.now();
  const state = { received: 0, headAfter: 0, took: 0 };
  const done = new Promise<typeof state>((resolve, reject) => {
    get({ ...target, path: `/${bytes}`, agent: false }, (response) => {
      state.headAfter = performance.now() - started;
      response.on('data', (chunk: Buffer) => {
        state.received += chunk.length;
      });
      response.on('end', () => {
        state.took = performance.now() - started;
        resolve(state);
      });
      response.on('error', reject);
    }).on('error', reject);
  });
  return {
    state,
    done,
    reaches: (count: number) => eventually(() => expect(state.received).toBeGreaterThanOrEqual(count)),
  };
}

/** How many bytes of a bulk download arrive while a small request is answered, again and again. */
async function overtaken(bulk: ReturnType<typeof download>, rounds: number): Promise<number[]> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = bulk.state.received;
    await download(100).done;
    found.push(bulk.state.received - before);
  }
  return found.sort((a, b) => a - b);
}

test('beside a bulk transfer a small request waits for a few tenths of a second of it', async () => {
  const bytesPerSecond = 200_000;
  proxy.shape({ bytesPerSecond }, 'up');
  const bulk = download(bytesPerSecond * 4);
  await bulk.reaches(bytesPerSecond);
  const waits = await overtaken(bulk, 5);
  expect(waits[2], waits.join()).toBeLessThan(bytesPerSecond * 0.4);
  expect((await bulk.done).received).toBe(bytesPerSecond * 4);
}, 60_000);

test('so it is towards the agent', async () => {
  const bytesPerSecond = 200_000;
  proxy.shape({ bytesPerSecond }, 'down');
  const size = bytesPerSecond * 4;
  const [connection] = proxy.connections;
  const before = connection?.down.carried ?? 0;
  const carried = () => (connection?.down.carried ?? 0) - before;
  const upload = new Promise<string>((resolve, reject) => {
    const sent = request({ ...target, method: 'POST', agent: false }, (response) => {
      response.on('data', (chunk) => resolve(String(chunk)));
    });
    sent.on('error', reject).end(Buffer.alloc(size));
  });
  await eventually(() => expect(carried()).toBeGreaterThan(bytesPerSecond));
  const waits: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = carried();
    await download(100).done;
    waits.push(carried() - from);
  }
  expect(waits.sort((a, b) => a - b)[2], waits.join()).toBeLessThan(bytesPerSecond * 0.4);
  expect(await upload).toBe(String(size));
}, 60_000);

test('ten transfers get a like share', async () => {
  const bytesPerSecond = isLong ? 125_000 : 500_000;
  proxy.shape({ bytesPerSecond }, 'up');
  const size = isLong ? 500_000 : 250_000;
  const all = Array.from({ length: 10 }, () => download(size));
  await Promise.race(all.map(({ done }) => done));
  const shares = all.map(({ state }) => state.received);
  expect(Math.min(...shares), shares.join()).toBeGreaterThan(size * 0.6);
  await Promise.all(all.map(({ done }) => done));
}, 120_000);

test.runIf(isLong)(
  'at 64 kbit/s an answer of 400 kB arrives whole, its head within 4 s',
  async () => {
    proxy.shape({ bytesPerSecond: 8000 }, 'up');
    const bulk = download(400_000);
    await bulk.reaches(8000);
    expect(bulk.state.headAfter).toBeLessThan(4000);
    const waits = await overtaken(bulk, 5);
    expect(waits[2], waits.join()).toBeLessThan(8000);
    expect((await bulk.done).received).toBe(400_000);
  },
  120_000,
);
