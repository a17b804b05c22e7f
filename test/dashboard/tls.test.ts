// The API over TLS with API_TLS_CERT and API_TLS_KEY.

import { EventEmitter, on, once } from 'node:events';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type PeerCertificate } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { WebSocket } from 'ws';
import { type ListenerTls, openListenerTls } from '../../src/api/http/listener-tls.ts';
import { apiMetrics } from '../../src/api/http/metrics.ts';
import { routes, schema } from '../../src/api/schema.ts';
import { createApi } from '../../src/api/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';
import { freePorts, migrations, newPlace, type Place } from '../support/gateway/place.ts';
import { type Identity, type Issuer, newIssuer } from '../support/issuer.ts';
import { root } from '../support/root.ts';
import { builtDashboard, receive } from './built.ts';

const KEY = 'chosen-by-the-tests-0001';
/** The server's own handshake timeout. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
let issuer: Issuer;
let directory: string;
let files: { certFile: string; keyFile: string };
beforeAll(async () => {
  issuer = await newIssuer('CN=an authority');
});
beforeEach(async () => {
  directory = await mkdtemp(join(inject('run'), 'tls-'));
  files = { certFile: join(directory, 'api.crt'), keyFile: join(directory, 'api.key') };
});
afterEach(() => rm(directory, { recursive: true }));

const identity = (name = 'localhost') => issuer.issue({ subject: `CN=${name}`, dns: [name], purpose: 'server' });
async function put({ cert, key }: Identity): Promise<void> {
  await writeFile(files.certFile, cert);
  await writeFile(files.keyFile, key);
}

/** The certificate of a port. @throws the error of the handshake. */
async function shown(port: number, options: ConnectionOptions = {}): Promise<PeerCertificate & { protocol: string }> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: issuer.cert, ...options });
  await once(socket, 'secureConnect');
  const certificate = { ...socket.getPeerCertificate(), protocol: socket.getProtocol() ?? '' };
  socket.destroy();
  return certificate;
}

describe('a gateway with both files', () => {
  let gateway: Gateway;
  let place: Place;
  let tls: { ca: string; servername: string };
  beforeAll(async () => {
    place = await newPlace();
    const { cert, key } = await identity();
    const [API_TLS_CERT, API_TLS_KEY] = [join(place.dataDir, 'api.crt'), join(place.dataDir, 'api.key')];
    await writeFile(API_TLS_CERT, cert);
    await writeFile(API_TLS_KEY, key);
    const env = { ...freePorts, ...place.env, INITIAL_API_KEY: KEY, API_TLS_CERT, API_TLS_KEY, DRAIN_MS: '200' };
    const log = pino({ level: 'silent' });
    const options = { log, migrations, onFatal: () => {}, dashboard: await builtDashboard() };
    gateway = await startGateway(readConfig(env, root), options);
    tls = { ca: issuer.cert, servername: 'localhost' };
  });
  afterAll(async () => {
    await gateway.close();
    await place.remove();
  });
  const get = (path: string, headers = {}) => receive(gateway.addresses.api, path, { headers, tls });
  const known = { authorization: `Bearer ${KEY}`, 'service-version': '2' };

  test('has its WebSockets over TLS, too', async () => {
    const address = `${gateway.addresses.api.replace('https', 'wss')}/graphql`;
    const socket = new WebSocket(address, 'graphql-transport-ws', { ...tls, headers: known });
    const messages = on(socket, 'message');
    await once(socket, 'open');
    socket.send('{"type":"connection_init"}');
    socket.send('{"type":"ping"}');
    const told = [];
    for await (const [message] of messages) if (told.push(JSON.parse(String(message)).type) === 2) break;
    expect(told.sort()).toEqual(['connection_ack', 'pong']);
    socket.close();
    await once(socket, 'close');
  });

  test('prints its address with https, and has https in every uri', async () => {
    expect(gateway.addresses.api).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(gateway.addresses.admin).toMatch(/^http:/);
    const { status, bytes } = await get('/credentials', known);
    expect(status).toBe(200);
    expect(JSON.parse(bytes.toString())).toMatchObject({
      uri: `${gateway.addresses.api}/credentials`,
      credentials: [{ uri: expect.stringMatching(`^${gateway.addresses.api}/credentials/cr_`) }],
    });
  });

  test('serves GraphQL and the dashboard there', async () => {
    const graphql = await get('/graphql?query=%7B__typename%7D', known);
    expect(JSON.parse(graphql.bytes.toString())).toEqual({ data: { __typename: 'Query' } });
    expect((await get('/dashboard/')).status).toBe(200);
    expect((await get('/', { accept: 'text/html' })).headers.location).toBe('/dashboard/');
  });

  test('sends HSTS, except on loopback, where it would affect other ports', async () => {
    const of = async (host: string) => (await get('/dashboard/', { host })).headers['strict-transport-security'];
    expect(await of('gateway.example.com:4000')).toBe('max-age=31536000');
    expect(await of('localhost:4000')).toBeUndefined();
    expect(await of('127.0.0.1:4000')).toBeUndefined();
  });

  test('accepts neither TLS before 1.2 nor plain HTTP', async () => {
    const port = Number(new URL(gateway.addresses.api).port);
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(shown(port, old)).rejects.toThrow(/protocol version|unsupported protocol/i);
    expect((await shown(port, { maxVersion: 'TLSv1.2' })).protocol).toBe('TLSv1.2');
    expect((await shown(port)).protocol).toBe('TLSv1.3');
    await expect(receive(`http://127.0.0.1:${port}`, '/')).rejects.toThrow();
  });
});

test('a stopping gateway does not wait for connections without a handshake', async () => {
  const place = await newPlace();
  await put(await identity());
  const env = { ...freePorts, ...place.env, API_TLS_CERT: files.certFile, API_TLS_KEY: files.keyFile, DRAIN_MS: '50' };
  const gateway = await startGateway(readConfig(env, root), {
    log: pino({ level: 'silent' }),
    migrations,
    onFatal: () => {},
  });
  const silent = connect(Number(new URL(gateway.addresses.api).port), '127.0.0.1');
  await once(silent, 'connect');
  const cut = once(silent, 'close');
  const begun = performance.now();
  await gateway.close();
  await cut;
  expect(performance.now() - begun).toBeLessThan(HANDSHAKE_TIMEOUT_MS);
  await place.remove();
});

describe('unusable files are reported at the start:', () => {
  const opening = () => openListenerTls(files, pino({ level: 'silent' }));

  test('a missing file', async () => {
    await expect(opening()).rejects.toThrow(`API_TLS_CERT: ${files.certFile} is not there`);
    await writeFile(files.certFile, (await identity()).cert);
    await expect(opening()).rejects.toThrow(`API_TLS_KEY: ${files.keyFile} is not there`);
  });

  test('an invalid certificate or key', async () => {
    const { cert, key } = await identity();
    await put({ cert: 'garbage', key });
    await expect(opening()).rejects.toThrow(`API_TLS_CERT: ${files.certFile} is not a certificate in PEM`);
    await put({ cert, key: 'garbage' });
    await expect(opening()).rejects.toThrow(`API_TLS_KEY: ${files.keyFile} is not a private key in PEM`);
  });

  test('a key of another certificate', async () => {
    await put({ cert: (await identity()).cert, key: (await identity()).key });
    await expect(opening()).rejects.toThrow(`${files.keyFile} is not the key of the certificate in ${files.certFile}`);
  });

  test('without leaving anything running', async () => {
    const place = await newPlace();
    const env = { ...freePorts, ...place.env, API_TLS_CERT: files.certFile, API_TLS_KEY: files.keyFile };
    const options = { log: pino({ level: 'silent' }), migrations, onFatal: () => {} };
    await expect(startGateway(readConfig(env, root), options)).rejects.toThrow('API_TLS_CERT');
    await put(await identity());
    await (await startGateway(readConfig(env, root), options)).close(); // The data is free again.
    await place.remove();
  });
});

describe('files that change', () => {
  const lines = new EventEmitter();
  const log = pino({ base: null }, { write: (line: string) => lines.emit(JSON.parse(line).msg) });
  let tls: ListenerTls;
  let server: Server;
  let port: number;
  beforeEach(async () => {
    await put(await identity('first.example'));
    tls = await openListenerTls(files, log, 5);
    const { app } = await sharedGateway();
    const metrics = apiMetrics(new Registry());
    const api = createApi({
      app,
      schema,
      routes,
      log: pino({ level: 'silent' }),
      metrics,
      isChangeFeedConnected: () => true,
      tls,
    });
    api.open();
    server = api.server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    tls.close();
    server.close();
  });
  const name = async () => (await shown(port, { checkServerIdentity: () => undefined })).subject.CN;

  test('are used for the next connection', async () => {
    expect(await name()).toBe('first.example');
    const read = once(lines, 'certificate of the API reloaded');
    await put(await identity('second.example'));
    await read;
    expect(await name()).toBe('second.example');
  });

  test('into unusable ones leave the previous pair in use, and are read again later', async () => {
    const refused = once(lines, 'certificate of the API could not be reloaded: the previous one stays');
    await writeFile(`${files.certFile}.new`, 'garbage');
    await rename(`${files.certFile}.new`, files.certFile);
    await refused;
    expect(await name()).toBe('first.example');
    expect(tls.pair.key).toBe(await readFile(files.keyFile, 'utf8'));

    const read = once(lines, 'certificate of the API reloaded');
    await put(await identity('third.example'));
    await read;
    expect(await name()).toBe('third.example');
  });
});
