import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { clientHello, closed, listen, openSockets, readAll } from '../sockets.ts';
import { type Edge, startEdge } from './support.ts';

describe('deadlines', () => {
  let slow: Edge;
  beforeAll(async () => {
    slow = await startEdge({ settings: { headTimeout: 150 } });
  });
  afterAll(() => slow.close());

  test.each([
    ['nothing', 0],
    ['half a ClientHello', 40],
    ['a ClientHello, and nothing more', Number.POSITIVE_INFINITY],
  ])('who sends %s is cut', async (_, bytes) => {
    const hello = await clientHello('app.tunnel.localhost');
    const visitor = connect(slow.port, '127.0.0.1');
    visitor.on('error', () => {});
    visitor.write(hello.subarray(0, bytes));
    visitor.resume();
    const began = performance.now();
    await closed(visitor);
    expect(performance.now() - began).toBeGreaterThan(100);
    await slow.empty();
  });

  test('trickling does not help', async () => {
    const hello = await clientHello('app.tunnel.localhost');
    const visitor = connect({ port: slow.port, host: '127.0.0.1', noDelay: true });
    visitor.on('error', () => {});
    let at = 0;
    const trickle = setInterval(() => visitor.write(hello.subarray(at, ++at)), 10);
    visitor.resume();
    await closed(visitor);
    clearInterval(trickle);
    expect(at).toBeLessThan(60);
  });

  test('who is refused and stays is cut', async () => {
    const hello = await clientHello('unknown.example.com');
    const visitor = connect({ port: slow.port, host: '127.0.0.1', allowHalfOpen: true });
    visitor.write(hello);
    expect((await readAll(visitor)).toString('hex')).toBe('15030300020270');
    const error = once(visitor, 'error');
    await slow.empty(); // Writing meets a RST now.
    const writing = setInterval(() => visitor.write('still here'), 1);
    onTestFinished(() => clearInterval(writing));
    expect((await error)[0]).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
  });
});

test('visitors who leave in any state of the handshake leave nothing behind', async () => {
  const edge = await startEdge();
  onTestFinished(() => edge.close());
  const echo = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).pipe(socket));
  onTestFinished(() => void echo.close());
  const echoPort = await listen(echo);
  edge.serve('leave.example.com', echoPort, { proto: 'tls', tls: 'gateway' });
  edge.serve('through.example.com', echoPort, { proto: 'tls', tls: 'passthrough' });
  await edge.empty();
  const before = openSockets();
  for (const name of ['leave.example.com', 'through.example.com', 'app.tunnel.localhost']) {
    const hello = await clientHello(name);
    for (const bytes of [0, 3, 60, hello.length]) {
      for (const how of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const visitor = connect({ port: edge.port, host: '127.0.0.1', noDelay: true });
        visitor.on('error', () => {});
        await once(visitor, 'connect');
        if (bytes > 0) await new Promise((resolve) => visitor.write(hello.subarray(0, bytes), resolve));
        visitor[how]();
        visitor.resume();
        await closed(visitor);
      }
    }
  }
  await edge.empty();
  expect(openSockets(before)).toHaveLength(0);
});
