// What visitors see when something goes wrong.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VisitorError } from '../../../src/http/visitor-errors.ts';
import type { OpenFailure } from '../../../src/tunnel/endpoints/endpoint.ts';
import { listen } from '../sockets.ts';
import { errorResponseOf, GET } from './app.ts';
import { type Edge, startEdge, startUpstream, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({
    whereabouts: { 'offline.test': 'offline', 'elsewhere.test': 'elsewhere' },
    context: {
      redirect: (hostname) => (hostname === 'secure.test' ? 'https://secure.test:8443' : undefined),
    },
  });
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
  expect(first).toMatch(errorResponseOf(error, 'keep-alive'));
  expect(second).toMatch(errorResponseOf(error, 'close'));
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
  expect(await visitor.toEnd()).toMatch(errorResponseOf('unknownName', 'close'));
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
  expect(await visitor.until(/\n$/)).toMatch(errorResponseOf(error, 'keep-alive'));
});

test('an upstream that refuses connections is said to do so', async () => {
  edge.serve('app.test', await closedPort());
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/8012: .*\n$/)).toMatch(errorResponseOf('upstreamRefused', 'keep-alive'));
});

test('an upstream that closes without an answer is said to do so', async () => {
  await answering('');
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(errorResponseOf('upstreamClosed', 'keep-alive'));
});

test('an upstream that closes in the middle of a head is said to do so', async () => {
  await answering('HTTP/1.1 200 OK\r\nContent-Le');
  const visitor = (await visit(edge.port)).send(GET);
  expect(await visitor.until(/: .*\.\n$/)).toMatch(errorResponseOf('upstreamClosed', 'keep-alive'));
});
