// The end: what is under way is finished, nothing new is begun, and it is clean. How a process ends, `start.test.ts` has.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { openRawStream } from '../support/gateway/sse.ts';
import { visit } from '../support/visit.ts';

async function connected({ api }: TestGateway): Promise<Socket> {
  const { hostname, port } = new URL(api);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('while the stop is announced, readiness is gone and whoever comes is served; a request that does not end is cut when the time to drain is over', async () => {
  const gateway = await startTestGateway({ DRAIN_ANNOUNCE_MS: '3000', DRAIN_MS: '300' });
  const socket = await connected(gateway);
  socket.write(`POST /credentials HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n`);
  expect((await gateway.call('GET', '/credentials')).status).toBe(200);
  let isClosed = false;
  const closed = gateway.close().then(() => {
    isClosed = true;
  });
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(503);
  expect((await gateway.call('GET', '/credentials')).status).toBe(200);
  expect((await visit('http://nobody.tunnel.localhost', gateway.http)).status).toBe(404);
  expect(isClosed).toBe(false);
  await closed;
});

test('a connection that has sent nothing and open subscriptions do not hold up the end: their responses end, without the event that keeps clients away', async () => {
  const gateway = await startTestGateway({ DRAIN_MS: '300000' });
  await connected(gateway);
  const watch = (method: 'GET' | 'POST') =>
    openRawStream(gateway.api, gateway.key, 'subscription { credentialChanged { objectId } }', { method });
  const streams = await Promise.all([watch('POST'), watch('GET')]);
  await gateway.call('POST', '/credentials');
  for (const stream of streams) await stream.until('event: next');
  const closed = gateway.close();
  for (const stream of streams)
    expect(await stream.whole()).toMatch(/^(:\n\n)+id: [^\n]+\nevent: next\ndata: \{"data":[^\n]+\}\n\n(:\n\n)*$/);
  await closed;
});
