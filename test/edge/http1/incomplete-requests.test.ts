// Responses before the end of their requests, and requests that break off.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorResponseOf, GET, OK, startApp } from './app.ts';
import { type Edge, startEdge, startUpstream, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('an answer that comes before the request was read is an answer', async () => {
  const port = await startUpstream((peer) => void peer.send(OK));
  edge.serve('app.test', port);
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until('ok')).toBe(OK);
});

test('an answer before the end of the request’s body is delivered, and closes the connection', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100000000\r\n\r\n');
  visitor.send(Buffer.alloc(500_000));
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig');
  expect(await visitor.toEnd()).toBe(
    'HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig',
  );
  expect(await visitor.closed).toBe('end');
  expect((await upstream.untilEnd()).length).toBeLessThan(600_000);
});

test('an answer may begin before its request is complete, and both go on', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n#1\r\n');
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (const n of [1, 2, 3]) {
    await upstream.until(`#${n}`);
    upstream.send(`2\r\n=${n}\r\n`);
    await visitor.until(`=${n}`);
    visitor.send(n < 3 ? `2\r\n#${n + 1}\r\n` : '0\r\n\r\n');
  }
  await upstream.until('0\r\n\r\n');
  upstream.send('0\r\n\r\n');
  expect(await visitor.toEnd()).toMatch(/0\r\n\r\n$/);
});

test('a visitor that breaks off its request breaks it off for the upstream', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nhalf');
  const upstream = await app.next();
  await upstream.until('half');
  visitor.socket.resetAndDestroy();
  expect(await upstream.closed).toBe('reset');
});

test('a visitor that leaves before its answer is complete ends the work for it', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  await visitor.until('\r\n\r\n');
  visitor.socket.resetAndDestroy();
  expect(await upstream.closed).toBe('reset');
});

test('a body with a broken chunk is answered, and the upstream doesn’t take it for complete', async () => {
  const app = await startApp(edge);
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n');
  const upstream = await app.next();
  await upstream.until('part');
  visitor.send('nonsense');
  expect(await visitor.toEnd()).toMatch(errorResponseOf('badBody', 'close'));
  expect(await upstream.closed).toBe('reset');
});

test('an endpoint that is closed serves no further request, not even on a connection that it served', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(OK);
  await visitor.until('ok');
  app.endpoint.close();
  edge.endpoints.delete('app.test');
  visitor.take();
  visitor.send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(errorResponseOf('unknownName', 'keep-alive'));
});
