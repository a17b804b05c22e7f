// What is told of requests of HTTP/1: once each, and what was really sent and received.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Edge, startEdge, startScript, visit } from '../../edge/http1/support.ts';
import { ACCOUNT, answering as answeringAt, field, Hearer, handle, visitsFor } from './lab.ts';

let edge: Edge;
const hearer = new Hearer();
const failures: unknown[] = [];

beforeAll(async () => {
  edge = await startEdge({ context: { services: visitsFor(hearer, failures) } });
});
afterAll(() => edge.close());
beforeEach(() => {
  expect(hearer.requests.splice(0)).toEqual([]);
  expect(failures.splice(0)).toEqual([]);
  hearer.account = ACCOUNT;
  hearer.error = undefined;
});

const answering = (answer: string) => answeringAt(edge, answer);

const ANSWER = 'HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 4\r\nx-a:  2 \r\n\r\nbody';
const GET = 'GET /path?q=1 HTTP/1.1\r\nHost: app.test:8080\r\nUser-Agent: test\r\nX-Twice: 1\r\nx-twice: 2\r\n\r\n';

describe('a request that is answered', () => {
  test('is told of with all that was sent and received', async () => {
    const endpoint = await answering(ANSWER);
    const visitor = await visit(edge.port);
    await visitor.send(GET).until('body');
    const report = await hearer.one();
    const { startedAt } = report.connection;
    expect(report).toEqual({
      accountId: ACCOUNT,
      endpointId: endpoint.id,
      connection: {
        clientIp: '127.0.0.1',
        serverIp: '127.0.0.1',
        serverPort: edge.port,
        serverName: 'app.test',
        startedAt: expect.any(Number),
      },
      tls: undefined,
      isConnectionReused: false,
      request: {
        method: 'GET',
        version: 'HTTP/1.1',
        scheme: 'http',
        host: 'app.test:8080',
        target: '/path?q=1',
        fields: [
          ['Host', 'app.test:8080'],
          ['User-Agent', 'test'],
          ['X-Twice', '1'],
          ['x-twice', '2'],
        ],
        bodyLength: 0,
        firstByteAt: startedAt + 1,
        lastByteAt: startedAt + 1,
      },
      response: {
        status: 200,
        fields: [
          ['X-A', '1'],
          ['Content-Length', '4'],
          ['x-a', '2'],
        ],
        bodyLength: 4,
        firstByteAt: startedAt + 2,
        lastByteAt: startedAt + 3,
        isComplete: true,
      },
      decisions: {},
    });
  });

  test('one after the other on one connection, each by itself, on the same stream', async () => {
    await answering(ANSWER);
    const visitor = await visit(edge.port);
    for (const isReused of [false, true, true]) {
      await visitor.send(GET).until('body');
      visitor.take();
      expect((await hearer.one()).isConnectionReused).toBe(isReused);
    }
    visitor.send(GET + GET + GET);
    expect(await hearer.next(3)).toHaveLength(3);
  });

  test.each([
    ['in pieces', 'Content-Length: 6', ['abc', 'def']],
    [
      'in chunks, with a trailer',
      'Transfer-Encoding: chunked',
      ['3\r\nab', 'c\r\n00003\r\ndef\r\n0\r\nX-T: 1\r\n\r\n'],
    ],
  ])('with a body %s: the bytes of the content count', async (_, line, pieces) => {
    const script = await startScript();
    edge.serve('app.test', script.port);
    const visitor = await visit(edge.port);
    visitor.send(`POST / HTTP/1.1\r\nHost: app.test\r\n${line}\r\n\r\n`);
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    for (const piece of pieces) {
      visitor.send(piece);
      await upstream.until(piece);
    }
    upstream.send(`HTTP/1.1 201 Created\r\n${line}\r\n\r\n`);
    await visitor.until('\r\n\r\n');
    for (const piece of pieces) {
      upstream.send(piece);
      await visitor.until(piece);
    }
    const { request, response } = await hearer.one();
    expect(request.bodyLength).toBe(6);
    expect(response).toMatchObject({ status: 201, bodyLength: 6, isComplete: true });
    expect(request.lastByteAt).toBeGreaterThan(request.firstByteAt);
    expect(response?.firstByteAt).toBeGreaterThan(request.lastByteAt);
    expect(response?.lastByteAt).toBeGreaterThan(response?.firstByteAt as number);
  });

  test('up to the end of the connection, and to HTTP/1.0, with the head as the visitor gets it', async () => {
    const script = await startScript();
    edge.serve('app.test', script.port);
    const visitor = await visit(edge.port);
    visitor.send('GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    upstream.send('HTTP/1.0 200 OK\r\nKeep-Alive: timeout=5\r\nX-A: 1\r\n\r\nall of it').socket.end();
    await visitor.toEnd();
    const { request, response } = await hearer.one();
    expect(request.version).toBe('HTTP/1.0');
    expect(response).toMatchObject({ status: 200, bodyLength: 9, isComplete: true });
    const head = visitor.text.split('\r\n\r\n')[0]?.split('\r\n').slice(1);
    expect(response?.fields.map(([name, value]) => `${name}: ${value}`)).toEqual(head);
  });

  test.each([
    ['OPTIONS * HTTP/1.1', '*'],
    ['OPTIONS http://app.test HTTP/1.1', '*'],
    ['GET http://app.test?x HTTP/1.1', '/?x'],
    ['GET http://app.test/a HTTP/1.1', '/a'],
  ])('%s: the target in origin-form', async (line, target) => {
    await answering(ANSWER);
    const visitor = await visit(edge.port);
    await visitor.send(`${line}\r\nHost: app.test\r\n\r\n`).until('body');
    expect((await hearer.one()).request.target).toBe(target);
  });

  test('after interim answers, which are none', async () => {
    await answering(`HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ANSWER}`);
    await (await visit(edge.port)).send(GET).until('body');
    expect((await hearer.one()).response).toMatchObject({ status: 200, bodyLength: 4 });
  });

  test('to HEAD has no body', async () => {
    await answering('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
    await (await visit(edge.port)).send(GET.replace('GET', 'HEAD')).until('\r\n\r\n');
    expect((await hearer.one()).response).toMatchObject({ status: 200, bodyLength: 0, isComplete: true });
  });
});

describe('a connection that is upgraded', () => {
  const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';

  test('is told of when it is closed, with the bytes that have passed', async () => {
    const script = await startScript();
    edge.serve('app.test', script.port);
    const visitor = await visit(edge.port);
    visitor.send(`${UPGRADE}early`);
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
    await visitor.until('hello');
    visitor.send('later');
    await upstream.until('earlylater');
    expect(hearer.requests).toEqual([]);
    upstream.send(' and more').socket.end();
    visitor.socket.end();
    const { request, response } = await hearer.one();
    expect(request.bodyLength).toBe('earlylater'.length);
    expect(response).toMatchObject({ status: 101, bodyLength: 'hello and more'.length, isComplete: true });
    expect(field(response, 'upgrade')).toBe('echo');
  });

  test('and broken off is incomplete', async () => {
    const script = await startScript();
    edge.serve('app.test', script.port);
    const visitor = await visit(edge.port);
    visitor.send(UPGRADE);
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await visitor.until('\r\n\r\n');
    visitor.socket.resetAndDestroy();
    expect((await hearer.one()).response).toMatchObject({ status: 101, bodyLength: 0, isComplete: false });
  });

  test('and converted: a WebSocket whose messages go to a TCP service', async () => {
    const script = await startScript();
    handle(edge.serve('app.test', script.port), {}, { convertsWebsockets: true });
    const visitor = await visit(edge.port);
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
    visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
    const upstream = await script.next();
    await visitor.until('\r\n\r\n');
    visitor.take();
    upstream.send('abc').socket.end();
    await visitor.until((text) => text.length === 5 + 4); // The message, and the Close behind it.
    visitor.send(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    await visitor.toEnd();
    const { request, response } = await hearer.one();
    expect(request.bodyLength).toBe(8);
    expect(response).toMatchObject({ status: 101, bodyLength: 9, isComplete: true });
  });
});

describe('nothing is told', () => {
  test('of accounts that nobody hears', async () => {
    await answering(ANSWER);
    hearer.account = undefined;
    await (await visit(edge.port)).send(GET).until('body');
    expect(hearer.requests).toEqual([]);
  });

  test.each([
    ['of names that are nobody’s', 'GET / HTTP/1.1\r\nHost: nobody.test\r\n\r\n', '404'],
    ['of requests that are none', 'GET / HTTP/1.1\r\nHost: app.test\r\nHost: app.test\r\n\r\n', '400'],
    ['of names that are not for this connection', 'GET / HTTP/1.1\r\nHost: misdirected.test\r\n\r\n', '421'],
  ])('%s', async (_, head, status) => {
    await answering(ANSWER);
    await (await visit(edge.port)).send(head).until(` ${status} `);
    expect(hearer.requests).toEqual([]);
  });
});

test('who hears and throws hurts nobody', async () => {
  await answering(ANSWER);
  hearer.error = new Error('oh');
  const visitor = await visit(edge.port);
  visitor.send(GET + GET);
  await visitor.until(/body.*body/s);
  expect(await hearer.next(2)).toHaveLength(2);
  expect(failures.splice(0)).toEqual([hearer.error, hearer.error]);
});
