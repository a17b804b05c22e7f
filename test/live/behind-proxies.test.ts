// The whole gateway behind a load balancer that says in headers of the PROXY protocol who comes: at every listener it is the
// client that counts, not the balancer; and nobody else may say who comes.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { proxyProtocolHeader } from '../../src/tunnel/network/proxy-protocol.ts';
import { type CaptureLab, startCaptureLab } from '../graphql/capture/lab.ts';
import { startBalancer } from '../support/balancer.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import {
  AGENT,
  balanced,
  balancers,
  dial,
  direct,
  doors,
  ear,
  FOE,
  FRIEND,
  forged,
  heard,
  lab,
  names,
  PROXY,
  protocols,
  STRANGER,
  to,
  useBalancedGateway,
  visit,
} from './balanced-gateway.ts';
import { done, newName } from './edges/support.ts';
import { visitOverHttp2 } from './policy/lab.ts';
import { CONNECTIONS } from './traffic-events/lab.ts';

useBalancedGateway();

/** What a visitor sees who was let in, and one who was not. */
const LET_IN = { http: /^HTTP\/1\.1 200 /, https: /^HTTP\/1\.1 200 /, tcp: /^hello/, tls: /^hello/ };
const TURNED_AWAY = { http: /^HTTP\/1\.1 403 /, https: /^HTTP\/1\.1 403 /, tcp: /^$/, tls: /^$/ };

describe.each([1, 2])('behind a balancer with headers of version %i', (version) => {
  test.each(protocols)('ip_restriction at an endpoint for %s is about the client', async (protocol) => {
    expect(await visit(protocol, { version })).toMatch(LET_IN[protocol]);
    expect(await visit(protocol, { version, from: FOE })).toMatch(TURNED_AWAY[protocol]);
  });

  test('so it is over HTTP/2', async () => {
    const https = doors[`https ${version}`] ?? '';
    const seen = await visitOverHttp2({ https, ca: direct.ca }, `https://${names.https}/h2`);
    expect(seen).toMatchObject({ status: 403 }); // Of 127.0.0.1, who comes to the balancer.
    await eventually(async () =>
      expect(direct.logs.some((line) => line.includes('"path":"/h2"') && line.includes('"ip":"127.0.0.1"'))).toBe(true),
    );
  });

  test.each(['http', 'https'] as const)('the event of a request over %s has the client', async (protocol) => {
    const path = `/of-${version}-${protocol}`;
    await visit(protocol, { version, path });
    const { conn } = (await ear.about(path)).object;
    const [, port] = `${doors[`${protocol} ${version}`]}`.split(':');
    expect(conn).toMatchObject({ client_ip: FRIEND, server_ip: '127.0.0.1', server_port: Number(port) });
  });

  test.each(['tcp', 'tls'] as const)(
    'the event of a connection of %s has the client, and its bytes only',
    async (protocol) => {
      const known = ear.events.length;
      await visit(protocol, { version, path: 'x'.repeat(50) });
      const event = await eventually(() => {
        const found = ear.events.slice(known).find(({ event_type }) => event_type === CONNECTIONS);
        if (!found) throw new Error('no event yet');
        return found;
      });
      expect(event.object.conn).toMatchObject({ client_ip: FRIEND });
      if (protocol === 'tcp') expect(event.object.conn.bytes_in).toBe('hello '.length + 50);
    },
  );

  test('a request to the API is the client’s', async () => {
    const socket = await dial(await balanced(direct.api.replace('http://', ''), version as 1 | 2), FRIEND);
    socket.write('GET /api_keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [, id] = /^service-operation-id: (\S+)/im.exec(await heard(socket)) ?? [];
    expect((await direct.logged((line) => line.operation_id === id)).ip).toBe(FRIEND);
  });
});

test('an agent has the address that the balancer names', async () => {
  const { tunnel_sessions: sessions } = await done(lab.account, 'GET', '/tunnel_sessions');
  expect(sessions).toMatchObject([{ ip: AGENT }]);
});

test('the upstream is told of the client, in X-Forwarded-For and in a header of its own', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers['x-forwarded-for']));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const name = newName('told');
  const { port } = server.address() as AddressInfo;
  const told = await lab.session
    .httpEndpoint()
    .scheme('http')
    .domain(name)
    .listenAndForward(`http://127.0.0.1:${port}`);
  onTestFinished(() => told.close());
  const socket = await dial(`${doors['http 2']}`, FRIEND);
  socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nX-Forwarded-For: 6.6.6.6\r\nConnection: close\r\n\r\n`);
  expect(await heard(socket)).toMatch(/^HTTP\/1\.1 200 /);
  expect(seen).toEqual([FRIEND]);
  const tcp = await lab.session.tcpEndpoint().proxyProto('1').listenAndForward(lab.echo.url);
  onTestFinished(() => tcp.close());
  const visitor = await dial(await balanced(`127.0.0.1:${new URL(String(tcp.url())).port}`, 2), FRIEND);
  const { localPort } = visitor;
  visitor.write('hello');
  const [line] = await once(visitor, 'data');
  expect(String(line)).toMatch(new RegExp(`^PROXY TCP4 ${FRIEND} 127\\.0\\.0\\.1 ${localPort} \\d+\r\n`));
});

test('X-Forwarded-For of a trusted proxy that the balancer names is believed, and of nobody else', async () => {
  const ask = async (ip: string) => {
    const header = () => proxyProtocolHeader(2, { ip, port: 4711 }, 80, '127.0.0.1');
    const balancer = await startBalancer(direct.http, { from: PROXY, header });
    balancers.push(balancer);
    const socket = await dial(balancer.address, STRANGER);
    socket.write(`GET / HTTP/1.1\r\nHost: ${names.http}\r\nX-Forwarded-For: ${FRIEND}\r\nConnection: close\r\n\r\n`);
    return (await heard(socket)).slice(0, 'HTTP/1.1 200'.length);
  };
  expect(await ask('10.1.2.3')).toBe('HTTP/1.1 200');
  expect(await ask('192.0.2.1')).toBe('HTTP/1.1 403');
});

describe('a header that comes from elsewhere', () => {
  test.each([
    ['http', () => direct.http],
    ['api', () => direct.api.replace('http://', '')],
  ])('is a malformed request at the listener for %s', async (_, address) => {
    const socket = await dial(address(), STRANGER);
    socket.write(Buffer.concat([forged, Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')]));
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    ['https', () => direct.https],
    ['agent', () => direct.agent],
  ])('ends the handshake at the listener for %s', async (_, address) => {
    const raw = await dial(address(), STRANGER);
    raw.write(forged);
    const socket = connectTls({ socket: raw, rejectUnauthorized: false });
    let isSecure = false;
    socket.on('secureConnect', () => {
      isSecure = true;
    });
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('close', resolve));
    expect(isSecure).toBe(false);
  });

  test('is no more than bytes at one for TCP: who comes is who comes', async () => {
    expect(await visit('tcp', { from: STRANGER, preamble: forged })).toBe('');
    expect(await visit('tcp', { from: FRIEND, preamble: forged })).toMatch(/^PROXY TCP4/);
  });

  test('who needs none comes in without one', async () => {
    for (const protocol of protocols) expect(await visit(protocol, {})).toMatch(LET_IN[protocol]);
  });
});

test.each([
  ['http', () => direct.http],
  ['https', () => direct.https],
  ['tcp', () => `${doors['tcp 0']}`],
  ['agent', () => direct.agent],
  ['api', () => direct.api.replace('http://', '')],
])('a proxy that says nothing of who comes is closed at the listener for %s', async (_, address) => {
  const socket = await dial(address(), PROXY);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  expect(await heard(socket)).toBe('');
});

test('who holds more than a share of all connections makes way, behind the balancer too', async () => {
  const name = newName('held');
  const held = await lab.session.httpEndpoint().scheme('http').domain(name).listenAndForward(lab.upstream.url);
  onTestFinished(() => held.close());
  const ask = async (from: string, path: string) => {
    const socket = await dial(`${doors['http 2']}`, from);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
    return socket;
  };
  const greedy: Socket[] = [];
  for (let i = 0; i < 12; i++) {
    const path = `/silent-${i}`;
    const arrives = lab.upstream.arrives(path);
    greedy.push(await ask(FOE, path));
    await arrives;
  }
  const ends = once(greedy[0] as Socket, 'close');
  expect(await heard(await ask(FRIEND, '/'))).toMatch(/^HTTP\/1\.1 200 /);
  await ends;
  for (const socket of greedy) socket.destroy();
});

describe('replays, where this machine itself is a trusted proxy', () => {
  let gateway: TestGateway;
  let captures: CaptureLab;
  beforeAll(async () => {
    gateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.1', PROXY_PROTOCOL: 'http,https' });
    captures = await startCaptureLab(gateway);
  }, 60_000);
  afterAll(async () => {
    await captures?.close();
    await gateway?.close();
  });

  test.each(['http', 'https'] as const)('reach the listener for %s', async (scheme) => {
    const tunnel = await captures.tunnel(scheme);
    await captures.start(tunnel.id, {});
    const { address, close } = await startBalancer(gateway[scheme], { from: '127.0.0.1', header: 1 });
    onTestFinished(close);
    const raw = connect(to(address, FRIEND));
    const socket = scheme === 'http' ? raw : connectTls({ socket: raw, servername: tunnel.name, ca: gateway.ca });
    socket.write(`GET /first HTTP/1.1\r\nHost: ${tunnel.name}\r\nConnection: close\r\n\r\n`);
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 200 /);
    const [request] = await captures.requests(tunnel.id);
    expect(request).toMatchObject({ clientIp: FRIEND });
    const replay = await captures.replay(request.id);
    expect(replay).toMatchObject({ status: 200, captured: { replayOf: request.id, clientIp: '127.0.0.1' } });
  });
});
