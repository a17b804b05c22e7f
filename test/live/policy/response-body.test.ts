// What policies replace in the bodies of responses, however an upstream sends them, over HTTP/1 and HTTP/2.

import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type AskedServer, says, startAskedServer } from '../../policy/actions/asked-server.ts';
import { action, onResponse } from '../../policy/documents/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { connectAgent, type LabAgent, visitOf, visitOverHttp2 } from './lab.ts';

const HOST = 'response-body.tunnel.localhost';
const URL = `https://${HOST}/`;

let gateway: TestGateway;
let upstream: AskedServer;
let agent: LabAgent;
beforeAll(async () => {
  gateway = await sharedGateway();
  upstream = await startAskedServer();
  agent = connectAgent(gateway, (await newCredential(await gateway.newAccount())).authtoken, upstream.url.slice(7));
  const replacing = action('response-body-find-replace', { replacements: [{ from: 'secret', to: '[gone]' }] });
  const found = '$' + '{string(actions.response_body_find_replace.replacements.size())}';
  await agent.tunnel('https', HOST, onResponse([replacing, action('add-headers', { headers: { 'x-found': found } })]));
});
afterAll(async () => {
  await agent?.close();
  upstream?.close();
});

/** The same over both protocols. */
async function seen(answer: Answer, options = {}) {
  upstream.answer = answer;
  const first = await visitOf(gateway, URL, options);
  const second = await visitOverHttp2(gateway, URL, options);
  expect(second).toMatchObject({ status: first?.status, body: first?.body });
  return first;
}

const inPieces =
  (...pieces: string[]): Answer =>
  async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', etag: '"1"' });
    for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve));
    response.end();
  };

test('a body with a length, in chunks, and one that ends with its connection', async () => {
  const expected = { status: 200, body: 'a [gone] and [gone]', headers: { 'content-length': '19', 'x-found': '1' } };
  expect(await seen(says(200, 'a secret and secret'))).toMatchObject(expected);
  const chunked = await seen(inPieces('a sec', 'ret and se', 'cret'));
  expect(chunked).toMatchObject(expected);
  expect(chunked?.headers).not.toHaveProperty('transfer-encoding');
  const untilClose: Answer = (_request, response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na secret and secret');
  };
  expect(await seen(untilClose)).toMatchObject(expected);
});

test('a body in which nothing is found goes on as it came', async () => {
  const expected = { status: 200, body: 'nothing here', headers: { 'x-found': '0', 'content-length': '12' } };
  expect(await seen(inPieces('nothing ', 'here'))).toMatchObject(expected);
});

test('a compressed body is searched, too', async () => {
  const gzipped = says(200, gzipSync('a secret'), { 'content-encoding': 'gzip' });
  const plain = await seen(gzipped, { headers: { 'accept-encoding': 'gzip' } });
  expect(plain).toMatchObject({ status: 200, body: 'a [gone]' });
  expect(plain?.headers).not.toHaveProperty('content-encoding');
});

test('a body that compress-response is going to encode is searched before that', async () => {
  const host = 'compressed-body.tunnel.localhost';
  const replacing = action('response-body-find-replace', { replacements: [{ from: 'secret', to: '[gone]' }] });
  await agent.tunnel('https', host, onResponse([action('compress-response', { algorithms: ['gzip'] }), replacing]));
  upstream.answer = says(200, 'a secret '.repeat(200), { 'content-type': 'text/plain' });
  const options = { headers: { 'accept-encoding': 'gzip' }, encoding: 'latin1' } as const;
  const compressed = await visitOf(gateway, `https://${host}/`, options);
  expect(compressed).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
  expect(gunzipSync(Buffer.from(compressed?.body ?? '', 'latin1')).toString()).toBe('a [gone] '.repeat(200));
});

test('what has no body stays as it is', async () => {
  const head = await seen(says(200, 'a secret'), { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '8' } });
  expect(await seen((_request, response) => void response.writeHead(304).end())).toMatchObject({ status: 304 });
});

test.each([
  ['is too large', says(200, 'a'.repeat(300_000))],
  ['is far too large, and does not say so', inPieces('a'.repeat(700_000), 'a'.repeat(700_000))],
  ['is in a coding that is not known', says(200, 'a', { 'content-encoding': 'zstd' })],
  ['is a part', says(206, 'sec', { 'content-range': 'bytes 0-2/6' })],
])('a response is refused that %s', async (_, answer) => {
  const refused = await seen(answer);
  expect(refused).toMatchObject({ status: 502, headers: { 'gateway-error-code': 'ERR_GATEWAY_90138' } });
});

test('a body that breaks off is an error, and the next one is whole', async () => {
  const breaking: Answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '20' });
    response.write('a secret', () => response.destroy());
  };
  expect((await seen(breaking))?.status).toBe(502);
  expect(await seen(says(200, 'a secret'))).toMatchObject({ status: 200, body: 'a [gone]' });
});
