// What is told of requests of HTTP/1 that fail, or that somebody breaks off.

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Edge, type Peer, startEdge, startScript, visit } from '../../edge/http1/support.ts';
import { Hearer, visitsFor } from './lab.ts';

let edge: Edge;
const hearer = new Hearer();

beforeAll(async () => {
  edge = await startEdge({ settings: { upstreamTimeout: 100 }, context: { services: visitsFor(hearer) } });
});
afterAll(() => edge.close());
beforeEach(() => expect(hearer.requests.splice(0)).toEqual([]));

/** A visitor whose request has come to upstream. */
async function asked(head = 'GET / HTTP/1.1'): Promise<{ visitor: Peer; upstream: Peer }> {
  const script = await startScript();
  edge.serve('app.test', script.port);
  const visitor = await visit(edge.port);
  visitor.send(`${head}\r\nHost: app.test\r\n\r\n`);
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  return { visitor, upstream };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';

test('the visitor leaves before there is an answer', async () => {
  const { visitor } = await asked();
  visitor.socket.resetAndDestroy();
  const { request, response } = await hearer.one();
  expect(response).toBeUndefined();
  expect(request.lastByteAt).toBe(request.firstByteAt);
});

test('the visitor leaves in the middle of the answer', async () => {
  const { visitor, upstream } = await asked();
  upstream.send(`${HEAD}half`);
  await visitor.until('half');
  visitor.socket.resetAndDestroy();
  expect((await hearer.one()).response).toMatchObject({ status: 200, bodyLength: 4, isComplete: false });
});

test('the visitor leaves in the middle of the request', async () => {
  const { visitor, upstream } = await asked('POST / HTTP/1.1\r\nContent-Length: 10');
  visitor.send('half');
  await upstream.until('half');
  visitor.socket.resetAndDestroy();
  const { request, response } = await hearer.one();
  expect(response).toBeUndefined();
  expect(request.bodyLength).toBe(4);
  expect(request.lastByteAt).toBeGreaterThan(request.firstByteAt);
});

test.each([
  ['ends without an answer', '', 502],
  ['ends in the head', 'HTTP/1.1 200 OK\r\n', 502],
  ['answers with garbage', 'what?\r\n\r\n', 502],
])('upstream %s: the answer of the gateway', async (_, bytes, status) => {
  const { visitor, upstream } = await asked();
  upstream.send(bytes).socket.end();
  await visitor.until(`HTTP/1.1 ${status} `);
  const { response } = await hearer.one();
  expect(response).toMatchObject({ status, isComplete: true });
  await visitor.until((text) => text.split('\r\n\r\n')[1]?.length === response?.bodyLength);
});

test('upstream ends in the middle of its answer', async () => {
  const { upstream } = await asked();
  upstream.send(`${HEAD}half`).socket.end();
  expect((await hearer.one()).response).toMatchObject({ status: 200, bodyLength: 4, isComplete: false });
});

test('upstream never answers', async () => {
  await asked();
  expect((await hearer.one()).response).toMatchObject({ status: 504, isComplete: true });
});

test('no stream can be opened', async () => {
  edge.serve('app.test', 1).failure = 'offline';
  (await visit(edge.port)).send('HEAD / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  expect((await hearer.one()).response).toMatchObject({ status: 502, bodyLength: 0, isComplete: true });
});

test('the gateway ends', async () => {
  const other = await startEdge({ context: { services: visitsFor(hearer) } });
  const script = await startScript();
  other.serve('app.test', script.port);
  (await visit(other.port)).send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  await (await script.next()).until('\r\n\r\n');
  await other.close();
  expect((await hearer.one()).response).toBeUndefined();
});
