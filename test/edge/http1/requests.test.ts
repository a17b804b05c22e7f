// What upstreams get of the requests of visitors.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { OK, startApp, VISITOR } from './app.ts';
import { type Edge, startEdge, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('a request arrives without what is for one hop only, and with who sent it', async () => {
  const app = await startApp(edge);
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
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\n${fields}\r\n`);
  expect(await (await app.next()).until('\r\n\r\n')).toBe(`GET / HTTP/1.1\r\nHost: app.test\r\n${forwarded}${VISITOR}`);
});

test.each(['TRACE /', 'CONNECT app.test:80'])('%s is refused, with the methods that are not', async (line) => {
  const visitor = await visit(edge.port);
  visitor.send(`${line} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
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
  const app = await startApp(edge);
  (await visit(edge.port)).send(`${method} ${target} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  expect(upstream.text).toBe(`${method} ${expected} HTTP/1.1\r\nHost: app.test\r\n${VISITOR}`);
});

test('chunks and trailers arrive as they are, both ways', async () => {
  const app = await startApp(edge);
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
  const app = await startApp(edge);
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
  const app = await startApp(edge);
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
