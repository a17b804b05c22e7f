// Connections to addresses that tenants have named: that each is checked, and how many there are.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { AddressDialer, type DialLimits } from '../../../src/edge/dialing/address-dialer.ts';
import type { ResolveHost } from '../../../src/net/public-addresses.ts';
import { noopStreamEvents } from '../../../src/protocol/mux/mux-stream.ts';
import type { ByteStream } from '../../../src/protocol/mux/stream.ts';
import { listen } from '../sockets.ts';

async function startServer() {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: await listen(server), sockets, server };
}

function dialerOf(backendHosts: string[], resolve?: ResolveHost, limits?: DialLimits) {
  const dialer = new AddressDialer({ backendHosts, backendCaFile: undefined }, resolve, limits);
  return (host: string, port: number, account = 'ac_1', events = noopStreamEvents) =>
    dialer.open(account, { host, port, tls: false, protocols: undefined }, events);
}

/** A resolver that has another address each time. */
const answers =
  (...addresses: string[]): ResolveHost =>
  (_hostname, _options, found) =>
    found(null, [{ address: addresses.shift() ?? '', family: 4 }]);

test('what a name resolves to is checked each time that it is connected to, and nobody is connected to before', async () => {
  const { port, sockets } = await startServer();
  const open = dialerOf(['127.0.0.1'], answers('127.0.0.1', '127.0.0.2', '127.0.0.1'));
  const outcome = async () => {
    const opened = await open('rebinding.example.com', port);
    return typeof opened === 'string' ? opened : 'open';
  };
  expect([await outcome(), await outcome(), await outcome()]).toEqual(['open', 'dialForbidden', 'open']);
  await expect.poll(() => sockets.length).toBe(2);
});

test.each([
  ['127.0.0.1', []],
  ['::ffff:127.0.0.1', []],
  ['169.254.169.254', []],
  ['localhost', []],
  ['localhost', ['*.localhost', '10.0.0.0/8']],
])('%s is not connected to with the rules %j', async (host, rules) => {
  const { port, sockets } = await startServer();
  expect(await dialerOf(rules)(host, port)).toBe('dialForbidden');
  expect(sockets).toEqual([]);
});

test('a listed name may have any address', async () => {
  const { port } = await startServer();
  expect(await dialerOf(['*.corp.example'], answers('127.0.0.1'))('db.corp.example', port)).toBeTypeOf('object');
});

test('one too many for an address waits for another to end; for an account, and in all, it is refused', async () => {
  const { port } = await startServer();
  const other = await startServer();
  const open = dialerOf(['127.0.0.0/8'], undefined, { address: 1, account: 2, all: 3 });
  const first = (await open('127.0.0.1', port)) as ByteStream;
  const waiting = open('127.0.0.1', port);
  expect(await open('127.0.0.1', other.port)).toBe('overloaded');
  const theirs = (await open('127.0.0.1', port, 'ac_2')) as ByteStream;
  expect(await open('127.0.0.1', other.port, 'ac_3')).toBe('overloaded');
  first.reset();
  const second = await waiting;
  expect(second).toBeTypeOf('object');
  theirs.reset();
  (second as ByteStream).reset();
  await expect.poll(() => open('127.0.0.1', port, 'ac_3')).toBeTypeOf('object');
});

test('what fails gives its place back', async () => {
  const { port, server } = await startServer();
  server.close();
  await once(server, 'close');
  const open = dialerOf(['127.0.0.0/8'], undefined, { address: 1, account: 1, all: 1 });
  for (let i = 0; i < 3; i++) expect(await open('127.0.0.1', port)).toBe('dialFailed');
});

test('both halves end by themselves; a cut is a reset', async () => {
  const { port, sockets } = await startServer();
  const heard: string[] = [];
  const stream = (await dialerOf(['127.0.0.0/8'])('127.0.0.1', port, 'ac_1', {
    onData(chunk) {
      heard.push(String(chunk));
      stream.consumed(chunk.length);
    },
    onEnd: () => void heard.push('end'),
    onReset: () => void heard.push('reset'),
    onDrain() {},
  })) as ByteStream;
  await expect.poll(() => sockets.length).toBe(1);
  const socket = sockets[0] as Socket;
  stream.write(Buffer.from('last words'));
  stream.end();
  expect(String((await once(socket, 'data'))[0])).toBe('last words');
  socket.write('an answer');
  await expect.poll(() => heard).toEqual(['an answer']);
  socket.resetAndDestroy();
  await expect.poll(() => heard).toEqual(['an answer', 'reset']);
});
