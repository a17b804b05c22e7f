// Responses that are malformed, come in pieces, or that nobody has asked for.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { noVisits } from '../tls/support.ts';
import { errorResponseOf, GET, OK, startApp } from './app.ts';
import { type Edge, startEdge, startUpstream, visit } from './support.ts';

let edge: Edge;

const faults: object[] = [];

beforeAll(async () => {
  const services = { ...noVisits, logFault: (fault: object) => faults.push(fault) };
  edge = await startEdge({ context: { services } });
});
afterAll(() => edge.close());

const get = (host: string, more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;

/** An upstream that answers every request with the same bytes, and ends. */
async function answering(bytes: string, ends = true): Promise<void> {
  const port = await startUpstream((peer) => {
    void peer.until('\r\n\r\n').then(() => {
      peer.send(bytes);
      if (ends) peer.socket.end();
    });
  });
  edge.serve('app.test', port);
}

test('half a head of one answer is no part of the next one', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const first = await app.next();
  await first.until('\r\n\r\n');
  first.send('HTTP/1.1 200 OK\r\nContent-Length: 9').socket.end();
  await visitor.until(/: .*\.\n$/);
  visitor.take();
  visitor.send(GET);
  (await app.next()).send(OK);
  expect(await visitor.until('ok')).toBe(OK);
});

test('an answer whose head comes in pieces, and late, arrives as it is', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  const answer = 'HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok';
  for (const piece of answer.match(/.{1,7}/gs) ?? []) {
    upstream.send(piece);
    // An answer to somebody else shows that the piece before it has arrived.
    const other = (await visit(edge.port)).send(get('nobody.test', 'Connection: close\r\n'));
    await other.toEnd();
  }
  expect(await visitor.until('ok')).toBe(answer);
});

test.each([
  ['is folded over several lines', 'X-Note: a\r\n b\r\n'],
  ['has a space behind its name', 'X-Note : a\r\n'],
  ['is not well formed', 'X-Note(1): a\r\n'],
])('the log says which field of a service %s', async (what, field) => {
  await answering(`HTTP/1.1 200 OK\r\nServer: old\r\n${field}Content-Length: 2\r\n\r\nok`);
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until('ERR_GATEWAY_90106')).not.toContain('X-Note');
  const reason = expect.stringMatching(`^the header field "X-Note.*" of the service ${what}$`);
  expect(faults.at(-1)).toEqual({ endpointId: expect.stringMatching(/^ep_/), accountId: 'ac_1', reason });
});

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a bare CR', 'HTTP/1.1 200 OK\rContent-Length: 2\r\rok'],
  ['a version of two digits', 'HTTP/1.10 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['a folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'],
  ['NUL', 'HTTP/1.1 200 OK\r\nA: \0\r\nContent-Length: 2\r\n\r\nok'],
  ['two Content-Lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ['a list of Content-Lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a negative Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
  ['Content-Length and chunked', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunked and Content-Length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n'],
  ['gzip, chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  [
    'a Connection that lists Content-Length',
    'HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 2\r\n\r\nok',
  ],
  ['a 101 that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
  ['a chunk that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
  ['a head that is too large', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`],
])('an answer that is not valid is not relayed: %s', async (_, bytes) => {
  await answering(bytes, false);
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(errorResponseOf('upstreamInvalid', 'keep-alive'));
});

test('chunks are not sent to HTTP/1.0', async () => {
  await answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n');
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.0\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n');
  expect(await visitor.toEnd()).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok');
});

test.each([
  ['by its length', 'Content-Length: 100', 'only a part'],
  ['in a chunk', 'Transfer-Encoding: chunked', '10\r\nonly a part'],
  ['between chunks', 'Transfer-Encoding: chunked', '4\r\npart\r\n'],
])('an answer that ends too early is cut for the visitor too: %s', async (_, framing, body) => {
  const { cut } = edge.counters;
  const head = `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`;
  await answering(head + body);
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.closed).toBe('reset');
  expect(head + body).toContain(visitor.text);
  expect(edge.counters.cut).toBe(cut + 1);
});

test('an answer without a length that breaks off is cut, and no clean end', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\n\r\npart');
  await visitor.until('part');
  upstream.socket.resetAndDestroy();
  expect(await visitor.closed).toBe('reset');
});

test('an answer with a broken chunk in its middle is cut', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n');
  await visitor.until('part\r\n');
  upstream.send('4x\r\npart\r\n0\r\n\r\n');
  expect(await visitor.closed).toBe('reset');
  expect(await upstream.closed).toBe('reset');
});

test('a second answer to one request reaches nobody', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const first = await app.next();
  await first.until('\r\n\r\n');
  first.send(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden`);
  await visitor.until('ok');
  expect(await first.closed).toBe('reset');
  visitor.send(GET);
  const second = await app.next();
  await second.until('\r\n\r\n');
  second.send(OK);
  expect(await visitor.until(/ok.*ok/s)).toBe(OK + OK);
});

test('an answer that comes when nobody asked reaches nobody', async () => {
  const app = await startApp(edge);
  const visitor = (await visit(edge.port)).send(GET);
  const first = await app.next();
  await first.until('\r\n\r\n');
  first.send(OK);
  await visitor.until('ok');
  first.send('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n');
  expect(await first.closed).toBe('reset');
  visitor.send(GET);
  const second = await app.next();
  await second.until('\r\n\r\n');
  second.send(OK);
  expect(await visitor.until(/ok.*ok/s)).toBe(OK + OK);
});
