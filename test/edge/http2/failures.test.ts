import { once } from 'node:events';
import { createServer } from 'node:http';
import { constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { closed, listen, openSockets } from '../sockets.ts';
import { cut, type Edge, startEdge } from '../tls/support.ts';
import { answer, ask, NAME, script, serve, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

describe('what goes wrong', () => {
  const problem = async (headers: OutgoingHttpHeaders, name = NAME) => {
    const { headers: fields, body } = await ask(await visit(edge, name), headers);
    return { status: fields[':status'], code: fields['gateway-error-code'], type: fields['content-type'], body };
  };

  test('a name under the base domain that nobody has', async () => {
    const found = await problem({}, 'nobody.tunnel.localhost');
    expect(found).toMatchObject({ status: 404, code: 'ERR_GATEWAY_3200', type: 'text/plain; charset=utf-8' });
    expect(String(found.body)).toMatch(/^ERR_GATEWAY_3200: /);
    expect(await problem({ ':method': 'HEAD' }, 'nobody.tunnel.localhost')).toMatchObject({ body: Buffer.alloc(0) });
    const page = await problem({ accept: 'text/html' }, 'nobody.tunnel.localhost');
    expect(String(page.body)).toMatch(/^<!doctype html>/);
  });

  test('another name than that of the connection', async () => {
    await serve(edge, (_, response) => response.end('mine'));
    expect(await problem({ ':authority': 'other.tunnel.localhost' })).toMatchObject({
      status: 421,
      code: 'ERR_GATEWAY_90121',
    });
    expect(await problem({ ':authority': NAME.toUpperCase() })).toMatchObject({ status: 200 });
    expect(await problem({ ':authority': `${NAME}.:1234` })).toMatchObject({ status: 200 });
  });

  test('a name that none can have', async () => {
    await serve(edge, () => expect.fail('it went on'));
    const { headers, code } = await ask(await visit(edge), { ':authority': 'a@b' });
    // Node 22 and later refuse the stream by themselves, as malformed (RFC 9113, 8.1.1).
    const expected = code === constants.NGHTTP2_PROTOCOL_ERROR ? undefined : 400;
    expect(headers[':status']).toBe(expected);
  });

  test.each<[string, OutgoingHttpHeaders, number]>([
    ['two names that differ', { ':authority': NAME, host: 'other.tunnel.localhost' }, 400],
    ['another scheme', { ':scheme': 'http' }, 421],
    ['TRACE', { ':method': 'TRACE' }, 405],
    ['more than 200 fields', Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`x-${i}`, '1'])), 431],
    ['a head of more than 32 KiB', { 'x-long': 'x'.repeat(33_000) }, 431],
    ['a target of more than 16 KiB', { ':path': `/${'x'.repeat(17_000)}` }, 414],
  ])('%s', async (_, headers, status) => {
    await serve(edge, () => expect.fail('it went on'));
    expect((await problem(headers)).status).toBe(status);
  });

  test.each<[string, string | Buffer | null, number, string]>([
    ['closes without an answer', '', 502, 'ERR_GATEWAY_90105'],
    ['answers with garbage', 'SSH-2.0-OpenSSH_9.2\r\n', 502, 'ERR_GATEWAY_90106'],
    [
      'answers with an upgrade',
      'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      502,
      'ERR_GATEWAY_90106',
    ],
    ['breaks', null, 502, 'ERR_GATEWAY_90105'],
  ])('an upstream that %s', async (_, bytes, status, code) => {
    await script(edge, (socket) => (bytes === null ? socket.resetAndDestroy() : socket.end(bytes)));
    expect(await problem({})).toMatchObject({ status, code });
  });

  test('a visitor who agreed on HTTP/2 and sends something else is cut, and nobody else is', async () => {
    const neighbour = await visit(edge);
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    for (const bytes of [
      'GET / HTTP/1.1\r\n\r\n',
      `${preface.slice(0, -1)}x`,
      `${preface}${'\0'.repeat(100)}`,
      `${preface}${'\xff'.repeat(100)}`,
    ]) {
      const socket = await edge.visit(NAME, { ALPNProtocols: ['h2'] });
      socket.resume().write(Buffer.from(bytes, 'latin1'));
      await closed(socket);
    }
    expect((await ask(neighbour)).headers[':status']).toBe(404);
  });

  test('an upstream that refuses', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    server.close();
    const endpoint = edge.serve('refused.tunnel.localhost', port);
    expect(await problem({}, 'refused.tunnel.localhost')).toMatchObject({ status: 502, code: 'ERR_GATEWAY_8012' });
    edge.endpoints.remove(endpoint);
  });

  test.each([
    ['with a stated length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['in broken chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nbroken\r\n'],
  ])('an answer %s that is cut short is a reset, and no end', async (_, bytes) => {
    await script(edge, (socket) => socket.end(bytes));
    expect(await ask(await visit(edge))).toMatchObject({ code: constants.NGHTTP2_INTERNAL_ERROR });
  });

  test('who takes back requests without end is shown out, the others are not', async () => {
    await serve(edge, () => {}); // Never answers.
    const session = await visit(edge);
    const neighbour = await visit(edge, 'other.tunnel.localhost');
    const goodbye = once(session, 'goaway') as Promise<[number]>;
    const closed = new Promise((resolve) => session.once('close', resolve));
    for (let i = 0; i < 300 && !session.closed && !session.destroyed; i++) {
      const stream = session.request({ ':path': '/' });
      stream.on('error', () => {});
      await new Promise(setImmediate); // Lets it be sent.
      stream.close(constants.NGHTTP2_CANCEL);
    }
    expect((await goodbye)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await closed;
    expect((await ask(neighbour)).headers[':status']).toBe(404);
    await neighbour.close();
    await edge.empty();
  });

  test('visitors who leave in any state leave nothing behind', async () => {
    const server = await serve(edge, (request, response) => {
      request.on('error', () => {});
      if (request.url === '/waits') return;
      response.write('first');
      if (request.url === '/ends') response.end();
    });
    await edge.empty();
    server.closeAllConnections();
    const before = openSockets();
    for (const path of ['/waits', '/stays', '/ends']) {
      for (const method of ['GET', 'POST']) {
        for (const leave of ['stream', 'session', 'socket'] as const) {
          const raw = connect(edge.port, '127.0.0.1');
          const session = await edge.visitHttp2(NAME, raw);
          const stream = session.request({ ':path': path, ':method': method });
          stream.on('error', () => {});
          if (method === 'POST') stream.write('half a request');
          if (path === '/waits') await new Promise(setImmediate);
          else await once(stream, 'response');
          if (leave === 'stream') stream.resume().close(constants.NGHTTP2_CANCEL);
          else if (leave === 'session') cut(session);
          else raw.resetAndDestroy();
          session.close();
        }
      }
    }
    await edge.empty();
    server.closeAllConnections();
    while (openSockets(before).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  });

  test('a visitor who takes a request back breaks the stream to the upstream', async () => {
    const closed: Promise<unknown>[] = [];
    await serve(edge, (request) => {
      request.on('error', () => {});
      closed.push(new Promise((resolve) => request.socket.once('close', resolve)));
    });
    const session = await visit(edge);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    while (closed.length === 0) await new Promise(setImmediate);
    stream.close(constants.NGHTTP2_CANCEL);
    await closed[0];
    await edge.empty(1); // The connection itself stays.
    expect(session.destroyed).toBe(false);
  });
});

describe('deadlines', () => {
  test('an upstream that does not answer: 504; a request that stops: 408; both within their time', async () => {
    const quick = await startEdge({ settings: { upstreamTimeout: 120, stallTimeout: 120 } });
    onTestFinished(() => quick.close());
    const server = createServer(() => {});
    onTestFinished(() => void server.close());
    quick.serve(NAME, await listen(server));
    const session = await quick.visitHttp2(NAME);
    onTestFinished(() => cut(session));
    expect((await ask(session)).headers).toMatchObject({ ':status': 504, 'gateway-error-code': 'ERR_GATEWAY_90107' });
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    const answered = answer(stream);
    stream.write('half');
    expect((await answered).headers[':status']).toBe(408);
  });

  test('an answer that stops is cut', async () => {
    const quick = await startEdge({ settings: { stallTimeout: 120 } });
    onTestFinished(() => quick.close());
    const server = createServer((_, response) => void response.write('half'));
    onTestFinished(() => void server.close());
    quick.serve(NAME, await listen(server));
    const session = await quick.visitHttp2(NAME);
    onTestFinished(() => cut(session));
    expect(await ask(session)).toMatchObject({ body: Buffer.from('half'), code: constants.NGHTTP2_INTERNAL_ERROR });
    server.closeAllConnections();
  });

  test('a connection without requests is closed', async () => {
    const quick = await startEdge({ settings: { idleTimeout: 100 } });
    onTestFinished(() => quick.close());
    const session = await quick.visitHttp2(NAME);
    await new Promise((resolve) => session.once('close', resolve));
    await quick.empty();
  });

  test('the end of the listener lets answers under way be completed', async () => {
    const ending = await startEdge();
    let go: (() => void) | undefined;
    const server = createServer((_, response) => {
      response.write('first, ');
      go = () => response.end('last');
    });
    onTestFinished(() => void server.close());
    ending.serve(NAME, await listen(server));
    const session = await ending.visitHttp2(NAME);
    const stream = session.request({ ':path': '/' });
    const answered = answer(stream);
    await once(stream, 'response');
    const closed = ending.close(5000);
    await once(session, 'goaway');
    go?.();
    expect(String((await answered).body)).toBe('first, last');
    await closed;
  });
});
