// What visitors and upstreams say to each other through the HTTP listener.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Edge, startEdge, startScript, startUpstream, visit } from './support.ts';
import { listen } from './tls-support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const VISITOR = 'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: app.test\r\n\r\n';
const FORWARDED = `GET / HTTP/1.1\r\nHost: app.test\r\n${VISITOR}`;

/** An upstream behind `app.test` that the test plays. */
async function startApp() {
  const script = await startScript();
  return { ...script, endpoint: edge.serve('app.test', script.port) };
}

/** An upstream behind `app.test` that Node's own server plays. */
async function startNodeApp(listener: RequestListener) {
  const server = createHttpServer(listener);
  const endpoint = edge.serve('app.test', await listen(server));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { server, endpoint };
}

test('a request arrives without what is for one hop only, and with who sent it', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send(
    'PUT http://APP.test/a?b=c HTTP/1.1\r\nX-Private: 1\r\nHost: APP.test\r\nAccept: */*\r\n' +
      'Connection: keep-alive, X-Private, TE\r\nKeep-Alive: timeout=5\r\nProxy-Authorization: Basic eDp5\r\n' +
      'X-Forwarded-For: 1.2.3.4\r\nx-forwarded-PROTO: https\r\nX-Forwarded-Host: evil.test\r\nX-Forwarded-Port: 1\r\n' +
      'X-Real-IP: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\nTE: trailers\r\nUpgrade: websocket\r\nX-Umlaut: \xe4\r\n' +
      'Cookie: a=b\r\nContent-Length: 5\r\n\r\nhello',
  );
  const upstream = await app.next();
  await upstream.until('hello');
  expect(upstream.text).toBe(
    'PUT /a?b=c HTTP/1.1\r\nHost: APP.test\r\nAccept: */*\r\nTE: trailers\r\nX-Umlaut: \xe4\r\nCookie: a=b\r\n' +
      'Content-Length: 5\r\nConnection: TE\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: APP.test\r\n\r\nhello',
  );
});

test.each([
  ['TE that Connection does not list', 'TE: trailers\r\n', ''],
  ['TE with anything else in it', 'Connection: TE\r\nTE: trailers, deflate\r\n', ''],
  ['TE, once more, of somebody further away', 'TE: trailers\r\nTE: gzip\r\n', ''],
  ['Proxy, which programs would take for HTTP_PROXY', 'Proxy: http://evil.test\r\npROXY: x\r\n', ''],
  ['but TE that Connection lists does', 'TE: trailers\r\nConnection: te\r\n', 'TE: trailers\r\nConnection: TE\r\n'],
])('does not go on: %s', async (_, fields, forwarded) => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${fields}\r\n`);
  expect(await (await app.next()).until('\r\n\r\n')).toBe(`GET / HTTP/1.1\r\nHost: app.test\r\n${forwarded}${VISITOR}`);
});

test('TRACE is refused, with the methods that are not', async () => {
  const visitor = await visit(edge.port);
  visitor.send('TRACE / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  expect(await visitor.until('\r\n\r\n')).toMatch(
    /^HTTP\/1.1 405 .*\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/s,
  );
});

test.each([
  ['http://app.test', 'GET', '/'],
  ['http://app.test?a', 'GET', '/?a'],
  ['http://app.test:80/a', 'GET', '/a'],
  ['HTTP://app.test', 'OPTIONS', '*'],
  ['*', 'OPTIONS', '*'],
])('the target %s of %s %s goes on in origin-form', async (target, method, expected) => {
  const app = await startApp();
  (await visit(edge.port)).send(`${method} ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  expect(upstream.text).toBe(`${method} ${expected} HTTP/1.1\r\nHost: app.test\r\n${VISITOR}`);
});

test('an ordinary answer arrives byte for byte', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  const answer =
    'HTTP/1.1 200 Fine\r\nserver: x\r\nConnection: keep-alive\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX_Y: \xff\r\nContent-Length: 2\r\n\r\nok';
  upstream.send(answer);
  expect(await visitor.until('ok')).toBe(answer);
});

test('an answer arrives without what is for one hop only', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send(
    'HTTP/1.1 200 OK\r\nX-Private: 1\r\nA: b\r\nConnection: keep-alive\r\nConnection: X-Private\r\nKeep-Alive: timeout=5\r\n' +
      'Proxy-Connection: x\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok',
  );
  expect(await visitor.until('ok')).toBe(
    'HTTP/1.1 200 OK\r\nA: b\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  );
});

test('requests of one connection share a stream, and those for another name get one of their own', async () => {
  const app = await startApp();
  const other = await startScript();
  edge.serve('other.test', other.port);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  for (let i = 0; i < 3; i++) {
    expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
    upstream.take();
    upstream.send(OK);
    await visitor.until('ok');
    visitor.take();
    if (i < 2) visitor.send(GET);
  }
  expect(app.endpoint.opened).toBe(1);
  visitor.send('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n');
  const second = await other.next();
  await second.until('Host: other.test');
  second.send(OK);
  await visitor.until('ok');
  upstream.socket.end();
  expect(await upstream.closed).toBe('end');
});

test('pipelined requests go out one after the other, each when the answer before it is complete', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send([1, 2, 3].map((n) => `GET /${n} HTTP/1.1\r\nHost: app.test\r\n\r\n`).join(''));
  const upstream = await app.next();
  for (const n of [1, 2, 3]) {
    await upstream.until('\r\n\r\n');
    expect(upstream.take()).toBe(`GET /${n} HTTP/1.1\r\nHost: app.test\r\n${VISITOR}`);
    upstream.send(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n#`);
    await visitor.until('#');
    expect(upstream.text).toBe('');
    upstream.send(`${n}`);
    await visitor.until(`#${n}`);
  }
});

test('HEAD, 204 and 304 have no body, whatever their heads say, and requests go on after them', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  const heads = [
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'],
    ['HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['HEAD', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n'],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['DELETE', 'HTTP/1.1 204 No Content\r\nA: b\r\n\r\n'],
  ];
  visitor.send(`${heads[0]?.[0]} / HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  const upstream = await app.next();
  for (const [i, [, answer = '']] of heads.entries()) {
    await upstream.until('\r\n\r\n');
    upstream.take();
    upstream.send(answer);
    await visitor.until('\r\n\r\n');
    expect(visitor.take()).toBe(answer);
    const next = heads[i + 1];
    if (next) visitor.send(`${next[0]} / HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  }
});

test('a 204 that announces a body arrives without the announcement', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  (await app.next()).send('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n');
  expect(await visitor.until('\r\n\r\n')).toBe('HTTP/1.1 204 No Content\r\n\r\n');
});

test('chunks and trailers arrive as they are, both ways', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  const body = '5\r\nhello\r\n00A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n';
  visitor.send(`POST / HTTP/1.1\r\nHost: app.test\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
  const upstream = await app.next();
  await upstream.until('X-Other: 2\r\n\r\n');
  expect(upstream.text.endsWith(`\r\n\r\n${body}`)).toBe(true);
  const answer = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${body}`;
  upstream.send(answer);
  expect(await visitor.until('X-Other: 2\r\n\r\n')).toBe(answer);
});

test('Expect: 100-continue is the upstream’s to answer', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
  const upstream = await app.next();
  await upstream.until('Expect: 100-continue');
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 100 Continue\r\n\r\n');
  await visitor.until('HTTP/1.1 100 Continue\r\n\r\n');
  visitor.send('hello');
  await upstream.until('hello');
  upstream.send(OK);
  expect(await visitor.until('ok')).toBe(`HTTP/1.1 100 Continue\r\n\r\n${OK}`);
});

test('a body that is not wanted after Expect: 100-continue leaves no doubt about what follows', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno');
  await visitor.until('no');
  expect(await visitor.toEnd()).toBe(
    'HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
  );
});

test('interim answers are relayed, to HTTP/1.1', async () => {
  const app = await startApp();
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n';
  const visitor = (await visit(edge.port)).send(GET);
  (await app.next()).send(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);
  expect(await visitor.until('ok')).toBe(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);

  const old = (await visit(edge.port)).send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
  (await app.next()).send(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);
  expect(await old.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
});

test('events of a stream arrive as they are sent', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (const n of [1, 2, 3]) {
    upstream.send(`9\r\ndata: ${n}\n\n\r\n`);
    await visitor.until(`data: ${n}\n\n`);
  }
});

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
  const app = await startApp();
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
  const app = await startApp();
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
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.1\r\nUpgrade: ${protocol}\r\nHost: app.test\r\nConnection: ${option}\r\n${length}\r\nx`);
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).not.toMatch(/upgrade/i);
});

test('a visitor that has ended after its request still gets its answer', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port, { allowHalfOpen: true });
  visitor.send(GET).socket.end();
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
  await visitor.until('\r\n\r\n');
  upstream.send('late');
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlate');
  expect(await visitor.closed).toBe('end');
});

test('HTTP/1.0 is forwarded as such, and closed after its answer', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(`GET / HTTP/1.0\r\nHost: app.test\r\n${VISITOR}`);
  upstream.send('HTTP/1.0 200 OK\r\n\r\nuntil the end').socket.end();
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end');
  expect(await visitor.closed).toBe('end');
});

test('HTTP/1.0 with keep-alive is kept alive, and told so', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  const request = 'GET / HTTP/1.0\r\nHost: app.test\r\nConnection: Keep-Alive\r\n\r\n';
  visitor.send(request);
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(
    `GET / HTTP/1.0\r\nHost: app.test\r\nConnection: keep-alive\r\n${VISITOR}`,
  );
  upstream.send('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok');
  await visitor.until('ok');
  expect(visitor.take()).toContain('\r\nConnection: keep-alive\r\n');
  visitor.send(request);
  await upstream.until((text) => text.split('GET ').length === 3);
  upstream.send(OK);
  expect(await visitor.until('ok')).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok');
});

test('an upstream that closes after each answer doesn’t close the visitor’s connection', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  for (const answer of [
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
  ]) {
    visitor.send(GET);
    const upstream = await app.next();
    await upstream.until('\r\n\r\n');
    upstream.send(answer).socket.end();
    await visitor.until('ok');
    expect(visitor.take()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    expect(await upstream.closed).toBe('end');
  }
});

test('a visitor’s Connection: close closes after the answer', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
  upstream.send('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok');
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  expect(await visitor.closed).toBe('end');
});

test.each([{ 'Content-Length': 20 * 1024 * 1024 }, { 'Transfer-Encoding': 'chunked' }])(
  '20 MB go each way unchanged, with %o',
  async (framing) => {
    await startNodeApp((request, response) => {
      if (request.headers['content-length']) response.setHeader('Content-Length', request.headers['content-length']);
      request.pipe(response);
    });
    const body = randomBytes(20 * 1024 * 1024);
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
  const app = await startApp();
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
  const app = await startApp();
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
