// `file://` upstreams: the agent serves a directory of the device.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, type Server, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFileServer } from '../../agent/src/files/serve-directory.ts';
import { agentLab } from './agent-lab.ts';
import { newDirectory, startProcess } from './agents.ts';
import { visit } from './visitors.ts';

const lab = agentLab();
const { path: files, remove } = newDirectory();
const root = join(files, 'www');
const DATE = new Date('2026-01-02T03:04:05Z');
const DIGITS = '0123456789'.repeat(100_000);
let plain: Server;
let listing: Server;
const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  for (const name of ['', 'docs', 'docs/<b>', 'empty', '.git', '.well-known'])
    mkdirSync(join(root, name), { recursive: true });
  const texts: Record<string, string> = {
    'index.html': '<h1>Home</h1>',
    'digits.txt': DIGITS,
    'nothing.css': '',
    'ä b.svg': '<svg/>',
    'docs/a&b.md': '# A',
    'docs/photo.jpeg': 'jpeg',
    '.env': 'SECRET=1',
    '.git/config': 'secret',
    '.well-known/security.txt': 'Contact:',
    '../outside.txt': 'outside',
    'unknown.xyz': 'bytes',
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(root, name), text);
  utimesSync(join(root, 'digits.txt'), DATE, DATE);
  symlinkSync('digits.txt', join(root, 'inside.txt'));
  symlinkSync('../outside.txt', join(root, 'outside.txt'));
  symlinkSync('..', join(root, 'up'));
  symlinkSync('.git', join(root, 'repository'));
  symlinkSync('/etc', join(root, 'etc'));
  execFileSync('mkfifo', [join(root, 'fifo')]);
  [plain, listing] = [false, true].map((isListed) => createFileServer({ path: root, isListed })) as [Server, Server];
  for (const server of [plain, listing]) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  keepAlive.destroy();
  for (const server of [plain, listing]) {
    server.close();
    server.closeAllConnections();
  }
  remove();
});

/** Asks for a path exactly as it is written. */
async function ask(path: string, headers: Record<string, string> = {}, { method = 'GET', server = plain } = {}) {
  const { port } = server.address() as AddressInfo;
  const request = send({ host: '127.0.0.1', port, path, headers, method, agent: keepAlive }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: String(Buffer.concat(chunks)) };
}

test('visitors get the files of a directory through the gateway, which a tunnel of the local API cannot serve', async () => {
  const agent = await startProcess(lab.directory(), ['http', `file://${root}`], lab.environment);
  lab.cleanups.push(() => agent.kill('SIGKILL'));
  const [, url = ''] = /^forwarding (\S+) -> file:/.exec(await agent.stdout.find(/^forwarding /)) ?? [];
  expect(await visit(lab.gateway, url)).toMatchObject({ status: 200, body: '<h1>Home</h1>' });
  expect(await visit(lab.gateway, `${url}/digits.txt`)).toMatchObject({ status: 200, body: DIGITS });
  expect((await visit(lab.gateway, `${url}/digits.txt`, { range: 'bytes=10-14' })).body).toBe('01234');
  expect((await visit(lab.gateway, `${url}/.env`)).status).toBe(404);
  expect((await visit(lab.gateway, `${url}/docs/`)).status).toBe(404);
  expect(await agent.kill('SIGTERM')).toBe(0);

  const service = await lab.agent();
  const refused = await service.ask('POST', '/tunnels', { forwards_to: `file://${root}` });
  expect(refused).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(/^forwards_to must be host:port/) },
  });
});

test('a file has its type, size, date and version; HEAD has the same without the bytes', async () => {
  const whole = await ask('/digits.txt');
  expect(whole.body).toBe(DIGITS);
  expect(whole.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '1000000',
    'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    etag: expect.stringMatching(/^"[0-9a-f]+-[0-9a-f]+"$/),
  });
  const { date: _, ...head } = (await ask('/digits.txt', {}, { method: 'HEAD' })).headers;
  expect(whole.headers).toMatchObject(head);
  const typeOf = async (path: string) => (await ask(path)).headers['content-type'];
  expect(await typeOf('/%C3%A4%20b.svg?v=1')).toBe('image/svg+xml');
  expect(await typeOf('/docs/photo.jpeg')).toBe('image/jpeg');
  expect(await typeOf('/unknown.xyz')).toBe('application/octet-stream');
  expect(await ask('/nothing.css')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
  expect(await ask('/', {}, { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

describe('a request for a part or with a condition:', () => {
  const etag = async () => String((await ask('/digits.txt')).headers.etag);
  const SAME = DATE.toUTCString();
  const EARLIER = new Date(DATE.getTime() - 1000).toUTCString();

  test.each<[Record<string, string>, number, string]>([
    [{ range: 'bytes=2-4' }, 206, 'bytes 2-4/1000000'],
    [{ range: 'bytes=999998-' }, 206, 'bytes 999998-999999/1000000'],
    [{ range: 'bytes=-3' }, 206, 'bytes 999997-999999/1000000'],
    [{ range: 'bytes=999999-2000000' }, 206, 'bytes 999999-999999/1000000'],
    [{ range: 'bytes=-2000000' }, 206, 'bytes 0-999999/1000000'],
    [{ range: 'bytes=1000000-' }, 416, 'bytes */1000000'],
    [{ range: 'bytes=-0' }, 416, 'bytes */1000000'],
    [{ range: 'bytes=4-2' }, 200, ''],
    [{ range: 'bytes=0-1,4-5' }, 200, ''],
    [{ range: 'lines=0-1' }, 200, ''],
    [{ range: 'bytes=2-4', 'if-range': 'ETAG' }, 206, 'bytes 2-4/1000000'],
    [{ range: 'bytes=2-4', 'if-range': '"other"' }, 200, ''],
    [{ range: 'bytes=2-4', 'if-range': SAME }, 206, 'bytes 2-4/1000000'],
    [{ range: 'bytes=2-4', 'if-range': EARLIER }, 200, ''],
    [{ 'if-none-match': 'ETAG' }, 304, ''],
    [{ 'if-none-match': '"a", W/ETAG' }, 304, ''],
    [{ 'if-none-match': '*' }, 304, ''],
    [{ 'if-none-match': '"a"', 'if-modified-since': SAME }, 200, ''],
    [{ 'if-modified-since': SAME }, 304, ''],
    [{ 'if-modified-since': EARLIER }, 200, ''],
    [{ 'if-match': '"a"' }, 412, ''],
    [{ 'if-match': 'ETAG' }, 200, ''],
    [{ 'if-unmodified-since': EARLIER }, 412, ''],
    [{ 'if-unmodified-since': SAME }, 200, ''],
  ])('%j gets %i %s', async (headers, status, range) => {
    const tag = await etag();
    const own = Object.entries(headers).map(([name, value]) => [name, value.replace('ETAG', tag)]);
    const answer = await ask('/digits.txt', Object.fromEntries(own));
    expect([answer.status, answer.headers['content-range'] ?? '']).toEqual([status, range]);
    if (status === 206) {
      const [, first, last] = /bytes (\d+)-(\d+)/.exec(range) ?? [];
      expect(answer.body).toBe(DIGITS.slice(Number(first), Number(last) + 1));
    } else expect(answer.body).toBe(status === 200 ? DIGITS : '');
  });
});

describe('nothing but the visible files of the directory is served:', () => {
  test.each([
    '/.env',
    '/.git/config',
    '/repository/config',
    '/../outside.txt',
    '/docs/../../outside.txt',
    '/%2e%2e/outside.txt',
    '/docs%2f..%2f..%2foutside.txt',
    '/..%5coutside.txt',
    '/outside.txt',
    '/up/outside.txt',
    '/up/',
    '/etc/passwd',
    '/fifo',
    '/digits.txt/',
    '/digits.txt/x',
    '/nowhere',
    '/empty/',
  ])('%s gets 404', async (path) => {
    for (const server of [plain, listing].slice(0, path === '/empty/' ? 1 : 2))
      expect(await ask(path, {}, { server })).toMatchObject({ status: 404, body: 'Not found.\n' });
  });

  test('a link within it and /.well-known are, a path that is none gets 400', async () => {
    expect((await ask('/inside.txt', { range: 'bytes=0-1' })).body).toBe('01');
    expect((await ask('/.well-known/security.txt')).body).toBe('Contact:');
    expect((await ask('/%ff')).status).toBe(400);
    expect((await ask('/%00')).status).toBe(400);
  });
});

test('a directory leads to its own path on this host, and is a list only where that is asked for', async () => {
  expect(await ask('/docs?a=b')).toMatchObject({ status: 301, headers: { location: '/docs/?a=b' } });
  expect(await ask('//docs')).toMatchObject({ status: 301, headers: { location: '/docs/' } });
  expect((await ask('/docs/')).status).toBe(404);
  const page = await ask('/docs/', {}, { server: listing });
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(page.body.match(/<li>.*/g)).toEqual([
    '<li><a href="./../">../</a></li>',
    '<li><a href="./%3Cb%3E/">&#60;b&#62;/</a></li>',
    '<li><a href="./a%26b.md">a&#38;b.md</a></li>',
    '<li><a href="./photo.jpeg">photo.jpeg</a></li>',
  ]);
  expect((await ask('/', {}, { server: listing })).body).toBe('<h1>Home</h1>');
});

test('a visitor of a file that becomes shorter sees that bytes are missing', async () => {
  const file = join(root, 'large.bin');
  writeFileSync(file, Buffer.alloc(64 * 2 ** 20));
  const socket = connect((plain.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'readable'); // The socket does not read: the server waits.
  truncateSync(file, 2 ** 20);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(socket, 'close');
  expect(bytes).toBeLessThan(64 * 2 ** 20);
});
