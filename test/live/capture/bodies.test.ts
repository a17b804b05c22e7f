// What is captured of requests of HTTP/1: what the visitor sent and was sent, while the traffic itself stays as it is.

import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Edge, type Peer, startEdge, startScript, visit } from '../../edge/http1/support.ts';
import { answering as answeringAt, handle, policyOf } from '../reports/lab.ts';
import { CaptureLab } from './lab.ts';

const MIB = 1024 * 1024;
const lab = new CaptureLab();
let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ context: { services: lab.visits }, settings: { upstreamTimeout: 300 } });
});
afterAll(async () => {
  lab.captures.close();
  await edge.close();
});
beforeEach(() => {
  expect([lab.failures.splice(0), lab.hearer.requests]).toEqual([[], []]);
});

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const GET = 'GET /path?q=1 HTTP/1.1\r\nHost: app.test\r\n\r\n';

/** An endpoint that is captured, and the upstream behind it. */
async function serve(bodyBytes = 1024) {
  const script = await startScript();
  const endpoint = edge.serve('app.test', script.port);
  lab.start(endpoint, { bodyBytes });
  return { endpoint, script };
}

async function answering(answer: string, bodyBytes = 1024) {
  const endpoint = await answeringAt(edge, answer);
  lab.start(endpoint, { bodyBytes });
  return endpoint;
}

/** Sends bytes in pieces of any size. */
function sendInPieces(peer: Peer, bytes: Buffer): void {
  for (let at = 0, next = 1; at < bytes.length; at += next, next = ((next * 7) % 29_989) + 1)
    peer.send(bytes.subarray(at, at + next));
}

/** In chunks of any size. */
function inChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0, next = 3; at < body.length; at += next, next = ((next * 13) % 20_011) + 1) {
    const data = body.subarray(at, at + next);
    pieces.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\nX-Trailer: 1\r\n\r\n')]);
}

describe('bodies', () => {
  test.each([
    ['by their length', (body: Buffer) => ({ line: `Content-Length: ${body.length}`, sent: body })],
    ['in chunks', (body: Buffer) => ({ line: 'Transfer-Encoding: chunked', sent: inChunks(body) })],
  ])('%s pass byte for byte, and what was kept is how they begin', async (_, framed) => {
    for (const size of [0, 1, 1023, 1024, 1025, 70_000, 200_000]) {
      const limit = size > 100_000 ? 150_000 : 1024;
      const { endpoint, script } = await serve(limit);
      const [asked, answered] = [randomBytes(size), randomBytes(size)];
      const [request, response] = [framed(asked), framed(answered)];
      const visitor = await visit(edge.port);
      visitor.send(`POST / HTTP/1.1\r\nHost: app.test\r\n${request.line}\r\n\r\n`);
      sendInPieces(visitor, request.sent);
      const upstream = await script.next();
      await upstream.until((text) => text.length >= text.indexOf('\r\n\r\n') + 4 + request.sent.length);
      const cameOn = upstream.received.subarray(-request.sent.length || upstream.received.length);
      if (size > 0) expect(sha(cameOn)).toBe(sha(request.sent));
      upstream.send(`HTTP/1.1 200 OK\r\n${response.line}\r\n\r\n`);
      sendInPieces(upstream, response.sent);
      await visitor.until((text) => text.length >= text.indexOf('\r\n\r\n') + 4 + response.sent.length);
      if (size > 0) expect(sha(visitor.received.subarray(-response.sent.length))).toBe(sha(response.sent));
      const { requestBody, responseBody, isComplete } = lab.last(endpoint);
      const isWhole = size <= limit && isComplete;
      expect(requestBody).toEqual({ bytes: size, isWhole, kept: asked.subarray(0, limit) });
      expect(responseBody).toEqual({ bytes: size, isWhole, kept: answered.subarray(0, limit) });
    }
  });

  test('are not kept where none are wanted', async () => {
    const endpoint = await answering('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', 0);
    await (await visit(edge.port)).send(GET).until('body');
    const { responseBody, requestBody } = lab.last(endpoint);
    expect(responseBody).toEqual({ bytes: 4, isWhole: false, kept: Buffer.alloc(0) });
    expect(requestBody).toEqual({ bytes: 0, isWhole: true, kept: Buffer.alloc(0) });
  });

  test('that are compressed on their way are kept as the visitor got them', async () => {
    const text = 'text '.repeat(10_000);
    const endpoint = await answering(
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      MIB,
    );
    handle(endpoint, { compression: { enabled: true } });
    const visitor = await visit(edge.port);
    await visitor.send(GET.replace('\r\n\r\n', '\r\nAccept-Encoding: gzip\r\n\r\n')).until('\r\n0\r\n\r\n');
    const { responseBody, responseFields } = lab.last(endpoint);
    expect(responseFields).toContainEqual(['Content-Encoding', 'gzip']);
    expect(responseBody).toMatchObject({ isWhole: true, bytes: responseBody.kept.length });
    expect(gunzipSync(responseBody.kept).toString()).toBe(text);
  });

  test('that are cut are not whole', async () => {
    const { endpoint, script } = await serve();
    const visitor = await visit(edge.port);
    visitor.send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nhalf');
    const upstream = await script.next();
    await upstream.until('half');
    upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart');
    await visitor.until('part');
    upstream.socket.destroy();
    await visitor.closed;
    expect(lab.last(endpoint)).toMatchObject({
      status: 200,
      isComplete: false,
      requestBody: { bytes: 4, isWhole: false, kept: Buffer.from('half') },
      responseBody: { bytes: 4, isWhole: false, kept: Buffer.from('part') },
    });
  });
});

test('an upgraded connection: its heads, and how many bytes passed', async () => {
  const { endpoint, script } = await serve();
  const visitor = await visit(edge.port, { allowHalfOpen: true });
  visitor.send('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
  await visitor.until('hello');
  visitor.send('secret');
  await upstream.until('secret');
  const captured = lab.next(endpoint);
  upstream.socket.end();
  visitor.socket.end();
  expect(await captured).toMatchObject({
    status: 101,
    requestBody: { bytes: 6, isWhole: false, kept: Buffer.alloc(0) },
    responseBody: { bytes: 5, isWhole: false, kept: Buffer.alloc(0) },
  });
});

describe('what the gateway itself answers', () => {
  const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody';

  test('has the module and the reason that the log has, and the operation that the visitor is shown', async () => {
    const endpoint = handle(await answering(ANSWER), {
      basicAuth: { enabled: true, realm: '', credentials: [{ username: 'jo', password: 'a secret!' }] },
    });
    const visitor = await visit(edge.port);
    const shown = await visitor.send(GET).until(/ERR_GATEWAY_\d+: .*\n/);
    const captured = lab.last(endpoint);
    const [logged] = lab.refused.splice(0);
    expect(captured).toMatchObject({ status: 401, refusal: { module: logged?.module, reason: logged?.reason } });
    expect(captured.operationId).toBe(logged?.operationId);
    expect(shown).toContain(`Service-Operation-Id: ${captured.operationId}`);
    expect(captured.responseBody.isWhole).toBe(true);
    expect(shown.endsWith(String(captured.responseBody.kept))).toBe(true);
  });

  test.each([
    ['before there was a request', { on_tcp_connect: [{ actions: [{ type: 'deny' }] }] }],
    ['then', { on_http_request: [{ actions: [{ type: 'close-connection' }] }] }],
  ])('and where it closed the connection without a word, that: a policy that does so %s', async (_, policy) => {
    const endpoint = handle(await answering(ANSWER), {
      trafficPolicy: { enabled: true, value: JSON.stringify(policy) },
    });
    await (await visit(edge.port)).send(GET).closed;
    const [logged] = lab.refused.splice(0);
    expect(logged?.reason).toMatch(/./);
    const { status, refusal, operationId, isComplete } = lab.last(endpoint);
    expect({ status, refusal, operationId, isComplete }).toEqual({
      status: undefined,
      refusal: { module: 'traffic_policy', reason: logged?.reason },
      operationId: undefined,
      isComplete: false,
    });
  });

  test('the answer of a policy is no refusal', async () => {
    const own = { type: 'custom-response', config: { status_code: 418, body: 'short' } };
    const endpoint = handle(await answering(ANSWER), { trafficPolicy: policyOf(own) });
    await (await visit(edge.port)).send(GET).until('short');
    expect(lab.last(endpoint)).toMatchObject({
      status: 418,
      refusal: undefined,
      responseBody: { bytes: 5, isWhole: true, kept: Buffer.from('short') },
    });
  });

  test.each([
    ['closes', 502, /closed the connection without an answer/],
    ['says nothing', 504, /did not answer in time/],
  ])('of an upstream that %s: %i', async (what, status, reason) => {
    const { endpoint, script } = await serve();
    const visitor = await visit(edge.port);
    visitor.send(GET);
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    if (what === 'closes') upstream.socket.destroy();
    await visitor.until(/ERR_GATEWAY_/);
    expect(lab.last(endpoint)).toMatchObject({
      status,
      refusal: { module: 'gateway', reason: expect.stringMatching(reason) },
    });
  });

  test('an answer of upstream is none of it, whatever it says', async () => {
    const claim = 'Gateway-Error-Code: ERR_GATEWAY_3200\r\nService-Operation-Id: op_1';
    const endpoint = await answering(`HTTP/1.1 404 Not Found\r\n${claim}\r\nContent-Length: 4\r\n\r\nbody`);
    await (await visit(edge.port)).send(GET).until('body');
    expect(lab.last(endpoint)).toMatchObject({ status: 404, refusal: undefined, operationId: undefined });
  });
});

test('a request is described as it came', async () => {
  const endpoint = await answering('HTTP/1.1 201 Created\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n');
  const captured = lab.next(endpoint);
  await (await visit(edge.port)).send(GET).until('\r\n\r\n');
  expect(await captured).toMatchObject({
    id: expect.stringMatching(/^cap_[0-9A-Za-z]{27}$/),
    endpointId: endpoint.id,
    clientIp: '127.0.0.1',
    isTls: false,
    httpVersion: 'HTTP/1.1',
    method: 'GET',
    scheme: 'http',
    host: 'app.test',
    target: '/path?q=1',
    status: 201,
    isComplete: true,
    requestFields: [['Host', 'app.test']],
    responseFields: [
      ['X-A', '1'],
      ['Content-Length', '0'],
    ],
  });
});

test('where nothing is captured, nothing is noted', async () => {
  const endpoint = await answering('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody');
  lab.stop(endpoint);
  const { kept, passed } = lab.state(endpoint);
  await (await visit(edge.port)).send(GET).until('body');
  expect(lab.state(endpoint)).toMatchObject({ isOn: false, kept, passed });
});
