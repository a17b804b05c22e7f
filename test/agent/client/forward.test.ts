import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorCode, noopStreamEvents, openTypedStream, StreamType } from '../../../src/protocol/index.ts';
import { collect, send } from '../../protocol/pair.ts';
import { bound, listen, refused } from './peer.ts';
import { type Forwarding, loopback, resetOf, startForwarding, type TestTunnel } from './visits.ts';

let on: Forwarding;
beforeAll(async () => {
  on = await startForwarding();
});
afterAll(() => on.close());

test('a visitor is answered by what the tunnel forwards to, and both are counted', async () => {
  const port = await on.upstream((socket) => {
    socket.on('data', (chunk) => socket.write(chunk.toString().toUpperCase()));
    socket.on('end', () => socket.end(' and good-bye'));
  });
  const { tunnel, visit } = await on.tunnelTo(`127.0.0.1:${port}`);
  const { stream, all } = visit('hello');
  stream.end();
  expect((await all).toString()).toBe('HELLO and good-bye');
  expect(tunnel.counters).toMatchObject({
    connections: 1,
    openConnections: 0,
    bytesIn: 5,
    bytesOut: 18,
    dialFailures: 0,
  });
});

test('many requests ride on one stream', async () => {
  const server = createHttpServer((request, response) => response.end(`${request.url}`));
  on.servers.push(server);
  const { tunnel, visit } = await on.tunnelTo(`http://localhost:${await listen(server)}`);
  const { stream, all } = visit();
  for (let nth = 1; nth <= 20; nth++) stream.write(Buffer.from(`GET /${nth} HTTP/1.1\r\nHost: a\r\n\r\n`));
  stream.write(Buffer.from('GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
  const answers = (await all).toString().split('\r\n\r\n');
  expect(answers.filter((answer) => /HTTP\/1.1 200/.test(answer))).toHaveLength(21);
  expect(answers.at(-1)).toBe('/last');
  stream.end();
  expect(tunnel.counters.connections).toBe(1);
});

test('what comes before the upstream has accepted is held, and written first', async () => {
  const port = await on.upstream((socket) => socket.pipe(socket));
  let allow = (_: string[]) => {};
  on.addresses = () => new Promise((resolve) => (allow = resolve));
  const { visit } = await on.tunnelTo(`127.0.0.1:${port}`);
  const { stream, all } = visit('one ');
  const sent = randomBytes(200_000);
  stream.write(sent);
  stream.end();
  await on.session.command(StreamType.RESTART, {}); // The agent has seen all of that by now.
  allow(['127.0.0.1']);
  on.addresses = loopback;
  expect((await all).equals(Buffer.concat([Buffer.from('one '), sent]))).toBe(true);
});

test('megabytes pass both ways at once, unchanged', async () => {
  const port = await on.upstream((socket) => socket.pipe(socket));
  const { tunnel, visit } = await on.tunnelTo(`127.0.0.1:${port}`);
  const { stream, all } = visit();
  const bytes = randomBytes(5 * 2 ** 20);
  send(stream, bytes);
  const hash = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  expect(hash(await all)).toBe(hash(bytes));
  expect(tunnel.counters).toMatchObject({ bytesIn: bytes.length, bytesOut: bytes.length });
});

test('an upstream that reads nothing stops its visitor, and no other', async () => {
  const port = await on.upstream((socket) => socket.pause());
  const stalled = await on.tunnelTo(`127.0.0.1:${port}`);
  const { stream } = stalled.visit();
  send(stream, Buffer.alloc(64 * 2 ** 20));
  // What the sockets in between hold, and no more.
  let taken = 0;
  const hasSettled = () => {
    const before = taken;
    taken = stalled.tunnel.counters.bytesIn;
    return taken > 0 && taken === before;
  };
  await expect.poll(hasSettled).toBe(true);
  expect(taken).toBeLessThan(32 * 2 ** 20);
  const echo = await on.tunnelTo(`127.0.0.1:${await on.upstream((socket) => socket.pipe(socket))}`);
  const other = echo.visit('still here');
  other.stream.end();
  expect((await other.all).toString()).toBe('still here');
  stream.reset();
});

test('a broken upstream breaks the visitor, and the other way round', async () => {
  const sockets: Socket[] = [];
  const port = await on.upstream((socket) => {
    sockets.push(socket);
    socket.write('x');
  });
  const { id } = await on.tunnelTo(`127.0.0.1:${port}`);
  const broken = resetOf((events) =>
    on.session.visit(id, { ...events, onData: () => void sockets[0]?.resetAndDestroy() }),
  );
  expect(await broken).not.toBe(ErrorCode.NONE);

  const stream = on.session.visit(id);
  await new Promise<void>((resolve) => {
    stream.events = { ...noopStreamEvents, onData: () => resolve() };
  });
  const closed = new Promise((resolve) => sockets[1]?.once('close', resolve));
  stream.reset();
  await closed;
});

test.each([
  ['closed', (tunnel: TestTunnel) => tunnel.tunnel.close()],
  ['stopped', ({ id }: TestTunnel) => on.session.stopTunnel(id, 'ERR_GATEWAY_308', 'Not any more.')],
])('visits end when their tunnel is %s, and later ones are refused', async (_, end) => {
  const port = await on.upstream((socket) => socket.write('welcome'));
  const tunnel = await on.tunnelTo(`127.0.0.1:${port}`);
  const { id } = tunnel;
  let welcome = () => {};
  const welcomed = new Promise<void>((resolve) => {
    welcome = resolve;
  });
  const cut = resetOf((events) => on.session.visit(id, { ...events, onData: () => welcome() }));
  await welcomed;
  on.peer.script.bind = () => refused(308, 'Not any more.');
  await end(tunnel);
  expect(await cut).toBe(ErrorCode.REMOTE_GONE_AWAY);
  expect(await resetOf((events) => on.session.visit(id, events))).toBe(ErrorCode.REFUSED);
  expect(tunnel.tunnel.counters.openConnections).toBe(0);
  on.peer.script.bind = bound;
  await tunnel.tunnel.close();
});

test('a visitor who comes right behind the answer to the bind is let in', async () => {
  const port = await on.upstream((socket) => socket.end('welcome'));
  const welcomed = new Promise<Buffer>((resolve) => {
    const { bind } = on.peer.script;
    on.peer.script.bind = (request, session) => {
      on.peer.script.bind = bind;
      // After the answer is written, before it is sent: both are in one read of the agent.
      queueMicrotask(() =>
        process.nextTick(() =>
          session.visit('tn_quick', { ...noopStreamEvents, onData: resolve, onReset: () => resolve(EMPTY) }),
        ),
      );
      return bound({ ...request, id: 'tn_quick' });
    };
  });
  await on.tunnelTo(`127.0.0.1:${port}`);
  expect((await welcomed).toString()).toBe('welcome');
});

test('a visitor for a tunnel that is not ours is refused, and the gateway told so', async () => {
  expect(await resetOf((events) => on.session.visit('tn_stranger', events))).toBe(ErrorCode.REFUSED);
  await expect.poll(() => on.session.unbound).toContain('tn_stranger');
});

test.each([
  ['a length that is none', Buffer.alloc(8, 255)],
  ['no JSON', Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x62, 0x63])],
])('a proxy header with %s breaks its stream, and nothing else', async (_, bytes) => {
  const code = await resetOf((events) => openTypedStream(on.session.mux, StreamType.PROXY, bytes, events));
  expect(code).toBe(ErrorCode.PROTOCOL);
  expect(on.agent.client.status.sessions).toBe(1);
});

test('a proxy header may come a byte at a time', async () => {
  const port = await on.upstream((socket) => socket.pipe(socket));
  const { id } = await on.tunnelTo(`127.0.0.1:${port}`);
  const json = Buffer.from(JSON.stringify({ Id: id, ClientAddr: '192.0.2.1:1', Proto: 'tcp', EdgeType: '1' }));
  const length = Buffer.alloc(8);
  length.writeBigInt64LE(BigInt(json.length));
  const stream = openTypedStream(on.session.mux, StreamType.PROXY, Buffer.alloc(0));
  const { events, all } = collect(stream);
  stream.events = events;
  for (const byte of Buffer.concat([length, json, Buffer.from('drop by drop')])) {
    stream.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.end();
  expect((await all).toString()).toBe('drop by drop');
});

const EMPTY = Buffer.alloc(0);
