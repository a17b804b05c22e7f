// Who goes when there are as many connections of visitors as there may be.

import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import { Peer, startEdge, startScript, visit } from '../http1/support.ts';
import { NAME, serve } from '../http2/support.ts';
import { closed } from '../sockets.ts';
import { startEdge as startTlsEdge } from '../tls/support.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

async function startSmall(maxVisitors: number) {
  const edge = await startEdge({ settings: { maxVisitors } });
  onTestFinished(() => edge.close());
  const script = await startScript();
  edge.serve('app.test', script.port);
  return { edge, next: script.next };
}

test('HTTP: silent, slow and waiting connections make way, the idlest first; one with a request does not', async () => {
  const { edge, next } = await startSmall(4);
  const busy = (await visit(edge.port)).send(GET);
  const upstream = await next();
  const silent = await visit(edge.port);
  while (edge.limit.open < 2) await new Promise(setImmediate);
  const slow = (await visit(edge.port)).send('GET / HT');
  const waiting = (await visit(edge.port)).send(GET);
  (await next()).send(OK);
  await waiting.until('ok');
  for (const idle of [silent, slow, waiting]) {
    const visitor = (await visit(edge.port)).send(GET);
    await (await next()).until('\r\n\r\n');
    expect(await idle.closed).toMatch(/end|reset/);
    expect(visitor.text).toBe('');
  }
  upstream.send(OK);
  await busy.until('ok');
});

test('HTTPS: handshakes that stop, and connections of HTTP/2 without a request, make way', async () => {
  const edge = await startTlsEdge({ settings: { maxVisitors: 3 } });
  onTestFinished(() => edge.close());
  await serve(edge, (request, response) => {
    if (request.url === '/') response.end('ok');
  });
  const silent = connect(edge.port, '127.0.0.1');
  await once(silent, 'connect');
  while (edge.listener.size < 1) await new Promise(setImmediate);
  const idle = await edge.visitHttp2(NAME);
  const first = idle.request({ ':path': '/' }).resume();
  await once(first, 'close');
  const busy = await edge.visitHttp2(NAME);
  const waits = busy.request({ ':path': '/waits' }).on('error', () => {});
  while (edge.agent.sockets.length < 2) await new Promise(setImmediate);
  await edge.visitHttp2(NAME);
  await closed(silent);
  const gone = once(idle, 'close');
  await edge.visitHttp2(NAME);
  await gone;
  expect(waits.closed).toBe(false);
});

test.skipIf(process.platform !== 'linux')(
  'one address that holds all places with requests makes way for another',
  async () => {
    const { edge, next } = await startSmall(4);
    const busy: Peer[] = [];
    for (let i = 0; i < 4; i++) {
      busy.push((await visit(edge.port)).send(GET));
      await (await next()).until('\r\n\r\n');
    }
    const same = (await visit(edge.port)).send(GET);
    expect(await same.toEnd()).toMatch(/^HTTP\/1\.1 503 /);
    const other = new Peer(connect({ port: edge.port, host: '127.0.0.1', localAddress: '127.0.0.2' })).send(GET);
    (await next()).send(OK);
    await other.until('ok');
    expect(await busy[0]?.closed).toBe('reset');
  },
);

/** A connection as the limit sees it. */
function socketOf(remoteAddress: string) {
  const socket = Object.assign(new EventEmitter(), { remoteAddress, isClosed: false });
  const close = () => {
    socket.isClosed = true;
    socket.emit('close');
  };
  return Object.assign(socket, { destroy: close, resetAndDestroy: close }) as unknown as Socket & { isClosed: boolean };
}

test('the addresses of an IPv6 network of /64 are one', () => {
  const limit = new ConnectionLimit(5, 2);
  const attacker = ['2001:db8::1', '2001:db8::2:1', '2001:db8:0:0:ffff::'].map(socketOf);
  for (const [i, socket] of attacker.entries()) limit.admit(socket)?.use(`ac_${i}`);
  limit.admit(socketOf('2001:db8:0:1::1'))?.use('ac_2');
  limit.admit(socketOf('2001:db8:0:1::2'))?.use('ac_3');
  expect(limit.admit(socketOf('2001:db8::9'))).toBeUndefined();
  expect(limit.admit(socketOf('2001:db8:0:2::1'))).toBeDefined();
  expect(attacker.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
});

test('the visitors of one account, from any number of addresses, make way for others', () => {
  const limit = new ConnectionLimit(10);
  const visitors = Array.from({ length: 10 }, (_, i) => socketOf(`10.0.0.${i}`));
  for (const [i, socket] of visitors.entries())
    expect(limit.admit(socket)?.use(i < 2 ? 'ac_few' : 'ac_many')).toBe(true);
  for (const i of [1, 2, 3]) {
    const more = socketOf(`10.0.1.${i}`);
    expect(limit.admit(more)?.use('ac_many')).toBe(false);
    more.destroy();
    expect(limit.admit(socketOf(`10.0.2.${i}`))?.use('ac_few')).toBe(true);
    expect(limit.open).toBe(10);
  }
  expect(limit.admit(socketOf('10.0.3.1'))).toBeUndefined();
  expect(visitors.map(({ isClosed }) => Number(isClosed)).join('')).toBe('0011100000');
});

test('places are given back, whatever became of them', () => {
  const limit = new ConnectionLimit(3);
  for (let i = 0; i < 100; i++) {
    const socket = socketOf(`10.0.${i % 7}.1`);
    const place = limit.admit(socket);
    if (i % 2) place?.use(`ac_${i % 3}`);
    if (i % 4 === 1) place?.rest();
    if (i % 5) socket.destroy();
    place?.use('ac_late');
    place?.rest();
    expect(limit.open).toBeLessThanOrEqual(3);
    expect(limit.idle.size).toBeLessThanOrEqual(limit.open);
  }
});

test('of visitors who do not read, those who are behind for the longest are cut when too much waits', async () => {
  const edge = await startTlsEdge({ heldMax: 4 * 1024 * 1024 });
  onTestFinished(() => edge.close());
  await serve(edge, (_, response) => void response.end(Buffer.alloc(256 * 1024)));
  const cut: number[] = [];
  for (let i = 0; i < 6; i++) {
    const session = await edge.visitHttp2(NAME);
    session.settings({ initialWindowSize: 0 });
    session.once('close', () => cut.push(i));
    const streams = Array.from({ length: 10 }, () => session.request({ ':path': '/' }).on('error', () => {}));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
  }
  expect(edge.limit.held).toBeGreaterThan(0);
  while (cut.length < 4) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(edge.limit.held).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(cut.slice(0, 4).sort()).toEqual([0, 1, 2, 3]);
});
