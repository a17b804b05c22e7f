// Bodies over HTTP/2, both ways.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, type IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Edge, startEdge } from '../tls/support.ts';
import { answer, ask, script, serve, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

describe('bodies', () => {
  test('3 MB each way at the same time, with a stated length and without', async () => {
    await serve(edge, (request, response) => {
      const { 'content-length': length } = request.headers;
      if (length) response.setHeader('Content-Length', length);
      request.pipe(response);
    });
    const session = await visit(edge);
    const bytes = randomBytes(3_000_000);
    const [stated, chunked] = await Promise.all([
      ask(session, { ':method': 'POST', 'content-length': bytes.length }, bytes),
      ask(session, { ':method': 'POST' }, bytes),
    ]);
    expect(md5(stated.body)).toBe(md5(bytes));
    expect(md5(chunked.body)).toBe(md5(bytes));
    expect([stated.code, chunked.code]).toEqual([0, 0]);
  });

  test('trailers both ways, as gRPC needs them', async () => {
    let received: Record<string, unknown> | undefined;
    await serve(edge, (request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/grpc', Trailer: 'grpc-status' });
      request.on('data', (chunk) => response.write(chunk));
      request.on('end', () => {
        received = request.trailers;
        response.addTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' });
        response.end();
      });
    });
    const session = await visit(edge);
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-checksum': 'abc' }));
    const answered = answer(stream);
    stream.write('ping');
    const [pong] = await once(stream, 'data');
    expect(String(pong)).toBe('ping'); // Both directions are open at the same time.
    stream.end('more');
    const { body, trailers } = await answered;
    expect(String(body)).toBe('pingmore');
    expect(trailers).toMatchObject({ 'grpc-status': '0', 'grpc-message': 'fine' });
    expect(received).toEqual({ 'x-checksum': 'abc' });
  });

  test.each([
    ['lines that end in LF alone', 'HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nok'],
    ['Content-Length twice', 'HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
    [
      'an end-to-end field in Connection',
      'HTTP/1.2 200 OK\r\nConnection: close, x-b, date\r\nX-B: c\r\nX-A: b\r\n\r\nok',
    ],
    [
      'odd chunks',
      'HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n2 ;a=b\nok\r\n0;c\r\nHost: d\r\nX-End: yes\n\r\n',
    ],
  ])('an answer of an old server with %s arrives as it was meant', async (_, wire) => {
    await script(edge, (socket) => void socket.end(wire));
    const { headers, body, trailers } = await ask(await visit(edge));
    expect(headers).toMatchObject({ ':status': 200, 'x-a': 'b' });
    expect(headers).not.toHaveProperty('x-b');
    expect(String(body)).toBe('ok');
    if (wire.includes('chunked')) expect(Object.keys(trailers ?? {})).toEqual(['x-end']);
  });

  test('an answer in chunks of every size is put together as it was', async () => {
    const text = Array.from({ length: 3000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
    const chunked = Array.from({ length: 60 }, (_, i) => text.slice((i * (i + 1)) / 2, ((i + 1) * (i + 2)) / 2))
      .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join('');
    const wire = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}0\r\nX-End: yes\r\n\r\n`;
    await script(edge, (socket, request) => {
      const step = Number(/ \/(\d+) /.exec(request)?.[1]);
      const go = (at: number) => {
        if (at < wire.length) socket.write(wire.slice(at, at + step), () => setImmediate(go, at + step));
      };
      socket.setNoDelay(true);
      go(0);
    });
    const session = await visit(edge);
    for (const step of [7, 16, 1000, 100_000]) {
      const { body, trailers } = await ask(session, { ':path': `/${step}` });
      expect(String(body)).toBe(text.slice(0, 1830));
      expect(trailers).toMatchObject({ 'x-end': 'yes' });
    }
  });

  test('an answer that ends with its connection', async () => {
    await script(edge, (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it'));
    expect(await ask(await visit(edge))).toMatchObject({ body: Buffer.from('all of it'), code: 0 });
  });

  test('100-continue and 103 come before the answer', async () => {
    await serve(edge, (request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      request.resume().on('end', () => response.end('done'));
    });
    const session = await visit(edge);
    const stream = session.request({ ':path': '/', ':method': 'POST', expect: '100-continue' });
    const interims: IncomingHttpHeaders[] = [];
    stream.on('headers', (fields) => interims.push(fields));
    const answered = answer(stream);
    await once(stream, 'continue');
    stream.end('body');
    expect(String((await answered).body)).toBe('done');
    expect(interims.map((fields) => fields[':status'])).toEqual([100, 103]);
    expect(interims[1]?.link).toBe('</style.css>; rel=preload');
  });

  test('an answer before the end of the request is delivered, and the rest is not wanted', async () => {
    await serve(edge, (request, response) => {
      response.writeHead(413).end('too much');
      request.on('error', () => {});
    });
    const session = await visit(edge);
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    const answered = answer(stream);
    stream.write(Buffer.alloc(1000));
    const { headers, body, code } = await answered;
    expect([headers[':status'], String(body), code]).toEqual([413, 'too much', constants.NGHTTP2_NO_ERROR]);
  });

  test('a visitor who does not read holds up that answer only, and nothing piles up', async () => {
    const total = 32 * 1024 * 1024;
    let written = 0;
    await serve(edge, (request, response) => {
      if (request.url === '/quick') return void response.end('quick');
      const block = Buffer.alloc(64 * 1024, 1);
      const go = () => {
        while (written < total) {
          written += block.length;
          if (!response.write(block)) return void response.once('drain', go);
        }
        response.end();
      };
      go();
    });
    const session = await visit(edge);
    const slow = session.request({ ':path': '/' });
    await once(slow, 'response');
    let before = -1;
    while (before !== written) {
      before = written;
      for (let i = 0; i < 10; i++) expect(String((await ask(session, { ':path': '/quick' })).body)).toBe('quick');
    }
    expect(written).toBeLessThan(16 * 1024 * 1024);
    let received = 0;
    slow.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    await once(slow, 'end');
    expect(received).toBe(total);
  });
});
