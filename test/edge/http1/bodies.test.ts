// Large bodies, and who has to wait for them.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../sockets.ts';
import { GET, OK, startApp } from './app.ts';
import { type Edge, startEdge, startUpstream, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

/** An upstream behind `app.test` that Node's own server plays. */
async function startNodeApp(listener: RequestListener) {
  const server = createHttpServer(listener);
  const endpoint = edge.serve('app.test', await listen(server));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { server, endpoint };
}

test.each([{ 'Content-Length': 5 * 1024 * 1024 }, { 'Transfer-Encoding': 'chunked' }])(
  '5 MB go each way unchanged, with %o',
  async (framing) => {
    await startNodeApp((request, response) => {
      if (request.headers['content-length']) response.setHeader('Content-Length', request.headers['content-length']);
      request.pipe(response);
    });
    const body = randomBytes(5 * 1024 * 1024);
    const outgoing = request({ port: edge.port, method: 'POST', headers: { Host: 'app.test', ...framing } });
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const pieces = await answer.toArray();
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
    expect(answer.headers).toMatchObject(
      Object.fromEntries(Object.entries(framing).map(([name, value]) => [name.toLowerCase(), String(value)])),
    );
  },
);

/** Writes as much as is taken, in pieces. @returns how many bytes that was so far. */
function pour(socket: Socket, size: number): () => number {
  const piece = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  const more = () => {
    while (written < size) {
      written += piece.length;
      if (!socket.write(piece)) return;
    }
  };
  socket.on('drain', more);
  more();
  return () => written;
}

/** Waits until the number stays as it is while other visitors are served. */
async function settled(read: () => number): Promise<number> {
  for (let before = -1; ; ) {
    const now = read();
    if (now === before) return now;
    before = now;
    for (let i = 0; i < 20; i++) {
      const other = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n');
      await other.until('ok');
      other.socket.destroy();
    }
  }
}

async function startOther(): Promise<void> {
  const port = await startUpstream((peer) => void peer.until('\r\n\r\n').then(() => peer.send(OK)));
  edge.serve('other.test', port);
}

const LARGE = 64 * 1024 * 1024;

test('a visitor that doesn’t read stops its upstream, and nobody else', async () => {
  await startOther();
  const app = await startApp(edge);
  const slow = await visit(edge.port);
  slow.socket.pause();
  slow.send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n`);
  // What the kernel holds on two connections, and a window.
  expect(await settled(pour(upstream.socket, LARGE))).toBeLessThan(LARGE / 3);
  slow.socket.removeAllListeners('data');
  let read = 0;
  const all = new Promise<void>((resolve) => {
    slow.socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > LARGE) resolve();
    });
  });
  slow.socket.resume();
  await all;
});

test('an upstream that doesn’t read stops its visitor, and nobody else', async () => {
  await startOther();
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send(`POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${LARGE}\r\n\r\n`);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.socket.pause();
  expect(await settled(pour(visitor.socket, LARGE))).toBeLessThan(LARGE / 3);
  upstream.socket.removeAllListeners('data');
  let read = 0;
  upstream.socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read >= LARGE) upstream.send(OK);
  });
  upstream.socket.resume();
  await visitor.until('ok');
});
