// What needs more than one visit: encoded bodies, an upstream that fails and recovers, a connection that stays open.

import { get, Agent as HttpsAgent } from 'node:https';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { action, onRequest, onResponse } from '../../policy/documents/support.ts';
import { newRoute, type PolicyLab, startPolicyLab, visitOverHttp2 } from './lab.ts';

let lab: PolicyLab;
let route: string;
const EDGE = 'responses.tunnel.localhost';
const URL = `https://${EDGE}/`;
beforeAll(async () => {
  lab = await startPolicyLab();
  await lab.labelled({ app: 'responses' });
  route = await newRoute(lab, EDGE, { app: 'responses' });
});
afterAll(() => lab?.close());
beforeEach(() => {
  lab.upstream.asked = [];
  lab.upstream.origin = {};
});

async function set(policy: object) {
  const value = JSON.stringify(policy);
  expect((await lab.account.call('PUT', `${route}/traffic_policy`, { value })).status).toBe(200);
}

/** The body as it was sent, with the fields that tell of it. */
function fetched(accept: string): Promise<{ headers: object; body: Buffer }> {
  const [host, port] = lab.gateway.https.split(':');
  const options = {
    host,
    port,
    servername: EDGE,
    ca: lab.gateway.ca,
    headers: { host: EDGE, 'accept-encoding': accept },
  };
  return new Promise((resolve, reject) => {
    get(options, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ headers: response.headers, body: Buffer.concat(chunks) });
    }).on('error', reject);
  });
}

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(200);
const decoders = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

test.each(['gzip', 'deflate', 'br'] as const)('what is sent as %s is what upstream has sent', async (coding) => {
  await set(onResponse([action('compress-response')]));
  lab.upstream.origin = { headers: { 'content-type': 'text/plain' }, body: text };
  const { headers, body } = await fetched(`${coding}, identity;q=0.1`);
  expect(headers).toMatchObject({ 'content-encoding': coding, vary: expect.stringMatching(/accept-encoding/i) });
  expect(headers).not.toHaveProperty('content-length');
  expect(body.length).toBeLessThan(text.length / 4);
  expect(decoders[coding](body).toString()).toBe(text);
});

test('an answer of the policy itself is encoded too', async () => {
  await set({
    ...onRequest([action('custom-response', { body: text })]),
    ...onResponse([action('compress-response')]),
  });
  const { headers, body } = await fetched('gzip');
  expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(body.length) });
  expect(gunzipSync(body).toString()).toBe(text);
});

test('who asks for the head alone gets the head of what the policy answers', async () => {
  await set(onRequest([action('custom-response', { status_code: 418, body: 'a teapot' })]));
  const expected = { status: 418, headers: { 'content-length': '8' }, body: '' };
  expect(await lab.visit(URL, { method: 'HEAD' })).toMatchObject(expected);
  expect(await visitOverHttp2(lab.gateway, URL, { method: 'HEAD' })).toMatchObject(expected);
});

test('an upstream that fails is left alone, tried again, and let back in when it works', async () => {
  await set(
    onRequest([action('circuit-breaker', { volume_threshold: 2, error_threshold: 0.5, tripped_duration: '1s' })]),
  );
  const { upstream } = lab;
  upstream.origin = { status: 500 };
  for (const status of [500, 500, 503, 503]) expect(await lab.visit(URL)).toMatchObject({ status });
  expect(upstream.asked.length).toBe(2);
  const refused = await lab.visit(URL);
  expect(refused?.headers).toMatchObject({ 'retry-after': '1', 'gateway-error-code': 'ERR_GATEWAY_3202' });
  upstream.origin = {};
  await expect.poll(async () => (await lab.visit(URL))?.status, { timeout: 5000, interval: 50 }).toBe(200);
  expect(upstream.asked.length).toBe(3);
  expect(await lab.visit(URL)).toMatchObject({ status: 200 });
});

test.each(['http', 'https'] as const)(
  'a connection is closed behind the answers to earlier requests: %s',
  async (proto) => {
    const name = 'closing.tunnel.localhost';
    const policy = onRequest([action('close-connection')], "req.url.path == '/close'");
    const tunnel = await lab.tunnel(proto, name, policy);
    lab.upstream.origin = { body: 'a'.repeat(2_000_000) };
    const [host = '', port] = lab.gateway[proto].split(':');
    const to = { host, port: Number(port) };
    const socket = proto === 'http' ? connect(to) : connectTls({ ...to, servername: name, ca: lab.gateway.ca });
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
    socket.write(head('/first') + head('/close') + head('/third'));
    // Most of the answer is still on its way when the connection is to be closed.
    while (lab.upstream.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const answers = (await buffer(socket)).toString();
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*\r\na{2000000}$/);
    expect(lab.upstream.asked).toMatchObject([{ target: '/first' }]);
    await tunnel.close();
  },
);

test('a visitor who stays connected meets what is set now', async () => {
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  let sockets = 0;
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (...parameters) => {
    sockets++;
    return createConnection(...parameters);
  };
  const status = async () => (await lab.visit(URL, { agent }))?.status;
  await set({});
  expect(await status()).toBe(200);
  await set(onRequest([action('deny')]));
  expect(await status()).toBe(403);
  await set(onRequest([action('deny', { status_code: 404 })]));
  expect(await status()).toBe(404);
  expect((await lab.account.call('DELETE', `${route}/traffic_policy`)).status).toBe(204);
  expect(await status()).toBe(200);
  expect(sockets).toBe(1);
});

test('cookies for a domain that accounts share are set by no policy, answered or added', async () => {
  const cookies: [string, string, string] = [
    'evil=1; Domain=tunnel.localhost',
    'evil=1; domain=.Localhost',
    'kept=1; Domain=responses.tunnel.localhost',
  ];
  lab.upstream.origin = { headers: { 'set-cookie': cookies[2] } };
  const added = onResponse([action('add-headers', { headers: { 'set-cookie': cookies[0], 'x-added': 'yes' } })]);
  const answered = onRequest([
    action('custom-response', {
      status_code: 200,
      body: 'ok',
      headers: { 'set-cookie': cookies[1], 'x-added': 'yes' },
    }),
  ]);
  for (const [policy, kept] of [
    [added, [cookies[2]]],
    [answered, undefined],
  ] as const) {
    await set(policy);
    const { headers } = (await fetched('identity')) as { headers: Record<string, unknown> };
    expect(headers).toMatchObject({ 'x-added': 'yes' });
    expect(headers['set-cookie']).toEqual(kept);
  }
});
