// Visitors of HTTP/2 who vanish, or say what is no HTTP/2, and what they leave behind: nothing.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { closed, listen } from '../sockets.ts';
import { type Edge, startEdge } from '../tls/support.ts';
import { NAME, serve } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ settings: { headTimeout: 60_000, stallTimeout: 60_000, idleTimeout: 60_000 } });
});
afterAll(() => edge.close());

/** A way to the listener that can be broken off. */
async function line(): Promise<{ visitor: Socket; cut(): void }> {
  const far = connect(edge.port, '127.0.0.1').on('error', () => {});
  const server = createServer((near) => void far.pipe(near.on('error', () => {})).pipe(far));
  onTestFinished(() => void server.close());
  const visitor = connect(await listen(server), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void visitor.destroy());
  return { visitor, cut: () => void far.resetAndDestroy() };
}

test('a visitor who is gone in the middle of a hundred answers leaves no connection and no stream', async () => {
  const much = Buffer.alloc(256 * 1024);
  await serve(edge, (_, response) => void response.write(much));
  const { visitor, cut } = await line();
  const session = await edge.visitHttp2(NAME, visitor);
  session.setLocalWindowSize(2 ** 30);
  session.settings({ initialWindowSize: 2 ** 30 });
  const streams = Array.from({ length: 100 }, () => session.request({ ':path': '/' }).on('error', () => {}));
  await Promise.all(streams.map((stream) => once(stream, 'response')));
  expect(edge.agent.session.size).toBe(100);
  cut();
  await edge.empty();
});

describe('a connection of HTTP/2 ends with a frame that is malformed', () => {
  const START = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0), frame(4, 1, 0)]);
  const REQUEST = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x41, NAME.length]), Buffer.from(NAME)]);
  const malformed: [string, Buffer][] = [
    ['DATA of no stream', frame(0, 0, 0, Buffer.from('data'))],
    ['a frame larger than may be', frame(0, 0, 1, Buffer.alloc(20_000))],
    ['SETTINGS of five bytes', frame(4, 0, 0, Buffer.alloc(5))],
    ['a PING of seven bytes', frame(6, 0, 0, Buffer.alloc(7))],
    ['fields that cannot be decoded', frame(1, 5, 1, Buffer.alloc(20, 0xff))],
    ['a CONTINUATION of nothing', frame(9, 4, 1, Buffer.from([0x82]))],
    ['a PING between a head and its rest', Buffer.concat([frame(1, 0, 1, REQUEST), frame(6, 0, 0, Buffer.alloc(8))])],
    ['more padding than there is frame', frame(0, 8, 1, Buffer.from([255, 1, 2]))],
    ['an odd window', frame(8, 0, 0, Buffer.alloc(4))],
    ['HTTP/1', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5))],
  ];

  test.each([false, true])('while a request is under way: %s', async (isUnderWay) => {
    await serve(edge, () => {});
    const sockets = malformed.map(async ([, bytes]) => {
      const socket = await edge.visit(NAME, { ALPNProtocols: ['h2'] });
      const ended = closed(socket);
      socket.resume().write(START);
      if (isUnderWay) socket.write(frame(1, 5, 1, REQUEST));
      await once(socket, 'data');
      // Behind all that Node reads in one piece with it.
      setImmediate(() => socket.write(bytes));
      return ended;
    });
    await Promise.all(sockets);
    await edge.empty();
  });

  test('and one whose frames are well formed stays, however long it says nothing', async () => {
    const session = await edge.visitHttp2(NAME);
    await once(session, 'ping');
    session.ping(() => {});
    await once(session, 'ping');
    expect(session.closed || session.destroyed).toBe(false);
    session.close();
    await edge.empty();
  });
});

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
