// A visitor's WebSocket that is a TCP connection to upstream: the bridge, with real sockets on both sides of it.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import WebSocket from 'ws';
import { acceptWebsocket } from '../../src/edge/websocket/handshake.ts';
import { bridgeWebsocket } from '../../src/edge/websocket/tcp-bridge.ts';
import { HeaderList } from '../../src/http/header-list.ts';
import { noopStreamEvents } from '../../src/protocol/index.ts';
import { relay } from '../../src/protocol/relay.ts';
import { connection, pair } from '../protocol/pair.ts';

const HELLO = Buffer.from('hello');

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.destroy();
});

/** visitor ─ HTTP ─ bridge ─ session ─ relay ─ TCP ─ upstream */
export async function door(lingerMs?: number) {
  const { client: agent, server: gateway } = await pair();
  const [local, upstream] = await connection();
  upstream.allowHalfOpen = true;
  agent.accept((stream) => {
    relay(stream, local);
    return stream.events;
  });
  const traffic = { fromSocket: 0, toSocket: 0 };
  let doorstep: Socket | undefined;
  const server = createServer().on('upgrade', ({ rawHeaders }, socket: Socket, first: Buffer) => {
    const pairs = rawHeaders.flatMap((name, i) => (i % 2 ? [] : [[name, rawHeaders[i + 1] as string] as const]));
    const answer = acceptWebsocket(new HeaderList(pairs));
    if (typeof answer === 'string') return void socket.end(`HTTP/1.1 400 ${answer}\r\n\r\n`);
    doorstep = socket;
    const lines = answer.fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`HTTP/1.1 ${answer.status} Switching Protocols\r\n${lines}\r\n`);
    const stream = gateway.session.open(noopStreamEvents);
    stream.write(HELLO); // The agent knows a stream from its first bytes on.
    bridgeWebsocket({ socket, stream, first, traffic, lingerMs });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (const socket of [local, upstream]) socket.on('error', () => {});
  open.push(local, upstream, { destroy: () => void server.close() });
  for (const { session } of [agent, gateway]) open.push({ destroy: () => void session.close() });
  const { port } = server.address() as AddressInfo;
  return { port, upstream, traffic, doorstep: () => doorstep as Socket };
}

type Door = Awaited<ReturnType<typeof door>>;

export async function visit({ port, upstream }: Door, protocols: string[] = []): Promise<WebSocket> {
  const visitor = new WebSocket(`ws://127.0.0.1:${port}/`, protocols);
  open.push({ destroy: () => visitor.terminate() });
  visitor.on('error', () => {});
  await once(visitor, 'open');
  expect(await read(upstream, HELLO.length)).toEqual(HELLO);
  return visitor;
}

/** A visitor who writes frames of its own; what comes is behind the head of the answer. */
export async function visitRaw({ port, upstream }: Door): Promise<{ socket: Socket; sent: Promise<Buffer> }> {
  const socket = connect(port, '127.0.0.1');
  open.push(socket);
  socket.on('error', () => {});
  socket.write(
    'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(String(head)).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n');
  expect(await read(upstream, HELLO.length)).toEqual(HELLO);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const sent = new Promise<Buffer>((resolve) => socket.on('end', () => resolve(Buffer.concat(chunks))));
  return { socket, sent };
}

/** A masked frame. */
export function frame(first: number, content: Buffer | string = ''): Buffer {
  const data = Buffer.from(content);
  const mask = randomBytes(4);
  const length = data.length < 126 ? [0x80 | data.length] : [0xfe, data.length >> 8, data.length & 0xff];
  return Buffer.concat([Buffer.from([first, ...length]), mask, data.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}

export async function read(socket: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let missing = bytes; missing > 0; ) {
    const chunk = socket.read(Math.min(missing, socket.readableLength)) as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded || socket.destroyed) throw new Error(`ended with ${missing} bytes missing`);
      await once(socket, 'readable');
    } else {
      chunks.push(chunk);
      missing -= chunk.length;
    }
  }
  return Buffer.concat(chunks);
}

/** How a connection ends: in an orderly way, or not. */
export async function fateOf(socket: Socket): Promise<'end' | 'reset'> {
  socket.resume();
  return new Promise((resolve) => {
    socket.on('error', () => resolve('reset'));
    // Node tells of a reset that comes together with bytes as of an end; to write fails then.
    socket.on('end', () => socket.write('', (error) => resolve(error ? 'reset' : 'end')));
  });
}
