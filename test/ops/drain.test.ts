// The end: what is under way is finished, nothing new is begun, and it is clean.

import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { onServer, startTestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { openRawStream } from '../support/gateway/sse.ts';
import { visit } from '../support/visit.ts';

const KEY = 'key-of-the-drain-tests';
const STARTS_A_PROCESS = { timeout: 60_000 };

async function withProcess(
  env: Record<string, string>,
  work: (gateway: GatewayProcess) => Promise<void>,
): Promise<void> {
  const place = await newPlace();
  const gateway = await startProcess({ INITIAL_API_KEY: KEY, ...env }, place);
  try {
    await work(gateway);
  } finally {
    await gateway.kill();
    await place.remove();
  }
}

const stopping = ({ admin }: GatewayProcess) =>
  eventually(async () => {
    const answer = await fetch(`${admin}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, 'The gateway is stopping.\n']);
  });

test('a request under way is answered, readiness is gone at once, and the exit code is 0', STARTS_A_PROCESS, () =>
  withProcess({ DRAIN_MS: '15000' }, async (gateway) => {
    const { hostname, port } = new URL(gateway.api);
    const body = '{"description":"under way"}';
    const socket = connect(Number(port), hostname);
    const answer = text(socket);
    const head = [
      `POST /credentials HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${KEY}`,
      'Service-Version: 2',
    ];
    socket.write(
      [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body.slice(0, 5)].join('\r\n'),
    );
    // The gateway has the head: it answers another request that came later.
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);

    process.kill(gateway.pid, 'SIGTERM');
    await stopping(gateway);
    expect((await fetch(`${gateway.admin}/livez`)).status).toBe(200);
    await expect(fetch(`${gateway.api}/credentials`)).rejects.toThrow();
    socket.write(body.slice(5));
    expect(await answer).toMatch(/^HTTP\/1\.1 201 .*under way/s);
    const answered = performance.now();
    expect(await gateway.exited).toBe(0);
    expect(performance.now() - answered, 'the connection is not kept for another request').toBeLessThan(4000);
  }),
);

test('a connection that has sent nothing does not hold up the end', async () => {
  const gateway = await startTestGateway({ DRAIN_MS: '300000' });
  const { hostname, port } = new URL(gateway.api);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  expect((await gateway.call('GET', '/credentials')).status).toBe(200);
  await gateway.close();
});

test('a request that does not end is cut when the time to drain is over', async () => {
  const gateway = await startTestGateway({ DRAIN_MS: '300' });
  const { hostname, port } = new URL(gateway.api);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`POST /credentials HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n`);
  expect((await gateway.call('GET', '/credentials')).status).toBe(200);
  await gateway.close();
});

test('while the stop is announced, readiness is gone and whoever comes is served', async () => {
  const gateway = await startTestGateway({ DRAIN_ANNOUNCE_MS: '3000' });
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

test('open subscriptions do not hold up the end: their responses end, without the event that keeps clients away', async () => {
  const gateway = await startTestGateway({ DRAIN_MS: '60000' });
  const watch = (method: 'GET' | 'POST') =>
    openRawStream(gateway.api, gateway.key, 'subscription { credentialChanged { id } }', { method });
  const streams = await Promise.all([watch('POST'), watch('GET')]);
  await gateway.call('POST', '/credentials');
  for (const stream of streams) await stream.until('event: next');
  const closed = gateway.close();
  for (const stream of streams)
    expect(await stream.whole()).toMatch(/^(:\n\n)+event: next\ndata: \{"data":[^\n]+\}\n\n(:\n\n)*$/);
  await closed;
});

test.skipIf(onServer)('after SIGINT a second signal, SIGTERM, does not wait', STARTS_A_PROCESS, () =>
  withProcess({ DRAIN_MS: '60000' }, async (gateway) => {
    const { hostname, port } = new URL(gateway.api);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('POST /credentials HTTP/1.1\r\nHost: x\r\n');
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);
    process.kill(gateway.pid, 'SIGINT');
    await stopping(gateway);
    expect(await gateway.kill('SIGTERM')).toBe(1);
  }),
);
