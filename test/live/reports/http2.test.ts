// What is told of requests of HTTP/2: once each, and what was really sent and received.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { constants } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ask, NAME, script, serve, visit } from '../../edge/http2/support.ts';
import { type Edge, startEdge } from '../../edge/tls/support.ts';
import { ACCOUNT, field, Hearer, handle, policyOf, visitsFor } from './lab.ts';

let edge: Edge;
const hearer = new Hearer();

beforeAll(async () => {
  edge = await startEdge({ visits: visitsFor(hearer), settings: { upstreamTimeout: 400 } });
});
afterAll(() => edge.close());
beforeEach(() => {
  expect(hearer.requests.splice(0)).toEqual([]);
  hearer.account = ACCOUNT;
});

/** Puts modules before the endpoint that `serve` has made. */
const handled = (settings: Parameters<typeof handle>[1]) =>
  handle(edge.endpoints.byName('tls', NAME) as Parameters<typeof handle>[0], settings);

describe('a request that is answered', () => {
  test('is told of with all that was sent and received', async () => {
    await serve(edge, (_, response) => response.writeHead(200, { 'x-a': ['1', '2'] }).end('body'));
    const session = await visit(edge);
    const { headers } = await ask(session, { ':path': '/path?q=1', 'x-twice': ['1', '2'], 'user-agent': 'test' });
    const report = await hearer.one();
    expect(report).toMatchObject({
      accountId: ACCOUNT,
      endpointId: edge.endpoints.byName('tls', NAME)?.id,
      connection: { clientIp: '127.0.0.1', serverIp: '127.0.0.1', serverPort: edge.port, serverName: NAME },
      tls: { version: 'TLSv1.3', cipherSuite: 'TLS_AES_128_GCM_SHA256', clientCertificate: undefined },
      isConnectionReused: false,
      request: { method: 'GET', version: 'HTTP/2.0', scheme: 'https', target: '/path?q=1', bodyLength: 0 },
      response: { status: 200, bodyLength: 4, isComplete: true },
      decisions: {},
    });
    const { request, response } = report;
    expect(request.host).toBe(`${NAME}:${edge.port}`);
    expect(request.fields).toEqual([
      ['host', request.host],
      ['x-twice', '1'],
      ['x-twice', '2'],
      ['user-agent', 'test'],
    ]);
    expect(response?.fields.filter(([name]) => name === 'x-a')).toHaveLength(2);
    expect(field(response, 'date')).toBe(headers.date);
    const times = [request.firstByteAt, response?.firstByteAt, response?.lastByteAt] as number[];
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(request.lastByteAt).toBe(request.firstByteAt);
    await ask(session);
    expect((await hearer.one()).isConnectionReused).toBe(true);
  });

  test('with bodies, both of them', async () => {
    await serve(edge, async (request, response) => {
      for await (const chunk of request) response.write(chunk);
      response.end('!');
    });
    const { body } = await ask(await visit(edge), { ':method': 'POST' }, Buffer.alloc(200_000, 'x'));
    expect(body).toHaveLength(200_001);
    const { request, response } = await hearer.one();
    expect(request.bodyLength).toBe(200_000);
    expect(request.lastByteAt).toBeGreaterThan(request.firstByteAt);
    expect(response).toMatchObject({ bodyLength: 200_001, isComplete: true });
  });

  test.each([
    ['HEAD', 200],
    ['GET', 204],
  ])('%s with %i: without a body', async (method, status) => {
    await serve(edge, (_, response) => response.writeHead(status).end());
    await ask(await visit(edge), { ':method': method });
    expect((await hearer.one()).response).toMatchObject({ status, bodyLength: 0, isComplete: true });
  });

  test('before all of the request has come', async () => {
    await serve(edge, (_, response) => response.writeHead(413, { connection: 'close' }).end('no'));
    const session = await visit(edge);
    const stream = session.request({ ':path': '/', ':method': 'POST' }).on('error', () => {});
    stream.write('the beginning');
    stream.resume();
    await once(stream, 'close');
    const { request, response } = await hearer.one();
    expect(request.bodyLength).toBe('the beginning'.length);
    expect(response).toMatchObject({ status: 413, bodyLength: 2, isComplete: true });
  });

  test('compressed, in as many bytes as are sent', async () => {
    const body = 'compressible '.repeat(100);
    await serve(edge, (_, response) => response.end(body));
    handled({ compression: { enabled: true } });
    const { body: sent } = await ask(await visit(edge), { 'accept-encoding': 'gzip' });
    expect(String(gunzipSync(sent))).toBe(body);
    const { decisions, response } = await hearer.one();
    expect(response?.bodyLength).toBe(sent.length);
    expect(decisions).toEqual({ compression: { algorithm: 'gzip', bytesSaved: body.length - sent.length } });
  });

  test('by modules', async () => {
    await serve(edge, (_, response) => response.end('never'));
    const log = { type: 'log', config: { metadata: { seen: true } } };
    const own = { type: 'custom-response', config: { status_code: 418, body: 'short' } };
    handled({ trafficPolicy: policyOf(log, own), userAgentFilter: { enabled: true, allow: ['^good'], deny: ['.'] } });
    const session = await visit(edge);
    await ask(session, { 'user-agent': 'good' });
    const own418 = await hearer.one();
    expect(own418.decisions).toEqual({ user_agent_filter: 'allow', policyLogs: [{ seen: true }] });
    expect(own418.response).toMatchObject({ status: 418, bodyLength: 5, isComplete: true });
    const { body } = await ask(session, { 'user-agent': 'bad' });
    const refused = await hearer.one();
    expect(refused.decisions).toEqual({ user_agent_filter: 'deny' });
    expect(refused.response).toMatchObject({ status: 403, bodyLength: body.length, isComplete: true });
    await ask(session, { ':method': 'HEAD', 'user-agent': 'bad' });
    expect((await hearer.one()).response).toMatchObject({ status: 403, bodyLength: 0, isComplete: true });
  });
});

describe('a request that fails', () => {
  const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';

  test.each<[string, string, object | undefined]>([
    ['without an answer', '', { status: 502, isComplete: true }],
    ['with garbage', 'SSH-2.0\r\n\r\n', { status: 502, isComplete: true }],
    ['in the middle of the answer', `${ANSWER}half`, { status: 200, bodyLength: 4, isComplete: false }],
  ])('upstream ends %s', async (_, sent, response) => {
    await script(edge, (socket) => void socket.end(sent));
    await ask(await visit(edge));
    expect((await hearer.one()).response).toMatchObject(response as object);
  });

  test('upstream never answers', async () => {
    await script(edge, () => {});
    await ask(await visit(edge));
    expect((await hearer.one()).response).toMatchObject({ status: 504, isComplete: true });
  });

  test('the visitor takes it back before there is an answer', async () => {
    let came = (_: IncomingMessage) => {};
    const coming = new Promise<IncomingMessage>((resolve) => {
      came = resolve;
    });
    await serve(edge, (request) => came(request));
    const stream = (await visit(edge)).request({ ':path': '/' }).on('error', () => {});
    await coming;
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await hearer.one()).response).toBeUndefined();
  });

  test('the connection breaks in the middle of the answer, for each request on it', async () => {
    await script(edge, (socket) => void socket.write(`${ANSWER}half`));
    const session = await visit(edge);
    const streams = [1, 2, 3].map(() => session.request({ ':path': '/' }).on('error', () => {}));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    session.destroy();
    const reports = await hearer.next(3);
    expect(reports.map(({ response }) => response?.isComplete)).toEqual([false, false, false]);
  });
});

test('nothing is told of names that are nobody’s, and of accounts that nobody hears', async () => {
  await serve(edge, (_, response) => response.end());
  const session = await visit(edge);
  expect((await ask(session, { ':authority': 'other.test' })).headers[':status']).toBe(421);
  const tooMany = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`x-${i}`, '1']));
  expect((await ask(session, tooMany)).headers[':status']).toBe(431);
  hearer.account = undefined;
  await ask(session);
  expect(hearer.requests).toEqual([]);
});
