// What tunnels of an existing SDK, unchanged but for address and CA, carry through this gateway.

import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer as createH2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, rawAgent } from '../support/agents/raw-agent.ts';
import { httpName } from '../support/agents/sdk.ts';
import { crowd, download, listen, startUpstream, upload } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { shortened } from '../support/shortened.ts';
import { visit } from '../support/visit.ts';
import { connectTo, echoServer, sayTo, sdkLab } from './sdk-lab.ts';

const MIB_EACH_WAY = shortened([4, 20]);
const CROWDS = shortened([300, 2000]);

const lab = sdkLab('sdk-traffic');
const { newName, connected, placeOf, get, hello } = lab;

describe('what is served', () => {
  test('http, by a name of one’s own or one that the gateway chooses; it is what the API shows', async () => {
    const { session, listener, upstream, name } = await hello();
    const chosen = await session.httpEndpoint().scheme('http').metadata('a door').listenAndForward(upstream.url);
    const [, port] = lab.gateway.http.split(':');
    expect(listener.url()).toBe(`http://${name}:${port}`);
    expect(chosen.url()).toMatch(/^http:\/\/[0-9a-f]{12}\.tunnel\.localhost:\d+$/);
    for (const { url } of [placeOf(listener), placeOf(chosen)])
      expect(await get(url)).toMatchObject({ status: 200, body: 'hello' });
    const { body } = await lab.account.call('GET', '/tunnels');
    expect(body.tunnels).toContainEqual(
      expect.objectContaining({ id: chosen.id(), public_url: chosen.url(), metadata: 'a door', proto: 'http' }),
    );
  });

  test('https, with the gateway’s certificate', async () => {
    const { session, upstream, name } = await hello();
    const listener = await session.httpEndpoint().domain(name).listenAndForward(upstream.url);
    expect(listener.url()).toBe(`https://${name}:${lab.gateway.https.split(':')[1]}`);
    expect(await visit(String(listener.url()), lab.gateway.https, { ca: lab.gateway.ca })).toMatchObject({
      body: 'hello',
    });
  });

  test('and nobody else serves a name of its site, under any scheme', async () => {
    const { listener, name } = await hello();
    const stranger = await rawAgent(lab.gateway);
    expect((await stranger.auth((await newCredential(await lab.gateway.newAccount())).authtoken)).Error).toBe('');
    for (const Proto of ['http', 'https', 'tls'])
      for (const host of [name, `below.${name}`]) expect(codeOf(await stranger.bind(host, { Proto }))).toBe(320);
    expect((await get(listener.url())).body).toBe('hello');
    await listener.close();
    expect(codeOf(await stranger.bind(`below.${name}`, { Proto: 'tls' }))).toBeUndefined();
  });

  test('http to an upstream that is not there is the SDK’s own 502', async () => {
    const session = await connected();
    const listener = await httpName(session, newName()).listenAndForward('http://127.0.0.1:1');
    expect(await get(listener.url())).toMatchObject({ status: 502, body: expect.stringContaining('failed to dial') });
  });

  test('tcp, both ways, on a port of the gateway’s choice', async () => {
    const listener = await (await connected()).tcpEndpoint().listenAndForward(await echoServer());
    expect(await sayTo(listener.url(), 'there and back')).toBe('there and back');
  });

  test('labels are accepted and listed', async () => {
    const listener = await (await connected())
      .labeledListener()
      .label('door', 'front')
      .label('floor', '2')
      .metadata('m')
      .listenAndForward('http://127.0.0.1:1');
    const { body } = await lab.account.call('GET', '/tunnels');
    expect(body.tunnels).toContainEqual(
      expect.objectContaining({ id: listener.id(), labels: { door: 'front', floor: '2' }, metadata: 'm' }),
    );
  });

  test('a WebSocket, in messages up to 1 MiB', async () => {
    const { listener, upstream } = await hello();
    new WebSocketServer({ server: upstream.server }).on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
    const { host } = new URL(String(listener.url()));
    const socket = new WebSocket(`ws://${lab.gateway.http}/`, { headers: { host } });
    onTestFinished(() => socket.terminate());
    await once(socket, 'open');
    for (const size of [0, 5, 70_000, 2 ** 20]) {
      socket.send(Buffer.alloc(size, size % 251));
      const [echo] = (await once(socket, 'message')) as [Buffer];
      expect(echo.equals(Buffer.alloc(size, size % 251))).toBe(true);
    }
    socket.close(4001);
    expect((await once(socket, 'close'))[0]).toBe(4001);
  });

  test('server-sent events, each as it is sent', async () => {
    let send: (event: string) => void = () => {};
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send = (event) => response.write(`data: ${event}\n\n`);
      send('0');
    });
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const { host } = new URL(String(listener.url()));
    const visitor = connect(Number(lab.gateway.http.split(':')[1]), '127.0.0.1').setEncoding('utf8');
    onTestFinished(() => void visitor.destroy());
    visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    let seen = '';
    visitor.on('data', (text) => {
      seen += text;
    });
    // The next is sent only when the one before has arrived.
    for (let event = 0; event < 5; event++) {
      await eventually(() => expect(seen).toContain(`data: ${event}\n\n`), { interval: 2 });
      send(String(event + 1));
    }
  });

  test.each(MIB_EACH_WAY)('%i MiB each way, with a length and in chunks, with equal checksums', async (mebibytes) => {
    const upstream = await startUpstream();
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const all = [
      await download(placeOf(listener), mebibytes),
      await upload(placeOf(listener), mebibytes, true),
      await upload(placeOf(listener), mebibytes, false),
    ];
    for (const { sent, received, bytes } of all)
      expect({ received, bytes }).toEqual({ received: sent, bytes: mebibytes * 2 ** 20 });
  });

  test.each(CROWDS)('%i visitors at once over one session', async (visitors) => {
    const { listener } = await hello();
    expect(await crowd(placeOf(listener), visitors)).toEqual({ 200: visitors });
  });

  test('answers of 16 KiB, one at a time, are not held up by Nagle’s algorithm', async () => {
    const upstream = await startUpstream((_, response) => response.end(Buffer.alloc(16 * 1024)));
    const listener = await httpName(await connected(), newName()).listenAndForward(upstream.url);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const times: number[] = [];
    for (let i = 0; i < 41; i++) {
      const start = performance.now();
      const { body } = await visit(String(listener.url()), lab.gateway.http, { agent });
      times.push(performance.now() - start);
      expect(body.length).toBe(16 * 1024);
    }
    // It would hold up each but the first few by the 40 ms after which the other end acknowledges what it has.
    expect(times.sort((a, b) => a - b)[10]).toBeLessThan(40);
  });

  test('an upstream of HTTP/2 is spoken to in it', async () => {
    const server = createH2((request, response) => response.end(`HTTP/${request.httpVersion}`));
    const http = httpName(await connected(), newName()).appProtocol('http2');
    const listener = await http.listenAndForward(await listen(server));
    expect(await get(listener.url())).toMatchObject({ status: 200, body: 'HTTP/2.0' });
  });

  test('the PROXY protocol tells an upstream who the visitor is, in version 1', async () => {
    const upstream = createServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', (head) => {
          const [line = ''] = head.toString('latin1').split('\r\n');
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`);
        }),
    );
    const listener = await httpName(await connected(), newName())
      .proxyProto('1')
      .listenAndForward(await listen(upstream));
    expect((await get(listener.url())).body).toMatch(/^PROXY TCP4 127\.0\.0\.1 \S+ \d+ \d+$/);
  });

  test('the PROXY protocol tells an upstream who the visitor is, in version 2', async () => {
    const tcp = (await connected()).tcpEndpoint().proxyProto('2');
    const listener = await tcp.listenAndForward(await echoServer());
    const visitor = await connectTo(listener.url());
    onTestFinished(() => void visitor.destroy());
    const { localPort = 0 } = visitor;
    visitor.write('x');
    const [head] = (await once(visitor, 'data')) as [Buffer];
    expect(head.subarray(0, 12).toString('latin1')).toBe('\r\n\r\n\0\r\nQUIT\n');
    expect([...head.subarray(12, 20)]).toEqual([0x21, 0x11, 0, 12, 127, 0, 0, 1]);
    expect(head.readUInt16BE(24)).toBe(localPort);
  });
});
