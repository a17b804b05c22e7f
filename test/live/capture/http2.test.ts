// What is captured of requests of HTTP/2: what the visitor sent and was sent, while the traffic itself stays as it is.

import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, NAME, serve, visit } from '../../edge/http2/support.ts';
import { type Edge, startEdge } from '../../edge/tls/support.ts';
import { field, handle } from '../reports/lab.ts';
import { CaptureLab } from './lab.ts';

const lab = new CaptureLab();
let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ visits: lab.visits });
});
afterAll(async () => {
  lab.captures.close();
  await edge.close();
});

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const endpoint = () => edge.endpoints.byName('tls', NAME) as NonNullable<ReturnType<typeof edge.endpoints.byName>>;

/** The endpoint is captured from now on. */
function capture(bodyBytes: number): ReturnType<typeof endpoint> {
  const captured = endpoint();
  lab.start(captured, { bodyBytes });
  return captured;
}

test.each([
  ['by their length', true],
  ['in chunks from upstream', false],
])('bodies %s pass byte for byte, and what was kept is how they begin', async (_, hasLength) => {
  let came = '';
  const answered = randomBytes(1_500_000);
  await serve(edge, async (request, response) => {
    came = sha(await buffer(request));
    response.writeHead(200, hasLength ? { 'content-length': answered.length } : {});
    response.write(answered.subarray(0, 100_000));
    response.end(answered.subarray(100_000));
  });
  const id = capture(100_000);
  const asked = randomBytes(1_200_000);
  const captured = lab.next(id);
  const { body } = await ask(await visit(edge), { ':method': 'POST', ':path': '/up?a=b' }, asked);
  expect([came, sha(body)]).toEqual([sha(asked), sha(answered)]);
  expect(await captured).toMatchObject({
    httpVersion: 'HTTP/2.0',
    isTls: true,
    scheme: 'https',
    method: 'POST',
    target: '/up?a=b',
    status: 200,
    isComplete: true,
    requestBody: { bytes: asked.length, isWhole: false, kept: asked.subarray(0, 100_000) },
    responseBody: { bytes: answered.length, isWhole: false, kept: answered.subarray(0, 100_000) },
  });
});

test('bodies that are small are whole, and what is compressed on its way is kept so', async () => {
  const text = 'text '.repeat(2000);
  await serve(edge, (request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/plain' }).end(text));
  });
  handle(endpoint(), { compression: { enabled: true } });
  const id = capture(100_000);
  const captured = lab.next(id);
  await ask(await visit(edge), { ':method': 'POST', 'accept-encoding': 'gzip' }, Buffer.from('asked'));
  const { requestBody, responseBody, responseFields } = await captured;
  expect(requestBody).toEqual({ bytes: 5, isWhole: true, kept: Buffer.from('asked') });
  expect(field({ fields: responseFields }, 'content-encoding')).toBe('gzip');
  expect(responseBody).toMatchObject({ isWhole: true, bytes: responseBody.kept.length });
  expect(gunzipSync(responseBody.kept).toString()).toBe(text);
});

test('what the gateway itself answers has why, and the operation that the visitor is shown', async () => {
  await serve(edge, (_, response) => response.end('body'));
  handle(endpoint(), { userAgentFilter: { enabled: true, allow: [], deny: ['^bad'] } });
  const id = capture(100_000);
  const captured = lab.next(id);
  const { headers, body } = await ask(await visit(edge), { 'user-agent': 'bad' });
  const [logged] = lab.refused.splice(0);
  expect(await captured).toMatchObject({
    status: 403,
    operationId: headers['service-operation-id'],
    refusal: { module: 'user_agent_filter', reason: logged?.reason },
    responseBody: { isWhole: true, kept: body },
  });
  expect(headers['service-operation-id']).toBe(logged?.operationId);
});

test('an upstream that hangs up', async () => {
  await serve(edge, (request) => request.socket.destroy());
  const id = capture(0);
  const captured = lab.next(id);
  await ask(await visit(edge));
  expect(await captured).toMatchObject({ status: 502, refusal: { module: 'gateway' } });
});
