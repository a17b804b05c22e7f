// Visitors of HTTP/2 at an endpoint whose policy changes the heads of requests and answers.

import { once } from 'node:events';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Peer, startScript } from '../../edge/http1/support.ts';
import { startUpstream } from '../../support/events/traffic.ts';
import { bodyOf, type HandledLab, http2Session, onRequest, onResponse, portOf, readsBodies, startLab } from './lab.ts';

const ADDS = {
  ...onRequest('add-headers', { headers: { 'x-asked': 'yes' } }),
  ...onResponse('add-headers', { headers: { 'x-added': 'yes' } }),
};

let lab: HandledLab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.close());

let script: Awaited<ReturnType<typeof startScript>>;
let session: ClientHttp2Session;
let host: string;
beforeEach(async () => {
  script = await startScript();
  host = await lab.open(script.port, ADDS, { protocol: 'https' });
  session = http2Session(lab.gateway, host);
});

async function nextAsked(): Promise<Peer> {
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  return upstream;
}

describe('an answer is as it was, but for the policy’s field:', () => {
  test.each<[string, string, { method?: string; closes?: boolean; status?: number; body?: string; trailer?: string }]>([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', { body: 'body' }],
    [
      'in chunks, with a trailer',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: A\r\nA: b\r\n\r\n4\r\nbody\r\n0\r\nT: x\r\n\r\n',
      { body: 'body', trailer: 'x' },
    ],
    ['up to the end', 'HTTP/1.1 200 OK\r\n\r\nbody', { closes: true, body: 'body' }],
    ['to HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', { method: 'HEAD' }],
    ['of 204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204 }],
    ['of 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n', { status: 304 }],
  ])('%s', async (_, answer, { method = 'GET', closes = false, status = 200, body = '', trailer }) => {
    const stream = session.request({ ':method': method, 'x-own': 'mine' });
    let trailers: IncomingHttpHeaders = {};
    stream.on('trailers', (fields) => {
      trailers = fields;
    });
    const upstream = await nextAsked();
    expect(upstream.text).toMatch(/^(?:GET|HEAD) \/ HTTP\/1\.1\r\nHost: [^\r]+\r\nx-own: mine\r\nx-asked: yes\r\n/);
    upstream.send(answer);
    if (closes) upstream.socket.end();
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    expect(headers).toMatchObject({ ':status': status, 'x-added': 'yes' });
    for (const name of ['connection', 'transfer-encoding', 'a']) expect(headers).not.toHaveProperty(name);
    expect(String(await bodyOf(stream))).toBe(body);
    expect(trailers.t).toBe(trailer);
  });
});

test('an interim answer comes before it', async () => {
  const stream = session.request({});
  const upstream = await nextAsked();
  upstream.send('HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const [interim] = await once(stream, 'headers');
  expect(interim).toMatchObject({ ':status': 103, link: 'a' });
  const [headers] = await once(stream, 'response');
  expect(headers['x-added']).toBe('yes');
});

test('an answer that breaks off is cut', async () => {
  const stream = session.request({});
  const upstream = await nextAsked();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
  await once(stream, 'response');
  upstream.socket.resetAndDestroy();
  await expect(bodyOf(stream)).rejects.toThrow();
});

test('many requests at once, each with a body that a module reads, get each its own answer', async () => {
  const echo = await startUpstream(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.end(`${request.url} ${body} ${request.headers['content-length'] ?? request.headers['transfer-encoding']}`);
  });
  const policy = { ...ADDS, on_http_request: [...readsBodies.on_http_request, ...ADDS.on_http_request] };
  const own = http2Session(lab.gateway, await lab.open(portOf(echo.url), policy, { protocol: 'https' }));
  const answers = Array.from({ length: 50 }, async (_, i) => {
    const text = `body ${i}`;
    const length = i % 2 === 0 ? { 'content-length': text.length } : {};
    const stream = own.request({ ':method': 'POST', ':path': `/${i}`, ...length });
    stream.write(text.slice(0, 3));
    stream.end(text.slice(3));
    return String(await bodyOf(stream));
  });
  const framing = (i: number) => (i % 2 === 0 ? `body ${i}`.length : 'chunked');
  expect(await Promise.all(answers)).toEqual(answers.map((_, i) => `/${i} body ${i} ${framing(i)}`));
});

test('a visitor who takes back a request whose body is waited for leaves nothing behind', async () => {
  const upstream = await startUpstream((_, response) => response.end('ok'));
  const own = http2Session(lab.gateway, await lab.open(portOf(upstream.url), readsBodies, { protocol: 'https' }));
  const stream = own.request({ ':method': 'POST', 'content-length': '100' });
  stream.on('error', () => {});
  stream.write('half');
  stream.close(8);
  await once(stream, 'close');
  expect(String(await bodyOf(own.request({})))).toBe('ok');
  expect(upstream.most).toBe(1);
});
