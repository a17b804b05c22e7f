// Behind proxies that speak HTTP: a visitor is whom a trusted proxy names in X-Forwarded-For, request by request; of
// anybody else the field is worth nothing.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { action, onConnect } from '../policy/documents/support.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newName } from './edges/support.ts';
import { type Ear, HEARD_HERE, REQUESTS, startTrafficLab, type TrafficLab } from './traffic-events/lab.ts';

const [PROXY, STRANGER] = ['127.0.0.2', '127.0.0.3'];
const [FRIEND, FOE] = ['203.0.113.9', '203.0.113.8'];
type Scheme = 'http' | 'https';
const schemes: Scheme[] = ['http', 'https'];

let gateway: TestGateway;
let lab: TrafficLab;
let ear: Ear;
/** What upstreams were told, by path. */
const told = new Map<string, string[]>();
/** On which of its connections an upstream was asked, by path. */
const askedOn = new Map<string, number>();
let upstream: string;
let close = () => {};
const restricted = {} as Record<Scheme, string>;
const open = {} as Record<Scheme, string>;

beforeAll(async () => {
  gateway = await startTestGateway({
    ...HEARD_HERE,
    TRUSTED_PROXIES: `${PROXY}, 10.0.0.0/8`,
    MAX_VISITORS: '12',
    MAX_VISITORS_PER_ADDRESS: '3',
  });
  lab = await startTrafficLab(gateway);
  ear = await lab.hear([{ type: REQUESTS }]);
  const ports = new Map<Socket, number>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { url = '', rawHeaders } = request;
    const fields = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 && /^(x-forwarded-for|forwarded|x-real-ip)$/i.test(name) ? [`${name}: ${rawHeaders[i + 1]}`] : [],
    );
    told.set(url, fields);
    ports.set(request.socket, ports.get(request.socket) ?? ports.size);
    askedOn.set(url, ports.get(request.socket) ?? -1);
    response.end('in');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.close();
    server.closeAllConnections();
  };
  for (const scheme of schemes) {
    restricted[scheme] = newName('forwarded');
    open[scheme] = newName('forwarded');
    const builder = lab.session.httpEndpoint().scheme(scheme).domain(restricted[scheme]);
    await builder.allowCidr(`${FRIEND}/32`).listenAndForward(upstream);
    await lab.session.httpEndpoint().scheme(scheme).domain(open[scheme]).listenAndForward(upstream);
  }
}, 60_000);
afterAll(async () => {
  await lab?.close();
  close();
  await gateway?.close();
});

/** A connection of a proxy, or of whoever is at another address. */
async function dial(scheme: Scheme, name: string, from = PROXY): Promise<Socket> {
  const [host = '', port] = gateway[scheme].split(':');
  const raw = connect({ host, port: Number(port), localAddress: from });
  onTestFinished(() => void raw.destroy());
  const socket = scheme === 'http' ? raw : connectTls({ socket: raw, servername: name, ca: gateway.ca });
  socket.on('error', () => {});
  await once(socket, scheme === 'http' ? 'connect' : 'secureConnect');
  return socket;
}

const request = (name: string, fields: string[], path = '/', connection = 'close') =>
  `${[`GET ${path} HTTP/1.1`, `Host: ${name}`, ...fields, `Connection: ${connection}`].join('\r\n')}\r\n\r\n`;

/** @returns the status of the answer; 0 where there was none. */
async function ask(scheme: Scheme, name: string, fields: string[], path?: string, from?: string): Promise<number> {
  const socket = await dial(scheme, name, from);
  socket.write(request(name, fields, path));
  const answer = await text(socket).catch(() => '');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}

describe.each(schemes)('over %s, ip_restriction is about', (scheme) => {
  test.each([
    [[`X-Forwarded-For: ${FRIEND}`], 200],
    [[`X-Forwarded-For: ${FOE}`], 403],
    // What the client wrote itself comes first, and is not asked.
    [[`X-Forwarded-For: ${FOE}, ${FRIEND}`], 200],
    [[`X-Forwarded-For: ${FRIEND}, ${FOE}`], 403],
    [[`X-Forwarded-For: ${FRIEND}`, `X-Forwarded-For: ${FOE}`], 403],
    [[`X-Forwarded-For: ${FOE}`, `x-forwarded-for: ${FRIEND}`], 200],
    // Through more than one proxy.
    [[`X-Forwarded-For: ${FRIEND}, 10.1.2.3`], 200],
    [[`X-Forwarded-For: ${FOE}, 10.1.2.3, 10.3.2.1`], 403],
    [[`X-Forwarded-For: ${FRIEND}:4711`], 200],
    [[`X-Forwarded-For: ::ffff:${FRIEND}`], 200],
    // A proxy takes that away: it is for the hop before.
    [[`X-Forwarded-For: ${FOE}`, 'Connection: X-Forwarded-For'], 400],
    // None of them is what the proxy says.
    [[], 403],
    [['X-Forwarded-For: unknown'], 403],
    [[`X-Forwarded-For: ${FRIEND}, unknown`], 403],
    [[`X_Forwarded_For: ${FRIEND}`], 403],
    [[`Forwarded: for=${FRIEND}`], 403],
    [[`X-Real-IP: ${FRIEND}`], 403],
  ])('%j: %i', async (fields, status) => {
    expect(await ask(scheme, restricted[scheme], fields)).toBe(status);
  });

  test('the connection, where it is from elsewhere', async () => {
    expect(await ask(scheme, restricted[scheme], [`X-Forwarded-For: ${FRIEND}`], '/', STRANGER)).toBe(403);
  });

  test('each request by itself, on one connection', async () => {
    const name = restricted[scheme];
    const socket = await dial(scheme, name);
    const clients = [FRIEND, FOE, FRIEND, FRIEND, FOE];
    for (const [i, client] of clients.entries())
      socket.write(request(name, [`X-Forwarded-For: ${client}`], `/${i}`, i < 4 ? 'keep-alive' : 'close'));
    const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([200, 403, 200, 200, 403]);
  });

  test('so are rules for connections, which have let in one client and not the others', async () => {
    const name = newName('rules');
    const policy = JSON.stringify(onConnect([action('restrict-ips', { allow: [`${FRIEND}/32`] })]));
    const builder = lab.session.httpEndpoint().scheme(scheme).domain(name).trafficPolicy(policy);
    const listener = await builder.listenAndForward(upstream);
    onTestFinished(() => listener.close());
    const [friend, foe] = [FRIEND, FOE].map((client) => [`X-Forwarded-For: ${client}`]) as [string[], string[]];
    expect(await ask(scheme, name, friend)).toBe(200);
    expect(await ask(scheme, name, foe)).toBe(0);
    expect(await ask(scheme, name, friend, '/', STRANGER).catch(() => 0)).toBe(0);
    const socket = await dial(scheme, name);
    socket.write(request(name, friend, '/1', 'keep-alive') + request(name, foe, '/2') + request(name, friend, '/3'));
    expect((await text(socket).catch(() => '')).match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  });
});

test('requests that come at once over HTTP/2 are each of whom they say', async () => {
  const name = restricted.https;
  const [host = '', port] = gateway.https.split(':');
  const session = connectHttp2(`https://${name}`, {
    createConnection: () =>
      connectTls({
        socket: connect({ host, port: Number(port), localAddress: PROXY }),
        servername: name,
        ca: gateway.ca,
        ALPNProtocols: ['h2'],
      }),
  });
  onTestFinished(() => session.destroy());
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const stream = session.request({ ':path': `/h2-${i}`, 'x-forwarded-for': `1.1.1.1, ${i % 2 ? FOE : FRIEND}` });
      const [head] = await once(stream.resume(), 'response');
      return head[':status'];
    }),
  );
  expect(answers).toEqual(Array.from({ length: 20 }, (_, i) => (i % 2 ? 403 : 200)));
  expect(told.get('/h2-4')).toEqual([`X-Forwarded-For: ${FRIEND}, ${PROXY}`]);
});

test.each(schemes)('over %s, upstreams are told of the client and of trusted proxies after it', async (scheme) => {
  const about = async (fields: string[], from?: string) => {
    const path = `/told-${scheme}-${told.size}`;
    expect(await ask(scheme, open[scheme], fields, path, from)).toBe(200);
    return told.get(path);
  };
  expect(await about([`X-Forwarded-For: 6.6.6.6, ${FRIEND}, 10.1.2.3`, 'X-Real-IP: 6.6.6.6'])).toEqual([
    `X-Forwarded-For: ${FRIEND}, 10.1.2.3, ${PROXY}`,
  ]);
  expect(await about(['Forwarded: for=6.6.6.6'])).toEqual([`X-Forwarded-For: ${PROXY}`]);
  expect(await about(['X-Forwarded-For: 6.6.6.6'], STRANGER)).toEqual([`X-Forwarded-For: ${STRANGER}`]);
});

test.each(schemes)('over %s, policies, events and the log see the client', async (scheme) => {
  const name = newName('seen');
  const answer = action('custom-response', {
    status_code: 418,
    body: '$' + '{conn.client_ip} $' + '{conn.client_port}',
  });
  const rule = { expressions: ["req.url.path == '/teapot'"], actions: [answer] };
  const policy = JSON.stringify({ on_http_request: [rule] });
  const builder = lab.session.httpEndpoint().scheme(scheme).domain(name).denyCidr(`${FOE}/32`);
  const listener = await builder.trafficPolicy(policy).listenAndForward(upstream);
  onTestFinished(() => listener.close());
  const socket = await dial(scheme, name);
  socket.write(request(name, [`X-Forwarded-For: ${FRIEND}:4711`], '/teapot', 'keep-alive'));
  socket.write(request(name, [`X-Forwarded-For: ${FOE}`], `/denied-${scheme}`, 'keep-alive'));
  socket.write(request(name, [`X-Forwarded-For: ${FRIEND}`], `/event-${scheme}`));
  expect(await text(socket)).toContain(`\r\n\r\n${FRIEND} 4711`);
  expect((await ear.about(`/event-${scheme}`)).object.conn).toMatchObject({ client_ip: FRIEND });
  expect((await ear.about(`/denied-${scheme}`)).object.conn).toMatchObject({ client_ip: FOE });
  const line = await gateway.logged(({ path }) => path === `/denied-${scheme}`);
  expect(line).toMatchObject({ module: 'ip_restriction', ip: FOE });
});

test('the stream to an agent is one client’s: another on the same connection gets one of its own', async () => {
  const name = open.http;
  const socket = await dial('http', name);
  const clients = [FRIEND, FRIEND, FOE, FOE, FRIEND];
  for (const [i, client] of clients.entries()) {
    socket.write(request(name, [`X-Forwarded-For: ${client}`], `/stream-${i}`, 'keep-alive'));
    await eventually(() => expect(told.has(`/stream-${i}`)).toBe(true));
  }
  const [a, b, c, d, e] = clients.map((_, i) => askedOn.get(`/stream-${i}`));
  expect(a).toBe(b);
  expect(c).toBe(d);
  expect(new Set([a, c, e]).size).toBe(3);
});

test('a proxy is many: its connections are not one address’s, which make way for those of others', async () => {
  const name = newName('many');
  const listener = await lab.session.httpEndpoint().scheme('http').domain(name).listenAndForward(lab.upstream.url);
  onTestFinished(() => listener.close());
  const busy: Socket[] = [];
  for (let i = 0; i < 12; i++) {
    const path = `/silent-${i}`;
    const arrives = lab.upstream.arrives(path);
    const socket = await dial('http', name);
    socket.write(request(name, [`X-Forwarded-For: 203.0.113.${i}`], path));
    busy.push(socket);
    await arrives;
  }
  expect(await ask('http', name, [], '/', STRANGER)).toBe(503);
  expect(busy.filter((socket) => socket.destroyed || socket.readableEnded)).toEqual([]);
});
