import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTcpPort, TcpListener } from '../../../src/edge/tcp/listener.ts';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import { closed, listen, readAll } from '../sockets.ts';
import { type Agent, startAgent } from '../tls/agent.ts';
import { noVisits } from '../tls/support.ts';

let agent: Agent;
const endpoints = new EndpointRegistry();
const limit = new ConnectionLimit(100);
const traffic = { fromSocket: 0, toSocket: 0 };
const listener = new TcpListener({ services: noVisits, host: '127.0.0.1', endpoints, limit, traffic });

beforeAll(async () => {
  agent = await startAgent();
});
afterEach(async () => {
  while (limit.open > 0 || agent.session.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
});
afterAll(async () => {
  await listener.close(0);
  agent.session.destroy(0, 'the end');
});

async function upstream(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => onSocket(socket.on('error', () => {})));
  onTestFinished(() => void server.close());
  await listen(server);
  return server;
}

/** A TCP endpoint with its port open. */
async function serve(port: number, proxyProtocol: 0 | 1 | 2 = 0, at = listener): Promise<number> {
  const opened = (await at.open(0)) as number;
  const endpoint = agent.tunnel('1.tcp.example.com', port, { proto: 'tcp', port: opened, proxyProtocol });
  endpoints.add(endpoint);
  onTestFinished(() => {
    endpoints.remove(endpoint);
    at.release(opened, 0);
  });
  return opened;
}

const portOf = (server: Server) => (server.address() as { port: number }).port;

async function visit(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Whether there is somebody who listens. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED', // Or it was broken off at once.
  );
}

describe('a visitor', () => {
  test('is joined to the upstream, which speaks first if it likes to', async () => {
    const server = await upstream((socket) => {
      socket.write('220 welcome\r\n');
      socket.pipe(socket);
    });
    const socket = await visit(await serve(portOf(server)));
    const { localPort } = socket;
    expect(String((await once(socket, 'data'))[0])).toBe('220 welcome\r\n');
    socket.end('EHLO');
    expect(String(await readAll(socket))).toBe('EHLO');
    expect(agent.headers.at(-1)).toMatchObject({ proto: 'tcp', edgeType: '1', passthrough: false });
    expect(agent.headers.at(-1)?.clientAddress).toBe(`127.0.0.1:${localPort}`);
  });

  test('can send 16 MB and get them back, and each byte is counted', async () => {
    const before = { ...traffic };
    const server = await upstream((socket) => socket.pipe(socket));
    const socket = await visit(await serve(portOf(server)));
    const bytes = randomBytes(16 * 1024 * 1024);
    const hash = createHash('md5');
    socket.on('data', (chunk) => hash.update(chunk));
    socket.end(bytes);
    await once(socket, 'end');
    expect(hash.digest('hex')).toBe(createHash('md5').update(bytes).digest('hex'));
    expect([traffic.fromSocket - before.fromSocket, traffic.toSocket - before.toSocket]).toEqual([
      bytes.length,
      bytes.length,
    ]);
  });

  test('whose half has ended still gets the rest of the answer', async () => {
    const server = await upstream(async (socket) => {
      const question = await readAll(socket);
      socket.end(`you said: ${question}`);
    });
    const socket = await visit(await serve(portOf(server)));
    socket.end('something');
    expect(String(await readAll(socket))).toBe('you said: something');
  });

  test.each([
    [1, 'PROXY TCP4 127.0.0.1 127.0.0.1 '],
    [2, '\r\n\r\n\0\r\nQUIT\n'],
  ] as const)('is announced with the PROXY protocol, version %i, where that is asked for', async (version, start) => {
    const server = await upstream((socket) => socket.end());
    const received = (once(server, 'connection') as Promise<[Socket]>).then(([socket]) => readAll(socket));
    const socket = await visit(await serve(portOf(server), version));
    socket.end('and then the rest');
    const text = (await received).toString('latin1');
    expect(text.startsWith(start)).toBe(true);
    expect(text.endsWith('and then the rest')).toBe(true);
    await closed(socket.resume());
  });

  test('is met with a RST where no endpoint is, where the upstream refuses, and where there are too many', async () => {
    const met = async (port: number) => {
      const socket = connect(port, '127.0.0.1');
      const [error] = (await once(socket.resume(), 'error')) as [NodeJS.ErrnoException];
      return error.code;
    };
    const nobody = (await listener.open(0)) as number;
    expect(await met(nobody)).toBe('ECONNRESET');
    listener.release(nobody, 0);

    const server = await upstream(() => {});
    const gone = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await met(await serve(gone))).toBe('ECONNRESET');

    const busy = await upstream(() => {});
    const one = new ConnectionLimit(1);
    const small = new TcpListener({ services: noVisits, host: '127.0.0.1', endpoints, limit: one, traffic });
    onTestFinished(() => small.close(0));
    const port = await serve(portOf(busy), 0, small);
    const first = await visit(port);
    first.write('x');
    await once(busy, 'connection');
    expect(await met(port)).toBe('ECONNRESET');
    first.resetAndDestroy();
  });

  test('who breaks off breaks off at the upstream', async () => {
    const server = await upstream(() => {});
    const socket = await visit(await serve(portOf(server)));
    socket.write('x');
    const [far] = (await once(server, 'connection')) as [Socket];
    const error = once(far, 'error');
    far.resume();
    socket.resetAndDestroy();
    expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('a port', () => {
  test('that something else has is not opened, and that is no error', async () => {
    const other = createServer();
    const port = await listen(other);
    expect(await listener.open(port)).toBeUndefined();
    expect(await openTcpPort(port, '127.0.0.1', () => {})).toBeUndefined();
    await new Promise((resolve) => other.close(resolve));
    expect(await listener.open(port)).toBe(port);
    listener.release(port, 0);
  });

  test('that cannot be listened at for another reason is an error', async () => {
    await expect(openTcpPort(0, '192.0.2.1', () => {})).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });

  test('is shared by tunnels, and closed with the last', async () => {
    const port = (await listener.open(0)) as number;
    expect(await Promise.all([listener.open(port), listener.open(port)])).toEqual([port, port]);
    listener.release(port, 0);
    listener.release(port, 0);
    expect(await isOpen(port)).toBe(true);
    listener.release(port, 0);
    expect(await isOpen(port)).toBe(false);
  });

  test('is kept for a while where that is asked for, and taken up again', async () => {
    const port = (await listener.open(0)) as number;
    listener.release(port, 60_000);
    expect(await openTcpPort(port, '127.0.0.1', () => {})).toBeUndefined();
    expect(await listener.open(port)).toBe(port);
    listener.release(port, 20);
    while (await isOpen(port)) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await listener.open(port)).toBe(port); // It was free.
    listener.release(port, 0);
  });
});

test('the end of the listener closes every port; who is still there after its time is cut', async () => {
  const ending = new TcpListener({ services: noVisits, host: '127.0.0.1', endpoints, limit });
  const server = await upstream((socket) => socket.write('welcome'));
  const port = (await ending.open(0)) as number;
  const kept = (await ending.open(0)) as number;
  ending.release(kept, 60_000);
  const endpoint = agent.tunnel('1.tcp.example.com', portOf(server), { proto: 'tcp', port });
  endpoints.add(endpoint);
  onTestFinished(() => endpoints.remove(endpoint));
  const socket = await visit(port);
  await once(socket, 'data');
  const error = once(socket, 'error');
  await ending.close(20);
  expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
  expect([await isOpen(port), await isOpen(kept), await ending.open(port)]).toEqual([false, false, undefined]);
});
