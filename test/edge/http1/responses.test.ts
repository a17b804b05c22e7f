// What visitors get of the responses of upstreams.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { GET, OK, startApp } from './app.ts';
import { type Edge, startEdge, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('an ordinary answer arrives byte for byte', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  const answer =
    'HTTP/1.1 200 Fine\r\nserver: x\r\nConnection: keep-alive\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nX_Y: \xff\r\nContent-Length: 2\r\n\r\nok';
  upstream.send(answer);
  expect(await visitor.until('ok')).toBe(answer);
});

test('an answer arrives without what is for one hop only', async () => {
  const app = await startApp(edge);
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

test('HEAD, 204 and 304 have no body, whatever their heads say, and requests go on after them', async () => {
  const app = await startApp(edge);
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
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  (await app.next()).send('HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n');
  expect(await visitor.until('\r\n\r\n')).toBe('HTTP/1.1 204 No Content\r\n\r\n');
});

test('interim answers are relayed, to HTTP/1.1', async () => {
  const app = await startApp(edge);
  const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n';
  const visitor = (await visit(edge.port)).send(GET);
  (await app.next()).send(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);
  expect(await visitor.until('ok')).toBe(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);

  const old = (await visit(edge.port)).send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
  (await app.next()).send(`HTTP/1.1 102 Processing\r\n\r\n${hints}${OK}`);
  expect(await old.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
});

test('events of a stream arrive as they are sent', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (const n of [1, 2, 3]) {
    upstream.send(`9\r\ndata: ${n}\n\n\r\n`);
    await visitor.until(`data: ${n}\n\n`);
  }
});
