// Connections that begin with a header of the PROXY protocol, on servers as the gateway has them: of bytes, of HTTP as Node
// reads it, of TLS as Node speaks it.

import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ProxyProtocolListeners, type ProxyProtocolOptions } from '../../../src/edge/proxy-protocol/listeners.ts';
import { payloadBytesRead, peerOf } from '../../../src/tunnel/network/peer.ts';
import { proxyProtocolHeader } from '../../../src/tunnel/network/proxy-protocol.ts';
import { eventually } from '../../support/eventually.ts';
import { newIssuer } from '../../support/issuer.ts';

const PROXY = '127.0.0.2';
const STRANGER = '127.0.0.3';
const HEADERS = [1, 2].map((version) =>
  proxyProtocolHeader(version as 1 | 2, { ip: '192.0.2.7', port: 4711 }, 443, '198.51.100.1'),
);
const PEER = { ip: '192.0.2.7', port: 4711, local: { ip: '198.51.100.1', port: 443 } };

async function guarded(server: Server, { headerMs = 20_000 }: Partial<ProxyProtocolOptions> = {}) {
  const logged: object[] = [];
  const log = { warn: (said: object) => void logged.push(said) };
  const proxied = new ProxyProtocolListeners(
    { trustedProxies: [PROXY], proxyProtocol: ['http'] },
    { log: log as never, headerMs },
  );
  proxied.guard('http', server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    void proxied.close();
  });
  const { port } = server.address() as AddressInfo;
  const dial = async (from = PROXY): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket.on('error', () => {});
  };
  return { proxied, logged, dial };
}

/** Says who it thinks asks, then what it hears, then ends when the other side does. */
const echo = () =>
  createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.write(`${JSON.stringify(peerOf(socket))}\n`);
    socket.pipe(socket);
  });

const firstLine = (said: string) => JSON.parse(said.slice(0, said.indexOf('\n')));

describe('a connection of a trusted proxy', () => {
  test.each(HEADERS)('is one of whom the header names; what follows it is all there', async (header) => {
    const { dial, proxied } = await guarded(echo());
    const socket = await dial();
    socket.end(Buffer.concat([header, Buffer.from('hello\nworld')]));
    const said = await text(socket);
    expect(firstLine(said)).toEqual(PEER);
    expect(said).toMatch(/\}\nhello\nworld$/);
    expect(proxied.waiting).toBe(0);
  });

  test.each(HEADERS)('also byte by byte, with what follows in a piece of its own', async (header) => {
    const { dial } = await guarded(echo());
    const socket = await dial();
    for (const byte of header) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [line] = await once(socket, 'data');
    expect(JSON.parse(String(line))).toEqual(PEER);
    socket.end('behind');
    expect(await text(socket)).toBe('behind');
  });

  test.each(HEADERS)('that ends with its header is ended at the other side too', async (header) => {
    const { dial } = await guarded(echo());
    const socket = await dial();
    socket.end(header);
    expect(firstLine(await text(socket))).toEqual(PEER);
  });

  test('may be taken later, and has lost nothing then', async () => {
    const { dial } = await guarded(
      createServer((socket) => {
        setImmediate(() => setImmediate(() => socket.pipe(socket)));
      }),
    );
    const socket = await dial();
    socket.end(Buffer.concat([HEADERS[0] as Buffer, Buffer.alloc(200_000, 'x')]));
    expect((await text(socket)).length).toBe(200_000);
  });

  test('counts the bytes behind the header only', async () => {
    const counts: number[] = [];
    const server = createServer((socket) => {
      socket.resume().on('end', () => counts.push(payloadBytesRead(socket)));
    });
    const { dial } = await guarded(server);
    for (const header of [...HEADERS, Buffer.from('PROXY UNKNOWN\r\n')]) {
      const socket = await dial();
      socket.resume().end(Buffer.concat([header, Buffer.from('12345')]));
      await once(socket, 'close');
    }
    expect(counts).toEqual([5, 5, 5]);
  });

  test.each([
    ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
    ['LOCAL', Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex')],
  ])('that says %s is its own', async (_, header) => {
    const { dial } = await guarded(echo());
    const socket = await dial();
    const { localPort: port } = socket;
    socket.end(header);
    expect(firstLine(await text(socket))).toMatchObject({ ip: PROXY, port });
  });

  test('without a header is closed, with a line in the log: one for as many as there are', async () => {
    let taken = 0;
    const { dial, logged, proxied } = await guarded(createServer(() => taken++));
    for (let i = 0; i < 20; i++) {
      const socket = await dial();
      socket.resume().write('GET / HTTP/1.1\r\n\r\n');
      await once(socket, 'close');
    }
    expect(taken).toBe(0);
    expect(proxied.waiting).toBe(0);
    expect(logged).toEqual([{ listener: 'http', ip: PROXY, reason: 'there is no PROXY header' }]);
  });

  test('that says nothing is closed when its time is over', async () => {
    const { dial, logged } = await guarded(echo(), { headerMs: 100 });
    const socket = await dial();
    socket.resume().write('PROXY TCP4');
    await once(socket, 'close');
    expect(logged).toEqual([{ listener: 'http', ip: PROXY, reason: 'it did not come in time' }]);
  });

  test('that is closed without a byte is no news; in the middle of a header it is', async () => {
    const { dial, logged, proxied } = await guarded(echo());
    (await dial()).resume().end();
    const one = await dial();
    one.resetAndDestroy();
    await eventually(() => expect(proxied.waiting).toBe(0));
    const half = await dial();
    half.resume().end('PROXY TC');
    await once(half, 'close');
    expect(logged).toEqual([{ listener: 'http', ip: PROXY, reason: 'it is cut short' }]);
  });

  test('is closed when the listener is, as long as its header has not come', async () => {
    const { dial, proxied } = await guarded(echo());
    const [waiting, named] = [await dial(), await dial()];
    named.write(HEADERS[0] as Buffer);
    await once(named, 'data');
    await eventually(() => expect(proxied.waiting).toBe(1));
    await proxied.close();
    await once(waiting.resume(), 'close');
    named.end('still here');
    expect(await text(named)).toBe('still here');
    await once((await dial()).resume(), 'close');
  });
});

test('of a connection from elsewhere no header is read', async () => {
  const { dial } = await guarded(echo());
  const socket = await dial(STRANGER);
  const { localPort: port } = socket;
  socket.end(HEADERS[0] as Buffer);
  const said = await text(socket);
  expect(firstLine(said)).toMatchObject({ ip: STRANGER, port });
  expect(said).toContain('PROXY TCP4 192.0.2.7');
});

describe("Node's own HTTP", () => {
  const server = (): HttpServer =>
    createHttpServer((request, response) => {
      request.resume().on('end', () => response.end(JSON.stringify(peerOf(request.socket)?.ip)));
    });

  test.each(HEADERS)('reads the requests behind a header, whatever pieces they come in', async (header) => {
    const { dial } = await guarded(server());
    const body = 'x'.repeat(100_000);
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const get = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    for (const pieces of [[header, Buffer.from(post + get)], [Buffer.concat([header, Buffer.from(post + get)])]]) {
      const socket = await dial();
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await text(socket)).match(/"192\.0\.2\.7"/g)).toHaveLength(2);
    }
  });

  test('refuses a header from elsewhere as a malformed request', async () => {
    const { dial } = await guarded(server());
    const socket = await dial(STRANGER);
    socket.write(Buffer.concat([HEADERS[0] as Buffer, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test.each(HEADERS)("Node's own TLS knows whom the header names", async (header) => {
  const identity = await (await newIssuer('CN=proxied')).issue({ dns: ['proxied.test'], purpose: 'server' });
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {}).end(JSON.stringify(peerOf(socket)));
  });
  const { dial } = await guarded(server);
  const raw = await dial();
  raw.write(header);
  const socket = connectTls({ socket: raw, rejectUnauthorized: false });
  expect(JSON.parse(await text(socket))).toEqual(PEER);
  const other = connectTls({ socket: await dial(STRANGER), rejectUnauthorized: false });
  expect(JSON.parse(await text(other))).toMatchObject({ ip: STRANGER });
});
