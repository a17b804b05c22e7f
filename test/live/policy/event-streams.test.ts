// Event streams that a policy changes, as visitors get them while they are sent: over HTTP/1 and HTTP/2.

import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AskedServer, startAskedServer } from '../../policy/actions/asked-server.ts';
import { action, onResponse } from '../../policy/documents/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { connectAgent, type LabAgent } from './lab.ts';

const HOST = 'event-streams.tunnel.localhost';

let gateway: TestGateway;
let upstream: AskedServer;
let agent: LabAgent;
/** The response that upstream has begun. */
let serving: Promise<ServerResponse>;
beforeAll(async () => {
  gateway = await sharedGateway();
  upstream = await startAskedServer();
  agent = connectAgent(gateway, (await newCredential(await gateway.newAccount())).authtoken, upstream.url.slice(7));
  const replacing = action('sse-find-replace', { replacements: [{ from: 'secret', to: '[gone]' }] });
  await agent.tunnel('https', HOST, onResponse([replacing, action('compress-response')]));
});
afterAll(async () => {
  await agent?.close();
  upstream?.close();
});

type Visited = { headers: object; stream: Readable; leave(): void };

async function over1(headers: Record<string, string> = {}): Promise<Visited> {
  const [host = '', port] = gateway.https.split(':');
  const options = { host, port, servername: HOST, ca: gateway.ca, headers: { host: HOST, ...headers } };
  const asked = request({ ...options, agent: false });
  const response = await new Promise<Readable & { headers: object }>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject).end();
  });
  return { headers: response.headers, stream: response, leave: () => asked.destroy() };
}

async function over2(headers: Record<string, string> = {}): Promise<Visited> {
  const session = connectHttp2(`https://${gateway.https}`, { ca: gateway.ca, servername: HOST });
  const stream = session.request({ ':authority': HOST, ':path': '/', ...headers });
  const got = await new Promise<object>((resolve, reject) => {
    session.on('error', reject);
    stream.on('response', resolve).on('error', reject);
  });
  return { headers: got, stream, leave: () => session.destroy() };
}

const ways = [
  ['HTTP/1', over1],
  ['HTTP/2', over2],
] as const;

/** What upstream begins its answer with. */
function begins(headers: Record<string, string>, first: string) {
  serving = new Promise((resolve) => {
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
      response.write(first);
      resolve(response);
    };
  });
}

/** Reads until so much has come. */
async function reads(stream: Readable, text: string) {
  let seen = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    seen += chunk;
    if (seen.length >= text.length) break;
  }
  expect(seen).toBe(text);
}

test.each(ways)('each event comes before upstream sends the next: %s', async (_, visit) => {
  begins({ etag: '"1"' }, 'data: a secret\n\nda');
  const { headers, stream, leave } = await visit();
  stream.setEncoding('utf8');
  expect(headers).not.toHaveProperty('content-length');
  await reads(stream, 'data: a [gone]\n\n');
  const upstreamResponse = await serving;
  upstreamResponse.write('ta: sec');
  upstreamResponse.write('ret\r\n\r\n');
  await reads(stream, 'data: [gone]\r\n\r\n');
  upstreamResponse.end('data: last secret');
  await reads(stream, 'data: last [gone]');
  leave();
});

test('compression takes what was changed, event by event', async () => {
  begins({}, 'data: a secret\n\n');
  const { headers, stream, leave } = await over1({ 'accept-encoding': 'gzip' });
  expect(headers).toMatchObject({ 'content-encoding': 'gzip' });
  const plain = stream.pipe(createGunzip()).setEncoding('utf8');
  await reads(plain, 'data: a [gone]\n\n');
  (await serving).end('data: secret\n\n');
  await reads(plain, 'data: [gone]\n\n');
  leave();
});

test('a compressed stream is decoded as it comes', async () => {
  const gzip = createGzip();
  serving = new Promise((resolve) => {
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      gzip.pipe(response);
      gzip.write('data: a secret\n\n');
      gzip.flush();
      resolve(response);
    };
  });
  const { headers, stream, leave } = await over1();
  expect(headers).not.toHaveProperty('content-encoding');
  stream.setEncoding('utf8');
  await reads(stream, 'data: a [gone]\n\n');
  gzip.end('data: secret\n\n');
  await reads(stream, 'data: [gone]\n\n');
  leave();
});

test.each(ways)('a stream with an event that is too large is cut, and the log says why: %s', async (name, visit) => {
  begins({}, 'data: fine\n\n');
  const { stream, leave } = await visit({ 'user-agent': name });
  stream.setEncoding('utf8');
  await reads(stream, 'data: fine\n\n');
  (await serving).write(`data: ${'a'.repeat(300_000)}`);
  await expect(stream.toArray()).rejects.toThrow();
  const line = await gateway.logged(({ reason }) => /an event has more than 262144 bytes/.test(String(reason)));
  expect(line).toMatchObject({ module: 'traffic_policy' });
  leave();
});
