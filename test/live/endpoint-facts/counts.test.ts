// What is counted of the visitors of an endpoint: to the byte, while they are there, and never twice.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { TcpListener } from '../../../src/edge/tcp/listener.ts';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import { TrafficMeter } from '../../../src/tunnel/endpoints/traffic-meter.ts';
import { type Edge, type Peer, startEdge, startScript, visit } from '../../edge/http1/support.ts';
import { ask, NAME, serve as serveHttp2, visit as visitHttp2 } from '../../edge/http2/support.ts';
import { clientHello, listen } from '../../edge/sockets.ts';
import { noVisits, startEdge as startTlsEdge, type Edge as TlsEdge } from '../../edge/tls/support.ts';
import { eventually } from '../../support/eventually.ts';
import { handle } from '../reports/lab.ts';

const GET = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const UPGRADE = 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';

let edge: Edge;
let tls: TlsEdge;
beforeAll(async () => {
  [edge, tls] = [await startEdge(), await startTlsEdge()];
});
afterAll(async () => {
  await edge.close();
  await tls.close();
});

const counts = ({ requests, open, fromSocket, toSocket }: TrafficMeter) => ({ requests, open, fromSocket, toSocket });
const until = (meter: TrafficMeter, expected: Partial<ReturnType<typeof counts>>) =>
  eventually(() => expect(counts(meter)).toMatchObject(expected));

/** An upstream behind `app.test` that the test plays. */
async function startApp() {
  const script = await startScript();
  const meter = new TrafficMeter();
  const endpoint = Object.assign(edge.serve('app.test', script.port), { meter });
  return { next: script.next, meter, endpoint };
}

/** Bytes that a visitor got, of an answer that ends like this. */
async function got(visitor: Peer, end: string): Promise<number> {
  await visitor.until((text) => text.endsWith(end));
  return visitor.take().length;
}

describe('of HTTP', () => {
  test('requests count as they come, and are under way until their answers are complete', async () => {
    const { next, meter } = await startApp();
    const visitor = await visit(edge.port);
    visitor.send(GET);
    const upstream = await next();
    await upstream.until('\r\n\r\n');
    expect(counts(meter)).toEqual({ requests: 1, open: 1, fromSocket: GET.length, toSocket: 0 });
    upstream.send(OK);
    const bytes = await got(visitor, 'ok');
    expect(counts(meter)).toEqual({ requests: 1, open: 0, fromSocket: GET.length, toSocket: bytes });
    upstream.take();
    visitor.send(GET + GET); // One after the other, on the same connection.
    for (let i = 0; i < 2; i++) {
      await upstream.until('\r\n\r\n');
      upstream.take();
      upstream.send(OK);
      await got(visitor, 'ok');
    }
    expect(counts(meter)).toEqual({ requests: 3, open: 0, fromSocket: 3 * GET.length, toSocket: 3 * bytes });
  });

  test.each(['', 'with modules before it'])('a body counts while it comes %s', async (modules) => {
    const { next, meter, endpoint } = await startApp();
    if (modules) handle(endpoint, { compression: { enabled: true } });
    const visitor = await visit(edge.port);
    const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    visitor.send(`${head}5\r\nhello\r\n`);
    const upstream = await next();
    await upstream.until('hello');
    await until(meter, { open: 1, fromSocket: head.length + 10 });
    visitor.send('5\r\nthere\r\n');
    await until(meter, { open: 1, fromSocket: head.length + 20 });
    visitor.send('0\r\n\r\n');
    await upstream.until('0\r\n\r\n');
    upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nok');
    const bytes = await got(visitor, 'ok');
    await until(meter, { open: 1, toSocket: bytes });
    upstream.send('ok');
    await visitor.until('ok');
    expect(counts(meter)).toEqual({ requests: 1, open: 0, fromSocket: head.length + 25, toSocket: bytes + 2 });
  });

  test('an answer of the gateway’s own counts, and so does one that is cut', async () => {
    const { next, meter, endpoint } = await startApp();
    const visitor = await visit(edge.port);
    endpoint.failure = 'offline';
    visitor.send(GET);
    await until(meter, { requests: 1, open: 0 });
    await visitor.until((text) => text.length === meter.toSocket);
    expect(visitor.text).toContain(' 502 ');
    visitor.take();
    endpoint.failure = undefined;
    const before = meter.toSocket;
    const second = await visit(edge.port);
    second.send(GET);
    const upstream = await next();
    await upstream.until('\r\n\r\n');
    upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf').socket.destroy();
    await second.closed;
    expect(counts(meter)).toMatchObject({ requests: 2, open: 0, toSocket: before + second.text.length });
  });

  test('a visitor who leaves is not under way any more', async () => {
    const { next, meter } = await startApp();
    const visitor = await visit(edge.port);
    visitor.send(GET);
    await (await next()).until('\r\n\r\n');
    expect(meter.open).toBe(1);
    visitor.socket.resetAndDestroy();
    await until(meter, { requests: 1, open: 0 });
  });

  test('what was upgraded is under way until it is closed, and its bytes count as they pass', async () => {
    const { next, meter } = await startApp();
    const visitor = await visit(edge.port);
    visitor.send(`${UPGRADE}abc`);
    const upstream = await next();
    await upstream.until('\r\n\r\n');
    upstream.send(`${SWITCHING}hello`);
    const bytes = await got(visitor, 'hello');
    visitor.send('defg');
    await upstream.until('abcdefg');
    const passed = { fromSocket: UPGRADE.length + 7, toSocket: bytes };
    expect(counts(meter)).toEqual({ requests: 1, open: 1, ...passed });
    const listener = edge.counters.traffic.toSocket;
    upstream.send('more');
    await visitor.until('more');
    expect(edge.counters.traffic.toSocket).toBe(listener + 4); // For the listener they count once.
    upstream.socket.end();
    visitor.socket.end();
    await until(meter, { requests: 1, open: 0, ...passed, toSocket: bytes + 4 });
  });

  test('a WebSocket that is converted counts like it', async () => {
    const { next, meter, endpoint } = await startApp();
    handle(endpoint, {}, { convertsWebsockets: true });
    const visitor = await visit(edge.port);
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
    const asked = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`;
    visitor.send(asked);
    const upstream = await next();
    await visitor.until('\r\n\r\n');
    expect(meter).toMatchObject({ requests: 1, open: 1, fromSocket: asked.length });
    upstream.send('abc').socket.end();
    await visitor.until((text) => text.endsWith('\x03\xe8'));
    visitor.send(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    await visitor.toEnd();
    await until(meter, { open: 0, fromSocket: asked.length + 8, toSocket: visitor.received.length });
  });
});

describe('of HTTP/2', () => {
  test('requests, bodies and answers count', async () => {
    await serveHttp2(tls, (request, response) => {
      request.resume().on('end', () => response.end('x'.repeat(1000)));
    });
    const meter = tls.endpoints.byName('tls', NAME)?.meter as TrafficMeter;
    const session = await visitHttp2(tls);
    const small = await ask(session);
    expect(small.body).toHaveLength(1000);
    await until(meter, { requests: 1, open: 0 });
    const { fromSocket } = meter;
    expect(fromSocket).toBeGreaterThan(0);
    expect(meter.toSocket).toBeGreaterThan(1000);
    const listener = tls.counters.traffic.fromSocket;
    await ask(session, { ':method': 'POST' }, Buffer.alloc(200_000));
    expect(tls.counters.traffic.fromSocket).toBe(listener + 200_000);
    await until(meter, { requests: 2, open: 0 });
    expect(meter.fromSocket).toBeGreaterThan(fromSocket + 200_000);
  });

  test('a request that the visitor takes back is not under way any more', async () => {
    await serveHttp2(tls, () => {});
    const meter = tls.endpoints.byName('tls', NAME)?.meter as TrafficMeter;
    const session = await visitHttp2(tls);
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {});
    await until(meter, { requests: 1, open: 1 });
    stream.close(8);
    await until(meter, { requests: 1, open: 0 });
  });
});

describe('of connections', () => {
  /** An upstream that says what it hears. */
  async function startEcho(): Promise<number> {
    const server = createServer((socket) => void socket.on('error', () => {}).pipe(socket));
    onTestFinished(() => void server.close());
    return listen(server);
  }

  async function talk(socket: Socket, meter: TrafficMeter): Promise<void> {
    socket.write('hello');
    await once(socket, 'data');
    expect(counts(meter)).toMatchObject({ requests: 1, open: 1 });
    expect(meter.fromSocket).toBe(5);
    socket.on('error', () => {}).destroy();
    await until(meter, { requests: 1, open: 0 });
  }

  test('of TCP', async () => {
    const endpoints = new EndpointRegistry();
    const limit = new ConnectionLimit(100);
    const traffic = { fromSocket: 0, toSocket: 0 };
    const doors = new TcpListener({ services: noVisits, host: '127.0.0.1', endpoints, limit, traffic });
    onTestFinished(() => doors.close(0));
    const port = (await doors.open(0)) as number;
    const endpoint = tls.agent.tunnel('1.tcp.test', await startEcho(), { proto: 'tcp', port });
    endpoints.add(endpoint);
    const socket = connect(port, '127.0.0.1');
    await talk(socket, endpoint.meter);
    expect(traffic).toEqual({ fromSocket: 5, toSocket: 5 });
    expect(endpoint.meter.toSocket).toBe(5);
  });

  test('of TLS that ends at the gateway', async () => {
    const { meter } = tls.serve('ended.tunnel.localhost', await startEcho(), { proto: 'tls' });
    await talk(await tls.visit('ended.tunnel.localhost'), meter);
  });

  test('of TLS that goes through: what is encrypted counts', async () => {
    const options = { proto: 'tls', tls: 'passthrough' } as const;
    const { meter } = tls.serve('through.tunnel.localhost', await startEcho(), options);
    const hello = await clientHello('through.tunnel.localhost');
    const socket = connect(tls.port, '127.0.0.1').on('error', () => {});
    socket.resume().write(hello);
    await until(meter, { requests: 1, open: 1, fromSocket: hello.length, toSocket: hello.length });
    socket.destroy();
    await until(meter, { requests: 1, open: 0 });
  });
});
