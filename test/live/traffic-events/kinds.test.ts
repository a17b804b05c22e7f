// Every kind of endpoint is told of by traffic events, and every field of the catalogue has its value somewhere. All visits
// are made before: events are collected for a second, which is spent once.

import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import { httpName } from '../../support/agents/sdk.ts';
import { newIssuer } from '../../support/issuer.ts';
import { visit } from '../../support/visit.ts';
import { done, labelled, newEdge, newName, type TestEdge } from '../edges/support.ts';
import { CONNECTIONS, type Ear, REQUESTS, startTrafficLab, type TrafficLab } from './lab.ts';
import { allModules, comeToEdge, filled, log } from './visits.ts';

let lab: TrafficLab;
let ear: Ear;
/** Tunnels for HTTP; the second has a policy. */
const [plain, noting, tls] = [newName('plain'), newName('noting'), newName('tls')];
let guarded: TestEdge;
/** Of TCP: open to all, guarded and open, closed. */
let ports: number[];

beforeAll(async () => {
  lab = await startTrafficLab();
  ear = await lab.hear([{ type: REQUESTS }, { type: CONNECTIONS }]);
  const { session, upstream, account } = lab;
  await httpName(session, plain).listenAndForward(upstream.url);
  guarded = await newEdge(account, { labels: { app: plain }, modules: await allModules(lab) });
  await labelled(session, { app: plain }, upstream.url);
  await Promise.all([
    comeToHttp(),
    comeToEdge(lab, guarded),
    comeWithCertificate(),
    comeBySocket(),
    comeToTcp(),
    comeToTls(),
  ]);
}, 60_000);
afterAll(() => lab?.close());

const portOf = (listener: string) => Number(listener.split(':')[1]);

async function comeToHttp(): Promise<void> {
  const headers = { 'X-Twice': 'a', 'User-Agent': 'tests/1' };
  await visit(`http://${plain}/plain?q=1&r=%20`, lab.gateway.http, { method: 'POST', headers, body: 'four' });
  const policy = { on_tcp_connect: [log({ came: true })], on_http_request: [log({ path: filled('req.url.path') })] };
  await httpName(lab.session, noting).trafficPolicy(JSON.stringify(policy)).listenAndForward(lab.upstream.url);
  await visit(`http://${noting}/noted`, lab.gateway.http);
}

async function comeWithCertificate(): Promise<void> {
  const { gateway, account } = lab;
  const edge = await newEdge(account, { labels: { app: plain } });
  const root = await newIssuer('CN=Devices');
  const { id } = await done(account, 'POST', '/certificate_authorities', { ca_pem: root.cert });
  await done(account, 'PUT', `${edge.at}/mutual_tls`, { certificate_authority_ids: [id] });
  const identity = await root.issue({ subject: 'CN=device 7, O=Example', serialNumber: '0badcafe' });
  const to = { host: '127.0.0.1', port: portOf(gateway.https), ca: gateway.ca, servername: edge.name };
  const socket = connectTls({ ...to, ...identity, maxVersion: 'TLSv1.2' });
  socket.write(`GET /device HTTP/1.1\r\nHost: ${edge.name}\r\nConnection: close\r\n\r\n`);
  await once(socket.resume(), 'close');
}

async function comeBySocket(): Promise<void> {
  const socket = new WebSocket(`ws://${lab.gateway.http}/socket`, { headers: { host: plain } });
  await once(socket, 'open');
  socket.send('x'.repeat(1000));
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
}

async function comeToTcp(): Promise<void> {
  const { session, echo } = lab;
  const policy = JSON.stringify({ on_tcp_connect: [log({ note: 'seen', n: 7 })] });
  const listeners = [
    await session.tcpEndpoint().listenAndForward(echo.url),
    await session.tcpEndpoint().allowCidr('127.0.0.1/32').trafficPolicy(policy).listenAndForward(echo.url),
    await session.tcpEndpoint().denyCidr('127.0.0.1/32').listenAndForward(echo.url),
  ];
  ports = listeners.map((listener) => Number(new URL(String(listener.url())).port));
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.resume().end('hello');
    await new Promise((resolve) => socket.once('close', resolve));
  }
}

/** Its own first message comes back, which is no answer of TLS. */
async function comeToTls(): Promise<void> {
  await lab.session.tlsEndpoint().domain(tls).listenAndForward(lab.echo.url);
  const socket = connectTls({ host: '127.0.0.1', port: portOf(lab.gateway.https), servername: tls });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const about = async (path: string) => (await ear.about(path)).object;

test('a request to a tunnel for HTTP', async () => {
  const { object, ...envelope } = await ear.about('/plain');
  expect(envelope).toEqual({
    event_id: expect.stringMatching(/^ev_\w{27}$/),
    event_type: REQUESTS,
    event_timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    account_id: lab.account.accountId,
    principal: null,
  });
  const server = { server_ip: '127.0.0.1', server_name: plain, server_port: portOf(lab.gateway.http) };
  const url = { scheme: 'http', host: plain, path: '/plain', query: 'q=1&r=%20' };
  expect(object).toEqual({
    backend: { connection_reused: expect.any(Boolean) },
    basic_auth: null,
    circuit_breaker: null,
    compression: null,
    conn: { client_ip: '127.0.0.1', ...server, start_ts: time },
    http: {
      request: {
        method: 'POST',
        version: 'HTTP/1.1',
        url: { ...url, raw: `http://${plain}/plain?q=1&r=%20` },
        user_agent: 'tests/1',
        headers: expect.objectContaining({ 'x-twice': ['a'], host: [plain], 'user-agent': ['tests/1'] }),
        body_length: 4,
        first_byte_ts: time,
        last_byte_ts: time,
      },
      response: {
        status_code: 200,
        headers: expect.objectContaining({ 'content-type': ['text/plain'], 'set-cookie': ['***'] }),
        body_length: 2,
        first_byte_ts: time,
        last_byte_ts: time,
      },
    },
    ip_policy: null,
    oauth: null,
    tls: null,
    traffic_policy: null,
    user_agent_filter: null,
    webhook_verification: null,
  });
  const { request, response } = object.http;
  const spans = [request, response].flatMap(({ first_byte_ts, last_byte_ts }) => [first_byte_ts, last_byte_ts]);
  const times = [object.conn.start_ts, ...spans];
  expect(times).toEqual(times.toSorted());
  expect(Math.abs(Date.parse(times[0]) - Date.now())).toBeLessThan(600_000);
});

describe('requests to an HTTPS edge with modules', () => {
  test('that are let in, over HTTP/1.1 and HTTP/2', async () => {
    const first = await about('/bytes/5000');
    expect(first).toMatchObject({
      basic_auth: { decision: 'allow', username: 'jo' },
      circuit_breaker: { decision: 'allow' },
      compression: { algorithm: 'gzip', bytes_saved: 5000 - first.http.response.body_length },
      conn: { server_name: guarded.name, server_port: portOf(lab.gateway.https) },
      http: { request: { version: 'HTTP/1.1', url: { scheme: 'https', host: guarded.name } } },
      ip_policy: { decision: 'allow' },
      tls: { version: 'TLSv1.3', cipher_suite: expect.stringMatching(/^TLS_/), client_cert: null },
      user_agent_filter: { decision: 'allow' },
      webhook_verification: { decision: 'allow' },
    });
    expect(first.http.response.body_length).toBeLessThan(200);
    const second = await about('/bytes/5001');
    expect(second).toMatchObject({
      http: { request: { version: 'HTTP/2.0', headers: { host: [guarded.name], authorization: ['***'] } } },
      compression: { algorithm: 'gzip', bytes_saved: 5001 - second.http.response.body_length },
    });
  });

  test('what their policy notes, as JSON has it', async () => {
    const said = { path: '/bytes/5000', size: 11, list: [1, 2.5, true, null], nothing: null };
    const { logs } = (await about('/bytes/5000')).traffic_policy;
    expect(logs).toEqual([{ ...said, bytes: '/w==', map: { a: { b: expect.anything() } } }, { last: 1.5 }]);
    expect((await about('/noted')).traffic_policy.logs).toEqual([{ came: true }, { path: '/noted' }]);
  });

  test.each([
    ['/address', { ip_policy: { decision: 'deny' }, basic_auth: null, user_agent_filter: null }, 403],
    ['/agent', { user_agent_filter: { decision: 'deny' }, basic_auth: null }, 403],
    ['/password', { basic_auth: { decision: 'deny', username: 'jo' }, webhook_verification: null }, 401],
    ['/signature', { webhook_verification: { decision: 'deny' }, basic_auth: { decision: 'allow' } }, 403],
    ['/open', { circuit_breaker: { decision: 'block' } }, 503],
  ])('that are refused: %s', async (path, decisions, status) => {
    expect(await about(path)).toMatchObject({ ...decisions, http: { response: { status_code: status } } });
  });
});

test('a visitor with a certificate, of an edge that wants one', async () => {
  expect((await about('/device')).tls).toEqual({
    version: 'TLSv1.2',
    cipher_suite: expect.stringMatching(/^TLS_ECDHE_/),
    client_cert: { serial_number: expect.stringMatching(/^0?badcafe$/i), subject: { cn: 'device 7' } },
  });
});

test('a WebSocket: what it carries counts', async () => {
  const { request, response } = (await about('/socket')).http;
  expect(response.status_code).toBe(101);
  expect(request.headers.upgrade).toEqual(['websocket']);
  for (const { body_length } of [request, response]) {
    expect(body_length).toBeGreaterThan(1000);
    expect(body_length).toBeLessThan(1100);
  }
});

test('connections to tunnels for TCP and TLS, let in and turned away', async () => {
  const to = (port: number, name = '') =>
    expect.poll(
      () => {
        const events = ear.events.filter(({ event_type }) => event_type === CONNECTIONS);
        return events.filter(({ object: { conn } }) => conn.server_port === port && conn.server_name === name);
      },
      { timeout: 10_000 },
    );
  const came = { client_ip: '127.0.0.1', server_ip: '127.0.0.1', server_name: '', start_ts: time, end_ts: time };
  const [open = 0, allowed = 0, closed = 0] = ports;
  const conn = (server_port: number) => ({ ...came, bytes_in: 5, bytes_out: 5, server_port });
  await to(open).toMatchObject([{ object: { conn: conn(open), ip_policy: null, traffic_policy: null } }]);
  const told = { ip_policy: { decision: 'allow' }, traffic_policy: { logs: [{ note: 'seen', n: 7 }] } };
  await to(allowed).toMatchObject([{ object: { conn: conn(allowed), ...told } }]);
  await to(closed).toMatchObject([{ object: { conn: { bytes_out: 0 }, ip_policy: { decision: 'deny' } } }]);
  await to(portOf(lab.gateway.https), tls).toMatchObject([{ object: { conn: { client_ip: '127.0.0.1' } } }]);
});

test.each([REQUESTS, CONNECTIONS] as const)('every field of %s was somewhere, with a value of its type', (type) => {
  const types = new Map<string, string>(trafficObjects[type].fields.map(({ name, type }) => [name, type]));
  const met = new Set<string>();
  const look = (value: unknown, path: string): void => {
    const expected = types.get(path);
    if (value === null) return;
    if (!expected) {
      expect(typeof value, path).toBe('object');
      for (const [key, inner] of Object.entries(value as object)) look(inner, path ? `${path}.${key}` : key);
      return;
    }
    met.add(path);
    const actual = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'headers' : typeof value;
    expect(actual, path).toBe(expected === 'timestamp' ? 'string' : expected);
  };
  for (const { event_type, object } of ear.events) if (event_type === type) look(object, '');
  // Visitors who sign in need a provider: see test/visitor-sign-in/told-to-others.test.ts.
  expect([...met].sort()).toEqual([...types.keys()].filter((name) => !name.startsWith('oauth.')));
});
