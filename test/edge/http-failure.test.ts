// What visitors see when something goes wrong, and what upstreams see of it.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type VisitorError, visitorErrors } from '../../src/http/visitor-errors.ts';
import type { OpenFailure } from '../../src/tunnel/endpoints/endpoint.ts';
import { type Edge, startEdge, startScript, startUpstream, visit } from './support.ts';
import { listen } from './tls-support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({
    whereabouts: { 'offline.test': 'offline', 'elsewhere.test': 'elsewhere' },
    front: {
      redirect: (hostname) => (hostname === 'secure.test' ? 'https://secure.test:8443' : undefined),
    },
  });
});
afterAll(() => edge.close());

const get = (host: string, more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const GET = get('app.test');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** The answer that shows an error to programs. */
function answerOf(error: VisitorError, connection: 'close' | 'keep-alive'): RegExp {
  const { number, status, text, retryAfter } = visitorErrors[error];
  const body = `ERR_GATEWAY_${number}: ${text}\n`;
  return new RegExp(
    [
      `^HTTP/1\\.1 ${status} [A-Za-z -]+`,
      'Date: [^\r]+ GMT',
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${body.length}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `Gateway-Error-Code: ERR_GATEWAY_${number}`,
      ...(retryAfter ? [`Retry-After: ${retryAfter}`] : []),
      `Connection: ${connection}`,
      '',
      `${body.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
    ].join('\r\n'),
  );
}

async function startApp() {
  const script = await startScript();
  return { ...script, endpoint: edge.serve('app.test', script.port) };
}

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

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

test.each<[string, VisitorError]>([
  ['nobody.test', 'unknownName'],
  ['offline.test', 'offline'],
  ['elsewhere.test', 'elsewhere'],
  ['misdirected.test', 'misdirected'],
])('%s is answered with %s, and the connection goes on', async (host, error) => {
  const visitor = (await visit(edge.port)).send(get(host) + get(host, 'Connection: close\r\n'));
  const text = await visitor.toEnd();
  const [first = '', second = ''] = text.split(/(?<=\n)(?=HTTP\/1\.1)/);
  expect(first).toMatch(answerOf(error, 'keep-alive'));
  expect(second).toMatch(answerOf(error, 'close'));
});

test('browsers get a page that needs nothing else', async () => {
  const visitor = (await visit(edge.port)).send(
    get('nobody.test', 'accept: text/html,*/*;q=0.8\r\nConnection: close\r\n'),
  );
  const page = await visitor.toEnd();
  expect(page).toMatch(/^HTTP\/1\.1 404 Not Found\r\nDate: .*\r\nContent-Type: text\/html; charset=utf-8\r\n/);
  expect(page).toContain('No endpoint has this name.');
  expect(page).toContain('ERR_GATEWAY_3200');
  expect(page).not.toMatch(/src=|href=|url\(|@import/);
  expect(page).toContain('color-scheme: light dark');
  const [head = '', body = ''] = page.split('\r\n\r\n');
  expect(Number(/Content-Length: (\d+)/.exec(head)?.[1])).toBe(Buffer.byteLength(body));
});

test('HEAD gets the head of an error alone', async () => {
  const visitor = await visit(edge.port);
  visitor.send('HEAD / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n\r\n');
  expect(await visitor.toEnd()).toMatch(/^HTTP\/1\.1 404 Not Found\r\n(?:.+\r\n)+\r\n$/);
});

test('an error before the body of a request was read closes the connection, with the answer readable', async () => {
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: nobody.test\r\nContent-Length: 10000000\r\n\r\n');
  visitor.send(Buffer.alloc(1_000_000));
  expect(await visitor.toEnd()).toMatch(answerOf('unknownName', 'close'));
  expect(await visitor.closed).toBe('end');
});

test('a name that is served at another origin leads there', async () => {
  const visitor = await visit(edge.port);
  visitor.send('GET /a?b=c HTTP/1.1\r\nHost: secure.test\r\nConnection: close\r\n\r\n');
  expect(await visitor.toEnd()).toMatch(
    /^HTTP\/1\.1 307 Temporary Redirect\r\nDate: .*\r\nLocation: https:\/\/secure\.test:8443\/a\?b=c\r\nContent-Length: 0\r\n/,
  );
});

test.each<[OpenFailure, VisitorError]>([
  ['offline', 'offline'],
  ['overloaded', 'overloaded'],
])('an endpoint that is %s is said to be', async (failure, error) => {
  edge.serve('app.test', 1).failure = failure;
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/\n$/)).toMatch(answerOf(error, 'keep-alive'));
});

test('an upstream that refuses connections is said to do so', async () => {
  edge.serve('app.test', await closedPort());
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/8012: .*\n$/)).toMatch(answerOf('upstreamRefused', 'keep-alive'));
});

test('an upstream that closes without an answer is said to do so', async () => {
  await answering('');
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(answerOf('upstreamClosed', 'keep-alive'));
});

test('an upstream that closes in the middle of a head is said to do so', async () => {
  await answering('HTTP/1.1 200 OK\r\nContent-Le');
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(answerOf('upstreamClosed', 'keep-alive'));
});

test('half a head of one answer is no part of the next one', async () => {
  const app = await startApp();
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
  const app = await startApp();
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
  expect(await visitor.until(/: .*\.\n$/)).toMatch(answerOf('upstreamInvalid', 'keep-alive'));
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
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\n\r\npart');
  await visitor.until('part');
  upstream.socket.resetAndDestroy();
  expect(await visitor.closed).toBe('reset');
});

test('an answer with a broken chunk in its middle is cut', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n');
  await visitor.until('part\r\n');
  upstream.send('4x\r\npart\r\n0\r\n\r\n');
  expect(await visitor.closed).toBe('reset');
  expect(await upstream.closed).toBe('reset');
});

test('a second answer to one request reaches nobody', async () => {
  const app = await startApp();
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
  const app = await startApp();
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

test('an answer that comes before the request was read is an answer', async () => {
  const port = await startUpstream((peer) => void peer.send(OK));
  edge.serve('app.test', port);
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until('ok')).toBe(OK);
});

test('an answer before the end of the request’s body is delivered, and closes the connection', async () => {
  const app = await startApp();
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
  const app = await startApp();
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
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nhalf');
  const upstream = await app.next();
  await upstream.until('half');
  visitor.socket.resetAndDestroy();
  expect(await upstream.closed).toBe('reset');
});

test('a visitor that leaves before its answer is complete ends the work for it', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  upstream.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  await visitor.until('\r\n\r\n');
  visitor.socket.resetAndDestroy();
  expect(await upstream.closed).toBe('reset');
});

test('a body with a broken chunk is answered, and the upstream doesn’t take it for complete', async () => {
  const app = await startApp();
  const visitor = await visit(edge.port);
  visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n');
  const upstream = await app.next();
  await upstream.until('part');
  visitor.send('nonsense');
  expect(await visitor.toEnd()).toMatch(answerOf('badBody', 'close'));
  expect(await upstream.closed).toBe('reset');
});

test('an endpoint that is closed serves no further request, not even on a connection that it served', async () => {
  const app = await startApp();
  const visitor = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(OK);
  await visitor.until('ok');
  app.endpoint.close();
  edge.endpoints.delete('app.test');
  visitor.take();
  visitor.send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(answerOf('unknownName', 'keep-alive'));
});
