// Requests over HTTP/2.

import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Edge, startEdge } from '../tls/support.ts';
import { answer, ask, NAME, serve, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

test('CONNECT is answered with the methods that are taken, and the connection goes on', async () => {
  await serve(edge, (_, response) => response.end('hello'));
  const session = await visit(edge);
  const connect = session.request({ ':method': 'CONNECT', ':authority': `${NAME}:443` });
  const refused = await answer(connect);
  expect(refused.headers).toMatchObject({ ':status': 405, allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' });
  expect(String(refused.body)).toContain('ERR_GATEWAY_90124');
  expect(String((await ask(session)).body)).toBe('hello');
});

describe('a request', () => {
  test('reaches the upstream as one of HTTP/1.1, and says who the visitor is', async () => {
    let seen: { line: string; raw: string[] } | undefined;
    await serve(edge, (request, response) => {
      seen = {
        line: `${request.method} ${request.url} ${request.httpVersion}`,
        raw: request.rawHeaders,
      };
      response.setHeader('X-Answer', ['one', 'two']);
      response.setHeader('Set-Cookie', ['a=1', 'b=2']);
      response.end('hello');
    });
    const session = await visit(edge);
    const { headers, body } = await ask(session, {
      ':path': '/path?query=1',
      cookie: ['c=3', 'd=4'],
      'x-forwarded-for': '192.0.2.1',
      'x-custom': 'kept',
      te: 'trailers',
    });
    expect(String(body)).toBe('hello');
    expect(headers[':status']).toBe(200);
    expect(headers['x-answer']).toBe('one, two');
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(headers.connection).toBeUndefined();
    expect(headers['keep-alive']).toBeUndefined();
    expect(seen?.line).toBe('GET /path?query=1 1.1');
    const fields = Object.fromEntries(pairs(seen?.raw ?? []));
    expect(fields).toEqual({
      Host: `${NAME}:${edge.port}`,
      'x-custom': 'kept',
      te: 'trailers',
      Connection: 'TE',
      Cookie: 'c=3; d=4',
      'X-Forwarded-For': '127.0.0.1',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': `${NAME}:${edge.port}`,
    });
  });

  test('HEAD, 204 and 304 have no body', async () => {
    await serve(edge, (request, response) => {
      if (request.url === '/204') response.writeHead(204).end();
      else if (request.url === '/304') response.writeHead(304, { etag: '"x"' }).end();
      else response.setHeader('Content-Length', '1000').end();
    });
    const session = await visit(edge);
    const head = await ask(session, { ':method': 'HEAD' });
    expect([head.headers[':status'], head.headers['content-length'], head.body.length]).toEqual([200, '1000', 0]);
    expect((await ask(session, { ':path': '/204' })).headers[':status']).toBe(204);
    const unchanged = await ask(session, { ':path': '/304' });
    expect([unchanged.headers[':status'], unchanged.headers.etag]).toEqual([304, '"x"']);
  });

  test('streams to the upstream are used again', async () => {
    const sockets = new Set<Socket>();
    await serve(edge, (request, response) => {
      sockets.add(request.socket);
      response.end(String(sockets.size));
    });
    const session = await visit(edge);
    for (let i = 0; i < 5; i++) expect(String((await ask(session)).body)).toBe('1');
  });
});

test('100 requests at the same time on one connection', async () => {
  let waiting: (() => void)[] = [];
  await serve(edge, (request, response) => {
    // All are answered when all are there.
    waiting.push(() => response.end(request.url));
    if (waiting.length < 100) return;
    for (const go of waiting) go();
    waiting = [];
  });
  const session = await visit(edge);
  const paths = Array.from({ length: 100 }, (_, i) => `/${i}`);
  const answers = await Promise.all(paths.map((path) => ask(session, { ':path': path })));
  expect(answers.map(({ body }) => String(body))).toEqual(paths);
});

function pairs(raw: string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ''] as [string, string]] : []));
}
