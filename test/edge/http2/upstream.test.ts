import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { listen, readAll } from '../sockets.ts';
import { cut, type Edge, startEdge } from '../tls/support.ts';
import { ask, begin, NAME, serve } from './upstream-support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterEach(() => edge.empty());
afterAll(() => edge.close());

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

test('a request reaches the service as one of HTTP/2, and the answer comes back', async () => {
  let seen: IncomingHttpHeaders | undefined;
  await serve(edge, (stream, headers) => {
    seen = headers;
    stream.respond({ ':status': 201, 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] });
    stream.end('created');
  });
  const { response, body } = await ask(edge, {
    path: '/path?query=1',
    headers: { 'X-Custom': 'kept', Cookie: 'c=3; d=4' },
  });
  expect([response.statusCode, String(body)]).toEqual([201, 'created']);
  expect(response.headers['x-answer']).toBe('yes');
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(seen).toMatchObject({
    ':method': 'GET',
    ':path': '/path?query=1',
    ':scheme': 'http',
    ':authority': NAME,
    'x-custom': 'kept',
    cookie: 'c=3; d=4',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
  });
  expect(seen?.connection).toBeUndefined();
});

test('requests of one connection share a session of the service', async () => {
  const { sessions } = await serve(edge, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('ok');
  });
  const socket = await edge.visit(NAME);
  const one = `GET / HTTP/1.1\r\nHost: ${NAME}\r\n`;
  socket.write(`${one}\r\n${one}\r\n${one}Connection: close\r\n\r\n`);
  expect(String(await readAll(socket)).match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  expect(sessions.size).toBe(1);
});

test('4 MB each way, HEAD, and an answer without a body', async () => {
  await serve(edge, (stream, headers) => {
    if (headers[':method'] === 'HEAD') stream.respond({ ':status': 200, 'content-length': '77' }, { endStream: true });
    else if (headers[':path'] === '/204') stream.respond({ ':status': 204 }, { endStream: true });
    else {
      stream.respond({ ':status': 200 });
      stream.pipe(stream);
    }
  });
  const bytes = randomBytes(4_000_000);
  const stated = await ask(edge, { method: 'POST', headers: { 'Content-Length': bytes.length } }, bytes);
  expect(md5(stated.body)).toBe(md5(bytes));
  const chunked = await ask(edge, { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } }, bytes);
  expect(md5(chunked.body)).toBe(md5(bytes));
  const head = await ask(edge, { method: 'HEAD' });
  expect([head.response.headers['content-length'], head.body.length]).toEqual(['77', 0]);
  expect((await ask(edge, { path: '/204' })).response.statusCode).toBe(204);
});

test('gRPC: a visitor with HTTP/2, messages both ways at the same time, and a status in the trailer', async () => {
  let received: IncomingHttpHeaders | undefined;
  await serve(edge, (stream, headers) => {
    expect(headers).toMatchObject({ 'content-type': 'application/grpc', te: 'trailers' });
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }));
    stream.on('trailers', (fields) => {
      received = fields;
    });
    stream.on('data', (message) => stream.write(`re: ${message}`));
    stream.on('end', () => stream.end());
  });
  const session = await edge.visitHttp2(NAME);
  onTestFinished(() => session.destroy());
  const stream: ClientHttp2Stream = session.request(
    { ':method': 'POST', ':path': '/Service/Method', 'content-type': 'application/grpc', te: 'trailers' },
    { waitForTrailers: true },
  );
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-client': 'done' }));
  const trailers = once(stream, 'trailers');
  stream.setEncoding('utf8');
  for (const message of ['one', 'two', 'three']) {
    stream.write(message);
    expect((await once(stream, 'data'))[0]).toBe(`re: ${message}`);
  }
  stream.end();
  expect((await trailers)[0]).toMatchObject({ 'grpc-status': '0', 'grpc-message': 'fine' });
  await new Promise((resolve) => stream.once('close', resolve));
  expect(received).toMatchObject({ 'x-client': 'done' });
  session.destroy();
});

test('what ends with its head does so on both sides, as errors of gRPC do', async () => {
  const seen: boolean[] = [];
  await serve(edge, (stream, headers) => {
    seen.push(stream.endAfterHeaders);
    const type = String(headers['content-type']);
    stream.respond({ ':status': 200, 'content-type': type, 'grpc-status': '12' }, { endStream: true });
  });
  const session = await edge.visitHttp2(NAME);
  onTestFinished(() => cut(session));
  const end = async (type: string, fields: OutgoingHttpHeaders, body?: string) => {
    const stream = session.request(
      { ':method': 'POST', ':path': '/', 'content-type': type, ...fields },
      { endStream: body === undefined },
    );
    const answered = once(stream, 'response');
    if (body !== undefined) stream.end(body);
    const [headers, flags] = (await answered) as [IncomingHttpHeaders, number];
    expect(headers['grpc-status']).toBe('12');
    await new Promise((resolve) => stream.resume().once('close', resolve));
    return [(flags & constants.NGHTTP2_FLAG_END_STREAM) > 0, headers['content-length']];
  };
  expect(await end('application/grpc+proto', {}, 'call')).toEqual([true, undefined]);
  expect(await end('application/grpc', {})).toEqual([true, undefined]);
  expect(await end('application/grpc-web', { 'content-length': 0 })).toEqual([true, '0']);
  expect(seen).toEqual([false, true, true]);
  cut(session);
});

test('100-continue is the service’s to say', async () => {
  await serve(edge, (stream, headers) => {
    expect(headers.expect).toBe('100-continue');
    stream.additionalHeaders({ ':status': 100 });
    stream.respond({ ':status': 200 });
    stream.pipe(stream);
  });
  const socket = await edge.visit(NAME);
  socket.write(
    `POST / HTTP/1.1\r\nHost: ${NAME}\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`,
  );
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
  const rest = readAll(socket);
  socket.write('body');
  expect(String(await rest)).toMatch(/body/);
});

describe('what goes wrong', () => {
  test('a service that refuses, is none, or speaks HTTP/1', async () => {
    const server = createTcpServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    const port = await listen(server);
    const endpoint = edge.serve(NAME, port, { upstreamProtocol: 'http2' });
    onTestFinished(() => edge.endpoints.remove(endpoint));
    expect((await ask(edge)).response.statusCode).toBe(502);
    await new Promise((resolve) => server.close(resolve));
    const { response } = await ask(edge);
    expect([response.statusCode, response.headers['gateway-error-code']]).toEqual([502, 'ERR_GATEWAY_8012']);
  });

  test('a reset before the answer is a 502, one within it cuts it', async () => {
    await serve(edge, (stream, headers) => {
      if (headers[':path'] === '/at-once') return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      stream.respond({ ':status': 200 });
      stream.write('half', () => setImmediate(() => stream.destroy(new Error('broken'))));
    });
    expect((await ask(edge, { path: '/at-once' })).response.statusCode).toBe(502);
    const { rest } = await begin(edge);
    await expect(rest).rejects.toThrow(/aborted|ECONNRESET/);
  });

  test('a visitor who breaks off resets the request at the service', async () => {
    let code: Promise<number | undefined> | undefined;
    await serve(edge, (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half');
      code = new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
    });
    const raw = connect(edge.port, '127.0.0.1');
    const socket = await edge.visit(NAME, { socket: raw });
    socket.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`);
    await once(socket, 'data');
    raw.resetAndDestroy();
    expect(await code).not.toBe(constants.NGHTTP2_NO_ERROR);
  });

  test('a service that says good-bye is asked on another connection next time', async () => {
    let requests = 0;
    const { sessions } = await serve(edge, (stream) => {
      stream.respond({ ':status': 200 });
      stream.end(String(++requests), () => stream.session?.close());
    });
    const socket = await edge.visit(NAME);
    for (const expected of ['1', '2']) {
      socket.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`);
      let text = '';
      while (!text.endsWith('0\r\n\r\n')) text += String((await once(socket, 'data'))[0]);
      expect(text).toContain(`1\r\n${expected}\r\n`);
      await edge.empty(1); // The stream behind it has ended.
      while (edge.agent.session.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(sessions.size).toBe(2);
    socket.destroy();
  });

  test('a visitor who does not read holds up the service', async () => {
    const total = 48 * 1024 * 1024;
    let written = 0;
    await serve(edge, (stream, headers) => {
      if (headers[':path'] === '/neighbour') return void stream.respond({ ':status': 204 }, { endStream: true });
      stream.respond({ ':status': 200, 'content-length': total });
      const go = () => {
        while (written < total) {
          written += 65_536;
          if (!stream.write(Buffer.alloc(65_536))) return void stream.once('drain', go);
        }
        stream.end();
      };
      go();
    });
    const socket = await edge.visit(NAME);
    socket.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
    await once(socket, 'readable');
    let before = -1;
    while (before !== written) {
      before = written;
      // A neighbour's round trips tell when everything that can move has moved.
      for (let i = 0; i < 10; i++) await ask(edge, { path: '/neighbour' });
    }
    expect(written).toBeLessThan(24 * 1024 * 1024);
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    await once(socket, 'end');
    expect(received).toBeGreaterThan(total);
  });
});
