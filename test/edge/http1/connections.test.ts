// Connections of visitors, and of upstreams, over several requests.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORWARDED, GET, OK, startApp, VISITOR } from './app.ts';
import { allowHalfClose, type Edge, startEdge, startScript, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('requests of one connection share a stream, and those for another name get one of their own', async () => {
  const app = await startApp(edge);
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
  const app = await startApp(edge);
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

test.each([
  ['before the answer', ''],
  ['within the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nla'],
])('for a visitor that ends %s nobody works any more', async (_, begun) => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  if (begun) upstream.send(begun);
  if (begun) await visitor.until('la');
  visitor.socket.end();
  expect(await upstream.closed).toBe('reset');
  await visitor.closed;
});

test('where the endpoint allows it, a visitor that has ended after its request still gets its answer', async () => {
  const app = await startApp(edge);
  allowHalfClose(app.endpoint);
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

test('HTTP/1.0 is forwarded as HTTP/1.1, and closed after its answer', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
  upstream.send('HTTP/1.0 200 OK\r\n\r\nuntil the end').socket.end();
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end');
  expect(await visitor.closed).toBe('end');
});

test.each([
  ['', '/'],
  ['a target in absolute form', 'http://app.test/'],
])('HTTP/1.0 with keep-alive is kept alive, and told so; with %s', async (_, target) => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  const request = `GET ${target} HTTP/1.0\r\nHost: app.test\r\nConnection: Keep-Alive\r\n\r\n`;
  visitor.send(request);
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
  upstream.send('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok');
  await visitor.until('ok');
  expect(visitor.take()).toContain('\r\nConnection: keep-alive\r\n');
  visitor.send(request);
  await upstream.until((text) => text.split('GET ').length === 3);
  upstream.send(OK);
  expect(await visitor.until('ok')).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok');
});

test('an upstream that closes after each answer doesn’t close the visitor’s connection', async () => {
  const app = await startApp(edge);
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
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
  const upstream = await app.next();
  expect(await upstream.until('\r\n\r\n')).toBe(FORWARDED);
  upstream.send('HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok');
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  expect(await visitor.closed).toBe('end');
});
