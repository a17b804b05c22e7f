// Clients that do not read what they asked for take little memory, and do not stay.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiMetrics } from '../../src/api/http/metrics.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { createApi } from '../../src/api/server.ts';
import { receive } from '../dashboard/built.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { newIssuer } from '../support/issuer.ts';
import { closed, opened } from './http-reader.ts';

const STALL_MS = 400;
const MB = 2 ** 20;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({}, { writeStallMs: STALL_MS });
});
afterAll(() => gateway.close());

const page = (options: Parameters<typeof receive>[2] = {}) =>
  receive(gateway.api, '/graphql', { ...options, headers: { accept: 'text/html', ...options.headers } });
const ask = (path: string, accept: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nAccept-Encoding: identity\r\n\r\n`;

test('sixty who do not read GraphiQL take less memory than ten copies of it, and are cut', async () => {
  const { bytes } = await page();
  const before = process.memoryUsage.rss();
  const sockets = await Promise.all(
    Array.from({ length: 60 }, () => opened(gateway.api, ask('/graphql', 'text/html'))),
  );
  const ends = Promise.all(sockets.map(closed));
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  // A connection that is not read does not notice its end: only who writes to it does.
  const writing = setInterval(() => sockets.forEach((socket) => void socket.write('x')), STALL_MS / 4);
  await ends;
  clearInterval(sampling);
  clearInterval(writing);
  expect(bytes.length).toBeGreaterThan(8 * MB);
  expect(most - before).toBeLessThan(10 * bytes.length);
});

test('who does not read by TLS has no copy of the page encrypted for it, is cut, and makes room for others', async () => {
  const { cert, key } = await (await newIssuer('CN=an authority')).issue({
    subject: 'CN=x',
    dns: ['x'],
    purpose: 'server',
  });
  const app = { ...gateway.app, config: { ...gateway.app.config, maxApiConnections: 40 } };
  const api = createApi({
    ...{ app, schema, routes, log: pino({ level: 'silent' }), metrics: apiMetrics(new Registry()) },
    ...{
      isChangeFeedConnected: () => true,
      tls: { pair: { cert, key }, onChange() {}, close() {} },
      writeStallMs: STALL_MS,
    },
  });
  api.open();
  api.server.listen(0, '127.0.0.1');
  await once(api.server, 'listening');
  const { port } = api.server.address() as AddressInfo;
  const open = async () => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };
  const first = await open();
  first.write(`${ask('/graphql', 'text/html').trimEnd()}\r\nConnection: close\r\n\r\n`);
  expect((await buffer(first)).length).toBeGreaterThan(8 * MB);
  const before = process.memoryUsage.rss();
  const ends: Promise<void>[] = [];
  // Four times what one address may have: the idlest, which do not read, go.
  for (let i = 0; i < 40; i++) {
    const socket = await open();
    socket.write(ask('/graphql', 'text/html'));
    socket.pause();
    ends.push(closed(socket));
    socket.once('close', () => clearInterval(writing));
    const writing = setInterval(() => void socket.write('x'), STALL_MS / 4);
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MB);
  await Promise.all(ends);
  const last = await open();
  last.write(ask('/', '*/*').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  expect((await buffer(last)).toString()).toMatch(/^HTTP\/1\.1 200 /);
  api.server.close();
});

test('who reads slowly, but reads, is sent all of it', async () => {
  const socket = await opened(
    gateway.api,
    ask('/graphql', 'text/html').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
  );
  let read = 0;
  // A little at a time, for longer than a client may stand still.
  socket.on('data', (data) => {
    if (Math.floor((read + data.length) / MB) > Math.floor(read / MB)) {
      socket.pause();
      setTimeout(() => socket.resume(), STALL_MS / 6);
    }
    read += data.length;
  });
  socket.resume();
  await closed(socket);
  expect(read).toBeGreaterThan(8 * MB);
});

describe('GraphiQL', () => {
  test.each([
    ['br, gzip;q=0.9', 'br', brotliDecompressSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
  ] as const)('to who accepts %s comes in %s, to HEAD with the same head', async (accepted, coding, decode) => {
    const options = { headers: { 'accept-encoding': accepted } };
    const [whole, head] = [await page(options), await page({ ...options, method: 'HEAD' })];
    expect(whole.headers['content-encoding']).toBe(coding);
    expect(whole.headers.vary).toBe('Accept, Accept-Encoding');
    expect(decode(whole.bytes).toString()).toContain('YogaGraphiQL.renderYogaGraphiQL');
    expect(whole.headers['content-length']).toBe(String(whole.bytes.length));
    expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    for (const name of ['content-length', 'content-encoding', 'etag', 'content-type'])
      expect(head.headers[name]).toBe(whole.headers[name]);
    const known = { ...options.headers, 'if-none-match': String(whole.headers.etag) };
    expect((await page({ headers: known })).status).toBe(304);
  });

  test('runs its own script and no other, and no page may be around it', async () => {
    const { headers, bytes } = await page();
    const directives = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => directive.split(/ (.*)/s) as [string, string]),
    );
    const html = bytes.toString();
    const script = html.slice(html.indexOf('<script>') + 8, html.lastIndexOf('</script>'));
    expect(directives.get('script-src')).toBe(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    expect(directives.get('default-src')).toBe("'none'");
    expect(directives.get('frame-ancestors')).toBe("'none'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });
});

describe('an answer', () => {
  test('of /openapi.json is compressed once, and not sent again to who has it', async () => {
    const accepting = { 'accept-encoding': 'gzip' };
    const packed = await receive(gateway.api, '/openapi.json', { headers: accepting });
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(JSON.parse(gunzipSync(packed.bytes).toString()).servers).toEqual([{ url: gateway.api }]);
    const again = { ...accepting, 'if-none-match': String(packed.headers.etag) };
    expect((await receive(gateway.api, '/openapi.json', { headers: again })).status).toBe(304);
  });

  test('that is long is compressed where it is asked for, by both doors; a short one is not', async () => {
    const account = await gateway.newAccount();
    const description = 'a device among many '.repeat(10);
    for (let i = 0; i < 20; i++) await account.call('POST', '/credentials', { description });
    const headers = {
      authorization: `Bearer ${account.key}`,
      'service-version': '2',
      'accept-encoding': 'gzip;q=1, br;q=0.5',
    };
    const { headers: sent, bytes } = await receive(gateway.api, '/credentials', { headers });
    expect(sent).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(JSON.parse(gunzipSync(bytes).toString()).credentials).toHaveLength(20);
    expect((await receive(gateway.api, '/credentials?limit=1', { headers })).headers).not.toHaveProperty(
      'content-encoding',
    );
    const response = await fetch(`${gateway.api}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'br' },
      body: JSON.stringify({ query: '{ credentials { nodes { id description } } }' }),
    });
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(((await response.json()) as { data: { credentials: { nodes: [] } } }).data.credentials.nodes).toHaveLength(
      20,
    );
  });

  test('that shows a secret is never compressed', async () => {
    const account = await gateway.newAccount();
    const mutation = `mutation { ${Array.from({ length: 15 }, (_, i) => `a${i}: createCredential(input: { metadata: "${'x'.repeat(400)}" }) { credential { metadata } token }`).join(' ')} }`;
    const response = await fetch(`${gateway.api}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.key}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
      },
      body: JSON.stringify({ query: mutation }),
    });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect((await response.text()).length).toBeGreaterThan(4096);
  });
});

test('one caller may have a hundred subscriptions at once, and another when one has ended', async () => {
  const account = await gateway.newAccount();
  const open = () => subscribe(gateway.api, account.key, 'subscription { credentialChanged { action } }');
  const streams = await Promise.all(Array.from({ length: 100 }, open));
  const another = async () => {
    const stream = await open();
    const event = stream.next();
    await account.call('POST', '/credentials', {});
    const { data, errors } = await event;
    stream.close();
    return data?.credentialChanged.action ?? errors[0].extensions.code;
  };
  expect(await another()).toBe('RATE_LIMITED');
  streams.pop()?.close();
  await expect.poll(another).toBe('CREATED');
  for (const stream of streams) stream.close();
});
