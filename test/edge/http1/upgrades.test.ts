// Requests for another protocol than HTTP.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { listen } from '../sockets.ts';
import { FORWARDED, GET, OK, startApp, VISITOR } from './app.ts';
import { type Edge, startEdge, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('a WebSocket echoes messages of all sizes and closes with its code', async () => {
  const server = createHttpServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  edge.serve('ws.test', await listen(server));
  onTestFinished(() => void server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { Host: 'ws.test' } });
  await once(socket, 'open');
  for (const size of [0, 5, 70_000, 1024 * 1024]) {
    const message = randomBytes(size);
    socket.send(message);
    const [echo] = await once(socket, 'message');
    expect(message.equals(echo)).toBe(true);
  }
  socket.close(4000, 'enough');
  const [code, reason] = await once(socket, 'close');
  expect([code, String(reason)]).toEqual([4000, 'enough']);
});

test('nothing that follows an upgrade request is forwarded before the upgrade is agreed', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port, { allowHalfOpen: true });
  visitor.send('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: upgrade\r\nUpgrade: echo/1\r\n\r\nearly');
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  expect(upstream.take()).toBe(
    `GET / HTTP/1.1\r\nHost: app.test\r\nUpgrade: echo/1\r\nConnection: Upgrade\r\n${VISITOR}`,
  );
  const agreed = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n\r\n';
  upstream.send(`${agreed}first`);
  expect(await visitor.until('first')).toBe(`${agreed}first`);
  expect(await upstream.until('early')).toBe('early');
  visitor.send(' and late').socket.end();
  expect(await upstream.untilEnd()).toBe('early and late');
  upstream.send(' last').socket.end();
  expect(await visitor.toEnd()).toBe(`${agreed}first last`);
});

test('what follows an upgrade request that is turned down is the next request', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n${GET}`);
  const upstream = await app.next();
  await upstream.until('Upgrade: websocket');
  upstream.take();
  upstream.send('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
  upstream.send(OK);
  await visitor.until('ok');
});

test.each([
  ['h2c', 'Upgrade', ''],
  ['TLS/1.0', 'Upgrade', ''],
  ['websocket, h2c', 'Upgrade', ''],
  ['websocket', 'keep-alive', ''],
  ['websocket', 'Upgrade', 'Content-Length: 1\r\n'],
])('Upgrade: %s with Connection: %s and "%s" is not forwarded', async (protocol, option, length) => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.1\r\nUpgrade: ${protocol}\r\nHost: app.test\r\nConnection: ${option}\r\n${length}\r\nx`);
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).not.toMatch(/upgrade/i);
});
