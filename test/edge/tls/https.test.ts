import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { closed, listen, readAll } from '../sockets.ts';
import { type Edge, startEdge } from './support.ts';

const NAME = 'app.tunnel.localhost';
let edge: Edge;
const servers: Server[] = [];

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(async () => {
  await edge.close();
  for (const server of servers) server.close();
});

async function serve(onRequest: RequestListener, name = NAME): Promise<Server> {
  const server = createServer(onRequest);
  servers.push(server);
  const endpoint = edge.serve(name, await listen(server));
  onTestFinished(() => edge.endpoints.remove(endpoint));
  return server;
}

/** Says `text` to a visitor's connection. @returns what comes until it ends. */
async function ask(socket: TLSSocket, text: string): Promise<string> {
  socket.write(text.replaceAll('\n', '\r\n'));
  return String(await readAll(socket));
}

const get = (host: string, more = 'Connection: close\n') => `GET / HTTP/1.1\nHost: ${host}\n${more}\n`;
/** For a visitor who names nobody; that the name is not the address it comes to is all that is not checked. */
const nameless = { checkServerIdentity: () => undefined };

test('a request reaches its endpoint, which is told of HTTPS', async () => {
  await serve((request, response) =>
    response.end(`${request.headers['x-forwarded-proto']} ${request.headers['x-forwarded-for']}`),
  );
  expect(await ask(await edge.visit(NAME), get(NAME))).toMatch(/^HTTP\/1\.1 200 OK.*https 127\.0\.0\.1$/s);
});

test('a name with an underscore finds its endpoint', async () => {
  const name = 'a_b.tunnel.localhost';
  await serve((_, response) => response.end('mine'), name);
  expect(await ask(await edge.visit(name), get(name))).toMatch(/^HTTP\/1\.1 200 .*mine$/s);
});

test('HTTP/2 is chosen by who can speak it, HTTP/1.1 by who cannot', async () => {
  for (const [offered, chosen] of [
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [['http/1.0'], 'http/1.0'],
    [['http/1.0', 'http/1.1'], 'http/1.1'],
    [undefined, false],
  ] as const) {
    const socket = await edge.visit(NAME, { ALPNProtocols: offered && [...offered] });
    expect(socket.alpnProtocol).toBe(chosen);
    socket.destroy();
  }
});

describe('the name of the connection and that of a request', () => {
  test('one and the same, however it is written', async () => {
    await serve((_, response) => response.end('mine'));
    for (const host of [NAME, NAME.toUpperCase(), `${NAME}.`, `${NAME}:8443`])
      expect(await ask(await edge.visit(NAME), get(host))).toMatch(/^HTTP\/1\.1 200 .*mine$/s);
  });

  test('two different ones are answered with 421, also later on the same connection', async () => {
    await serve((_, response) => response.end('mine'));
    await serve(() => expect.fail('it went on'), 'other.tunnel.localhost');
    const misdirected = /^HTTP\/1\.1 421 .*ERR_GATEWAY_90121/s;
    expect(await ask(await edge.visit(NAME), get('other.tunnel.localhost'))).toMatch(misdirected);
    const both = await ask(await edge.visit(NAME), get(NAME, '') + get('other.tunnel.localhost'));
    expect(both).toMatch(/^HTTP\/1\.1 200 .*mineHTTP\/1\.1 421 /s);
  });

  test('a visitor who names nobody may ask for any', async () => {
    await serve((_, response) => response.end('mine'));
    const socket = await edge.visit(undefined, nameless);
    expect(socket.getPeerCertificate().subjectaltname).toBe('IP Address:127.0.0.1');
    expect(await ask(socket, get(NAME))).toMatch(/^HTTP\/1\.1 200 .*mine$/s);
  });

  test('no request is given to an endpoint that wants what is inside the TLS', async () => {
    const endpoint = edge.serve('raw.tunnel.localhost', 1, { proto: 'tls', tls: 'gateway' });
    const socket = await edge.visit(undefined, nameless);
    expect(await ask(socket, get('raw.tunnel.localhost'))).toMatch(/^HTTP\/1\.1 404 /);
    edge.endpoints.remove(endpoint);
  });

  test('a name that nobody has, below the base domain, is told so', async () => {
    const text = await ask(await edge.visit('nobody.tunnel.localhost'), get('nobody.tunnel.localhost'));
    expect(text).toMatch(/^HTTP\/1\.1 404 .*Gateway-Error-Code: ERR_GATEWAY_3200/s);
  });
});

test('endpoints that share a name take turns, one connection each, whatever Node asks for on the way', async () => {
  const names: string[] = [];
  for (const label of ['a', 'b']) await serve((_, response) => response.end(label), 'pool.tunnel.localhost');
  for (let i = 0; i < 4; i++) {
    const text = await ask(await edge.visit('pool.tunnel.localhost'), get('pool.tunnel.localhost'));
    names.push(text.at(-1) ?? '');
  }
  expect([names.join('').includes('abab'), names.join('').includes('baba')]).toContain(true);
});

test('a WebSocket', async () => {
  const server = await serve(() => {});
  new WebSocketServer({ server }).on('connection', (peer) => {
    peer.on('message', (message) => peer.send(message));
  });
  const options = { ca: edge.ca, servername: NAME, headers: { Host: NAME } };
  const socket = new WebSocket(`wss://127.0.0.1:${edge.port}/`, options);
  await once(socket, 'open');
  for (const size of [5, 100_000, 1_000_000]) {
    socket.send(Buffer.alloc(size, 7));
    const [echo] = await once(socket, 'message');
    expect((echo as Buffer).length).toBe(size);
  }
  const ended = once(socket, 'close');
  socket.close(1000);
  expect((await ended)[0]).toBe(1000);
});

test('a large body each way', async () => {
  await serve((request, response) => request.pipe(response));
  const body = Buffer.alloc(8 * 1024 * 1024, 'tunnel ');
  const echoed = await new Promise<Buffer>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: edge.port, servername: NAME, ca: edge.ca, method: 'POST', headers: { Host: NAME } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    sent.on('error', reject).end(body);
  });
  expect(echoed.equals(body)).toBe(true);
});

test('an answer that is cut short is a RST', async () => {
  let cut: (() => void) | undefined;
  await serve((_, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('half');
    cut = () => response.socket?.resetAndDestroy();
  });
  const socket = await edge.visit(NAME);
  const error = once(socket, 'error');
  socket.write(get(NAME).replaceAll('\n', '\r\n'));
  socket.on('end', () => expect.fail('a clean end'));
  await once(socket, 'data');
  cut?.();
  expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
});

test('for a visitor who ends TLS after the request nobody works any more', async () => {
  const socket = await edge.visit(NAME, { allowHalfOpen: true } as object);
  const isGivenUp = new Promise((resolve) => {
    void serve((_, response) => {
      response.on('close', resolve);
      socket.end();
    });
  });
  socket.write(get(NAME, '').replaceAll('\n', '\r\n'));
  await isGivenUp;
});

test('a session is resumed, and still only serves the name that it was for', async () => {
  await serve((_, response) => response.end('mine'));
  const first = await edge.visit(NAME, { maxVersion: 'TLSv1.2' });
  const session = first.getSession();
  first.destroy();
  const second = await edge.visit(NAME, { maxVersion: 'TLSv1.2', session });
  expect(second.isSessionReused()).toBe(true);
  expect(await ask(second, get('other.tunnel.localhost'))).toMatch(/^HTTP\/1\.1 421 /);
  const other = await edge.visit('other.tunnel.localhost', { maxVersion: 'TLSv1.2', session });
  expect(await ask(other, get(NAME))).toMatch(/^HTTP\/1\.1 421 /);
});

describe('the end of the listener', () => {
  test('idle connections end, answers under way are completed, nobody is let in', async () => {
    const ending = await startEdge();
    let go: (() => void) | undefined;
    const server = createServer((_, response) => {
      response.write('first, ');
      go = () => response.end('last');
    });
    onTestFinished(() => void server.close());
    ending.serve(NAME, await listen(server));
    const idle = await ending.visit(NAME);
    const busy = await ending.visit(NAME);
    busy.write(get(NAME).replaceAll('\n', '\r\n'));
    await once(busy, 'data');
    const rest = readAll(busy);
    const closing = ending.close(5000);
    await closed(idle.resume());
    await expect(ending.visit(NAME)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    go?.();
    expect(String(await rest)).toMatch(/last/);
    await closing;
  });

  test('what is still open after its time is cut, in whatever state it is', async () => {
    const ending = await startEdge();
    const server = createServer((_, response) => void response.write(Buffer.alloc(20_000_000)));
    onTestFinished(() => server.closeAllConnections());
    ending.serve(NAME, await listen(server));
    ending.serve('raw.tunnel.localhost', (await listenEcho()).port, { proto: 'tls', tls: 'gateway' });
    const visitors = [
      connect(ending.port, '127.0.0.1'),
      await ending.visit(NAME),
      await ending.visit('raw.tunnel.localhost'),
      await stalled(ending),
    ];
    const http2 = await ending.visitHttp2(NAME);
    const stream = http2.request({ ':path': '/' });
    stream.on('error', () => {});
    await once(stream, 'response'); // And never read.
    const all = Promise.all(visitors.map((visitor) => closed(visitor)));
    for (const visitor of visitors) visitor.on('error', () => {});
    await ending.close(50);
    for (const visitor of visitors) visitor.resume();
    await all;
    http2.destroy();
  });
});

/** A visitor whose answer is larger than what fits on the way, and who does not read. */
async function stalled(from: Edge): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: from.port, ca: from.ca, servername: NAME });
  await once(socket, 'secureConnect');
  socket.write(get(NAME).replaceAll('\n', '\r\n'));
  await once(socket, 'readable');
  return socket;
}

async function listenEcho(): Promise<{ port: number }> {
  const { createServer: createTcpServer } = await import('node:net');
  const server = createTcpServer((socket) => socket.on('error', () => {}).pipe(socket));
  onTestFinished(() => void server.close());
  return { port: await listen(server) };
}
